"""A graph from node vectors: link scores v_i · v_j in row blocks, never as an n×n array."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.arrays import decode_pairs, pair_codes
from core.context import Context

BYTES_PER_SCORE = 64
"""Peak memory per score while a block is drawn and merged."""


def draw_links(vectors: np.ndarray, num_links: int, context: Context) -> np.ndarray:
    """(k, 2) pairs i < j drawn by their transition scores (PrivDPR, Appendix A).

    vectors    (n, r) node vectors
    num_links  number of links; every node gets at least one, so that up to n are returned if
               fewer are requested

    A step from i leads to j ≠ i with probability softmax_j(v_i · v_j); s_ij is the larger of the
    two directions. It is the expectation of the counts of sampled transitions.
    Every node first draws a neighbour with p ∝ s_ij, then links are drawn without replacement
    with p ∝ s_ij. Both draws add Gumbel noise to log s and take the largest, which is exactly
    that distribution. O(n² r) time, O(block · n) memory.
    """
    n = len(vectors)
    if n < 2:
        return np.empty((0, 2), np.int64)
    totals = np.empty(n)
    for rows, scores in _iterate_rows(vectors, context, "transition totals", part=0):
        peak = scores.max(axis=1)
        totals[rows] = peak + np.log(np.exp(scores - peak[:, None]).sum(axis=1))
    rng = context.rng("synthesis")
    first = np.empty(n, np.int64)
    largest = _LargestPairs(num_links)
    for rows, scores in _iterate_rows(vectors, context, "drawing links", part=1):
        # log s_ij: the direction from the end with the smaller total is more probable.
        scores -= np.minimum(totals[rows, None], totals)
        first[rows] = (scores - np.log(rng.standard_exponential(scores.shape))).argmax(axis=1)
        # Links are drawn independently of the first neighbours.
        largest.add(rows, scores - np.log(rng.standard_exponential(scores.shape)))
    codes = np.unique(pair_codes(np.stack([np.arange(n), first], axis=1), n))
    others = largest.codes(n)
    fill = others[~np.isin(others, codes)][: max(num_links - len(codes), 0)]
    codes = np.concatenate([codes, fill])
    return decode_pairs(codes, n)


def take_top_links(vectors: np.ndarray, num_links: int, context: Context) -> np.ndarray:
    """(k, 2) pairs i < j with the largest v_i · v_j: a threshold on the score."""
    n = len(vectors)
    largest = _LargestPairs(num_links)
    for rows, scores in _iterate_rows(vectors, context, "likeliest links", part=0, parts=1):
        largest.add(rows, scores)
    codes = largest.codes(n)
    return decode_pairs(codes, n)


def _iterate_rows(
    vectors: np.ndarray, context: Context, message: str, part: int, parts: int = 2
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Row numbers (b,) and scores (b, n) float32, −∞ on the diagonal, block after block."""
    n = len(vectors)
    vectors = np.ascontiguousarray(vectors, np.float32)
    block = int(np.clip(min(context.memory_budget, 1 << 28) // (BYTES_PER_SCORE * n), 1, n))
    for start in range(0, n, block):
        rows = np.arange(start, min(start + block, n))
        scores = vectors[rows] @ vectors.T
        scores[np.arange(len(rows)), rows] = -np.inf
        yield rows, scores
        context.progress.update(part + (start + len(rows)) / n, parts, message)


class _LargestPairs:
    """The `count` largest keys of the pairs i < j added so far."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._keys = np.empty(0)
        self._pairs = np.empty((0, 2), np.int64)

    def add(self, rows: np.ndarray, keys: np.ndarray) -> None:
        """keys (b, n) of the pairs of `rows` with every node; those with j > i count."""
        if not self._count:
            return
        upper = np.arange(keys.shape[1]) > rows[:, None]
        if len(self._keys) == self._count:
            upper &= keys > self._keys.min()
        i, j = np.nonzero(upper)
        merged = np.concatenate([self._keys, keys[i, j]])
        pairs = np.concatenate([self._pairs, np.stack([rows[i], j], axis=1)])
        if len(merged) > self._count:
            keep = np.argpartition(-merged, self._count - 1)[: self._count]
            merged, pairs = merged[keep], pairs[keep]
        self._keys, self._pairs = merged, pairs

    def codes(self, num_nodes: int) -> np.ndarray:
        """i·n + j of the pairs, largest key first."""
        order = np.argsort(-self._keys, kind="stable")
        return np.asarray(self._pairs[order, 0] * num_nodes + self._pairs[order, 1])
