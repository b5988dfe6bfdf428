"""Joint inference: known or inferred values of one private column are evidence for another.

One mode for every attack: it is run on both columns, and its predictions of the other column are
converted to evidence by how often the values occur together where both are known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from core.context import Context
from core.methods import AttributeAttack
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

FLOOR = 1e-6
"""Probabilities below this count as this in logarithms."""

STRENGTH = 10.0
"""Pseudo-count of people, for the prior that the two columns are independent."""


def infer_jointly(
    attack: AttributeAttack,
    release: Release,
    threat: AttributeThreat,
    others: Sequence[AttributeThreat],
    context: Context,
) -> ClassProbabilities:
    """p(b) ∝ p_attack(b) · Π_A Σ_a p(a) · P(a, b) / (P(a) P(b)) for the classes b of the column.

    others  further private columns: their known values count as they are, the rest is inferred
            by the same attack, where it can run. Naive Bayes: given b, the evidence of the links
            and that of column A count as independent.
    """
    found = attack.infer(release, threat, context)
    logs = np.log(np.maximum(found.probabilities, FLOOR))
    for other in others:
        guessed = _guess(attack, release, other, context.child("other", other.attribute.name))
        if guessed is not None:
            lift = compute_lift(other, threat)
            logs += np.log(np.maximum(guessed @ lift, FLOOR))
    chances = softmax(logs, axis=1)
    names = ", ".join(other.attribute.name for other in others)
    return ClassProbabilities(chances, {**(found.facts or {}), "joint_with": names})


def compute_lift(first: AttributeThreat, second: AttributeThreat) -> np.ndarray:
    """(A, B) P(a, b) / (P(a) P(b)) of two columns among the people of whom both are known, drawn
    towards 1 as if `STRENGTH` people had shown them to be independent."""
    both = first.known & second.known
    counts = np.zeros((first.num_classes, second.num_classes))
    np.add.at(counts, (first.attribute.codes[both], second.attribute.codes[both]), 1.0)
    expected = np.outer(first.observed_shares, second.observed_shares)
    joint = counts + STRENGTH * expected
    joint /= joint.sum()
    return np.asarray(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))


def _guess(
    attack: AttributeAttack, release: Release, other: AttributeThreat, context: Context
) -> np.ndarray | None:
    """(n, A) one-hot where the value is known, the attack's prediction elsewhere; None where it
    cannot run. It is not run on a column that is known of everybody."""
    if not other.hidden.any():
        guessed = np.tile(other.observed_shares, (len(other.known), 1))
    elif attack.supports(release, other) is None:
        guessed = attack.infer(release, other, context).probabilities.copy()
    else:
        return None
    guessed[other.known] = np.eye(other.num_classes)[other.observed[other.known]]
    return guessed
