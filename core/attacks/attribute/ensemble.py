"""Ensemble: base models pooled with weights chosen on known values."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.attacks.attribute.committee import Committee, select_held_out
from core.context import Context
from core.methods import MethodInfo
from core.models.pooling import combine
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class Ensemble(Committee):
    """Π_k p_k^w_k, normalised: a logarithmic pool of the base models.

    Weights minimise the log-loss on held-out known nodes, shrunk towards equal ones. An
    overconfident model gets a small exponent, so that no prior calibration is needed; one below
    chance a negative one, so that a defense that inverts homophily does not help.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ensemble",
        title="Ensemble",
        summary="Weighs several attacks by how well they predict known values held out.",
        source="Wolpert, Stacked generalization, Neural Networks 1992",
        group="combined",
        cost="minutes",
        uses_gpu=True,
        version=5,
    )
    selects: ClassVar[int | None] = 0
    evenness: float = Field(
        10.0, ge=0, le=1000, description="Penalty on a weight's squared distance to an even share."
    )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        """Pooled probabilities with weights fitted on the known nodes."""
        members, values, untold = self._predict_all(release, threat, context)
        held_out, truth = select_held_out(untold, threat.observed)
        probabilities, weights = combine(np.array(values), held_out, truth, self.evenness)
        facts: dict[str, float | str] = {
            f"weight of {member.info.key}": round(float(weight), 3)
            for member, weight in zip(members, weights, strict=True)
        }
        return ClassProbabilities(probabilities, facts)
