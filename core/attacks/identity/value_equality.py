"""Nodes that have all values of a person and no others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.algorithms.matching import NO_MATCH, NUM_CANDIDATES
from core.attacks.identity.value_bags import Bags, Ends
from core.results import Matches


def put_equal_first(
    found: Matches,
    strength: np.ndarray,
    ends: Sequence[Ends],
    bags: Bags,
    taken: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Matches, np.ndarray]:
    """The same matches (k, c), and evidence of each first one (k,), with nodes first that have all
    values of a person and no others: in the order found, then at random.

    Sets of values collide as 64-bit sums with probability below n² / 2^64.
    """
    marks = rng.integers(1, 1 << 63, len(bags.names), dtype=np.uint64)
    sums, whole = [], []
    for matrix, own in zip((bags.ours, bags.theirs), ends, strict=True):
        total = np.bincount(own.nodes, minlength=matrix.shape[0])
        sums.append(np.asarray(matrix.astype(np.uint64) @ marks))
        whole.append((matrix.sum(axis=1) == total) & (total > 0))
    whole[1][taken] = False
    nodes = rng.permutation(np.flatnonzero(whole[1]))
    nodes = nodes[np.argsort(sums[1][nodes], kind="stable")]
    first = np.searchsorted(sums[1][nodes], sums[0])
    sizes = np.searchsorted(sums[1][nodes], sums[0], side="right") - first
    sizes[~whole[0]] = 0
    place = first[:, None] + np.arange(NUM_CANDIDATES)
    is_in = np.arange(NUM_CANDIDATES) < sizes[:, None]
    equal = np.full(place.shape, NO_MATCH)
    equal[is_in] = nodes[place[is_in]]
    before = found.candidates
    is_equal = (sizes > 0)[:, None] & (before != NO_MATCH) & whole[1][before]
    is_equal &= sums[1][before] == sums[0][:, None]
    is_new = (equal != NO_MATCH) & ~(equal[:, :, None] == before[:, None, :]).any(axis=2)
    parts = np.where(is_equal, before, NO_MATCH), np.where(is_new, equal, NO_MATCH)
    named = np.concatenate(parts, axis=1)
    order = np.argsort(named == NO_MATCH, axis=1, kind="stable")[:, :NUM_CANDIDATES]
    has_any = sizes > 0
    candidates, confidence, strength = before.copy(), found.confidence.copy(), strength.copy()
    candidates[has_any] = np.take_along_axis(named, order, axis=1)[has_any]
    confidence[has_any & ~is_equal[:, 0]] = 0.0
    confidence[has_any] = np.maximum(confidence[has_any], 1.0 / sizes[has_any])
    strength[has_any & ~is_equal[:, 0]] = -np.inf
    strength[sizes == 1] = np.inf
    return Matches(candidates, confidence), strength
