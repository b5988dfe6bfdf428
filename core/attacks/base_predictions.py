"""Stored predictions of base models, from which attacks made of other attacks start."""

from __future__ import annotations

import numpy as np

from core.context import Context
from core.methods import AttributeAttack
from core.results import ClassProbabilities
from core.threats import AttributeThreat


def keep_arrays(found: ClassProbabilities, threat: AttributeThreat) -> dict[str, np.ndarray]:
    """The arrays that are stored of an attack: `scores` (n, C), and where it predicted known nodes
    without their values, `held_out` (k, C) in the order of the known nodes."""
    arrays = {"scores": found.probabilities}
    if found.held_out is not None:
        arrays["held_out"] = found.held_out[threat.known]
    return arrays


def recall_base_prediction(
    attack: AttributeAttack, threat: AttributeThreat, context: Context
) -> ClassProbabilities | None:
    """What the attack's own cell left; None where it is not computed, or by a version that did
    not keep what was predicted of nodes held out."""
    base = context.base_predictions.get(attack.info.key)
    arrays = None if base is None else base.arrays
    if arrays is None or (attack.holds_out and "held_out" not in arrays):
        return None
    held_out = None
    if "held_out" in arrays:
        held_out = np.full_like(arrays["scores"], np.nan)
        held_out[threat.known] = arrays["held_out"]
    return ClassProbabilities(arrays["scores"], held_out=held_out)
