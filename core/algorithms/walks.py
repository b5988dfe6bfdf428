"""Compiled second-order random walks (Grover and Leskovec, node2vec, 2016, §3.2).

Also the generator of compiled kernels: its state is an array of one uint64, so that results depend
on the seed only.
"""

from __future__ import annotations

import numba
import numpy as np
from scipy import sparse

from core.seeding import Seed

STOP = -1
"""Padding of a walk after a dead end."""


def make_state(seed: Seed) -> np.ndarray:
    """State (1,) uint64 of a compiled generator."""
    return np.array([seed.to_int()], dtype=np.uint64)


@numba.njit(inline="always")
def draw_bits(state: np.ndarray) -> np.uint64:
    """64 random bits (SplitMix64: Steele, Lea and Flood, 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits: np.uint64 = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@numba.njit(inline="always")
def draw_uniform(state: np.ndarray) -> float:
    """A float64 in [0, 1)."""
    return (draw_bits(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@numba.njit(inline="always")
def draw_below(state: np.ndarray, bound: int) -> int:
    """An integer in [0, bound); the bias is below bound / 2⁵³."""
    return int(draw_uniform(state) * bound)


@numba.njit(nogil=True, cache=True)
def contains(indices: np.ndarray, start: int, stop: int, value: int) -> bool:
    """Whether the sorted row indices[start:stop] holds `value`."""
    while start < stop:
        middle = (start + stop) // 2
        if indices[middle] < value:
            start = middle + 1
        elif indices[middle] > value:
            stop = middle
        else:
            return True
    return False


@numba.njit(nogil=True, cache=True)
def _propose(indptr: np.ndarray, cumulative: np.ndarray, node: int, state: np.ndarray) -> int:
    """Index of a neighbour drawn by weight; −1 without any."""
    start, stop = indptr[node], indptr[node + 1]
    if len(cumulative) == 0:
        return start + draw_below(state, stop - start) if stop > start else -1
    offset = cumulative[start]
    total = cumulative[stop] - offset
    if total <= 0.0:
        return -1
    target = offset + draw_uniform(state) * total
    position: int = start + np.searchsorted(cumulative[start + 1 : stop], target, side="right")
    return position


@numba.njit(nogil=True, cache=True)
def walk(
    indptr: np.ndarray,
    indices: np.ndarray,
    cumulative: np.ndarray,
    starts: np.ndarray,
    length: int,
    p: float,
    q: float,
    state: np.ndarray,
) -> np.ndarray:
    """Walks (len(starts), length) int64; STOP after a dead end.

    cumulative  (nnz + 1,) float64 running sum of the link weights, or empty without weights
    A step from v, coming from t, goes to x in proportion to w_vx times 1/p if x = t, 1 if x is
    linked to t, 1/q otherwise; by rejection sampling, without a table per link.
    """
    walks = np.full((len(starts), length), STOP, np.int64)
    peak = max(1.0, 1.0 / p, 1.0 / q)
    for row in range(len(starts)):
        node = starts[row]
        previous = STOP
        walks[row, 0] = node
        for step in range(1, length):
            edge = _propose(indptr, cumulative, node, state)
            if edge < 0:
                break
            while previous != STOP and (p != 1.0 or q != 1.0):
                if indices[edge] == previous:
                    bias = 1.0 / p
                elif contains(indices, indptr[previous], indptr[previous + 1], indices[edge]):
                    bias = 1.0
                else:
                    bias = 1.0 / q
                if draw_uniform(state) * peak < bias:
                    break
                edge = _propose(indptr, cumulative, node, state)
            previous = node
            node = np.int64(indices[edge])
            walks[row, step] = node
    return walks


def compute_cumulative(adjacency: sparse.csr_array, is_weighted: bool) -> np.ndarray:
    """Running sum of the link weights for `walk`."""
    if not is_weighted:
        return np.empty(0)
    return np.concatenate([[0.0], np.cumsum(adjacency.data, dtype=np.float64)])
