"""Stored predictions of base models, reused by attacks that combine other attacks."""

from __future__ import annotations

import numpy as np

from core.context import Context
from core.methods import AttributeAttack
from core.results import ClassProbabilities
from core.threats import AttributeThreat


def keep_arrays(result: ClassProbabilities, threat: AttributeThreat) -> dict[str, np.ndarray]:
    """Arrays to store of a result: `scores` (n, C), and out-of-fold predictions of the k known
    nodes, if any, as `held_out` (k, C)."""
    arrays = {"scores": result.probabilities}
    if result.held_out is not None:
        arrays["held_out"] = result.held_out[threat.known]
    return arrays


def recall_base_prediction(
    attack: AttributeAttack, threat: AttributeThreat, context: Context
) -> ClassProbabilities | None:
    """Stored result of the attack's cell; None if there is none, or if it lacks the out-of-fold
    predictions (earlier versions did not store them)."""
    base = context.base_predictions.get(attack.info.key)
    arrays = None if base is None else base.arrays
    if arrays is None or (attack.holds_out and "held_out" not in arrays):
        return None
    held_out = None
    if "held_out" in arrays:
        held_out = np.full_like(arrays["scores"], np.nan)
        held_out[threat.known] = arrays["held_out"]
    return ClassProbabilities(arrays["scores"], held_out=held_out)
