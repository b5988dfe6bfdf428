"""Best single attack: the attacker who tries several and keeps the one that proves right."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.attacks.attribute.committee import Committee, select_judged
from core.context import Context
from core.methods import MethodInfo
from core.models.pooling import FLOOR
from core.models.tuning import compute_log_loss
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class BestSingle(Committee):
    """The member with the lowest log-loss on known values held out, run on all of them.

    What an adversary can do who does not know beforehand which attack works. The best attack
    named with hindsight, from the hidden values, is at least as good; nobody can choose it.
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

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        """The probabilities of the member with the lowest log-loss on the known nodes."""
        members, values, untold = self._ask_all(release, threat, context)
        losses = compute_losses(*select_judged(untold, threat.observed))
        chosen = int(np.argmin(losses))
        facts: dict[str, float | str] = {"chosen": members[chosen].info.key}
        facts |= {
            f"log-loss of {member.info.key}": round(float(loss), 4)
            for member, loss in zip(members, losses, strict=True)
        }
        return ClassProbabilities(values[chosen], facts)


def compute_losses(held_out: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(K,) mean −log p(truth) of K members on h nodes, from (K, h, C) and (h,); 0 for h = 0."""
    if len(truth) == 0:
        return np.zeros(len(held_out))
    nodes = np.arange(len(truth))
    return np.array(
        [compute_log_loss(np.maximum(predicted, FLOOR), truth, nodes) for predicted in held_out]
    )
