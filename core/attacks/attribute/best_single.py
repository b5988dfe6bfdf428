"""Best single attack: the base model with the lowest held-out log-loss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.attacks.attribute.committee import Committee, select_held_out
from core.context import Context
from core.methods import MethodInfo
from core.models.pooling import FLOOR
from core.models.tuning import compute_log_loss
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class BestSingle(Committee):
    """The base model with the lowest log-loss on held-out known values, run on all of them.

    The realistic choice of an adversary who does not know beforehand which attack works; the best
    attack in hindsight is at least as good but cannot be chosen.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="best_single",
        title="Best single attack",
        summary="Tries several attacks on known values held out and keeps the best.",
        source="Stone, Cross-validatory choice and assessment, J. R. Stat. Soc. B 1974",
        group="combined",
        cost="minutes",
        uses_gpu=True,
        version=4,
    )
    selects: ClassVar[int | None] = 1

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        """Probabilities of the base model with the lowest log-loss on the known nodes."""
        members, values, held_out = self._predict_all(release, threat, context)
        losses = compute_losses(*select_held_out(held_out, threat.observed))
        chosen = int(np.argmin(losses))
        facts: dict[str, float | str] = {"chosen": members[chosen].info.key}
        facts |= {
            f"log-loss of {member.info.key}": round(float(loss), 4)
            for member, loss in zip(members, losses, strict=True)
        }
        return ClassProbabilities(values[chosen], facts)


def compute_losses(held_out: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(K,) mean −log p(truth) of K base models on h nodes, from (K, h, C) and (h,); 0 for h = 0."""
    if len(truth) == 0:
        return np.zeros(len(held_out))
    nodes = np.arange(len(truth))
    return np.array(
        [compute_log_loss(np.maximum(predicted, FLOOR), truth, nodes) for predicted in held_out]
    )
