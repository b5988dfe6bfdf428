"""Noisy tables without their empty cells: counts between groups, choices of groups, and noisy
numbers with a preserved sum."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from core.algorithms.kernels import redraw_communities
from core.arrays import decode_pairs, pair_codes
from core.context import Context
from core.graph import Graph
from core.privacy.mechanisms import add_discrete_laplace


def draw_choices(
    graph: Graph, community: np.ndarray, factor: float, rng: np.random.Generator
) -> np.ndarray:
    """(n,) new communities, node i's drawn ∝ exp(factor · number of its links into it).

    One exponential mechanism (McSherry and Talwar, 2007) a node, in random order; neighbours that
    were drawn before count where they moved. Adaptive composition: a link raises one score of
    either end, whatever the others drew. Empty communities are dropped from the numbering. O(m).
    """
    chosen, adjacency = community.astype(np.int64), graph.adjacency
    order = rng.permutation(graph.num_nodes)
    redraw_communities(
        adjacency.indptr,
        adjacency.indices,
        order,
        rng.random(graph.num_nodes),
        factor,
        int(community.max()) + 1,
        chosen,
    )
    return np.unique(chosen, return_inverse=True)[1]


def add_noise_to_counts(
    ends: np.ndarray, num: int, with_diagonal: bool, scale: float, context: Context, purpose: str
) -> tuple[np.ndarray, np.ndarray]:
    """Cells (c, 2) i ≤ j of a num × num symmetric table and their noisy counts, where positive.

    ends (k, 2) are the cells of the k links. The threshold is public: about two zero cells a row
    exceed it.
    """
    codes, counts = np.unique(pair_codes(ends, num), return_counts=True)
    num_cells = num * (num + 1) // 2 if with_diagonal else num * (num - 1) // 2
    threshold = max(round(scale * math.log(max(num_cells / (4.0 * num), 1.0))), 0)
    counts = add_discrete_laplace(counts, scale, context, purpose)
    decay = math.exp(-1.0 / scale)
    rng = context.rng(purpose, "zeros")
    # P(two-sided geometric > t) = decay^(t+1) / (1 + decay); above t it is t + geometric.
    exceeding = rng.binomial(num_cells - len(codes), decay ** (threshold + 1) / (1.0 + decay))
    zeros = _draw_empty_cells(codes, num, with_diagonal, int(exceeding), rng)
    values = threshold + rng.geometric(max(1.0 - decay, 1e-12), len(zeros))
    codes, counts = np.concatenate([codes, zeros]), np.concatenate([counts, values])
    keep = counts > threshold
    codes = codes[keep]
    return decode_pairs(codes, num), counts[keep]


def _draw_empty_cells(
    codes: np.ndarray, num: int, with_diagonal: bool, count: int, rng: np.random.Generator
) -> np.ndarray:
    """`count` distinct codes of cells outside `codes` (sorted), uniformly."""
    found = np.empty(0, np.int64)
    while len(found) < count:
        ends = rng.integers(0, num, (2 * (count - len(found)) + 16, 2))
        # Off-diagonal cells can be drawn in both orders: keep one.
        ends = ends[(ends[:, 0] < ends[:, 1]) | (with_diagonal & (ends[:, 0] == ends[:, 1]))]
        drawn = pair_codes(ends, num)
        found = pd.unique(np.concatenate([found, drawn[~np.isin(drawn, codes)]]))
    return found[:count]


def subtract_to_sum(values: np.ndarray, total: float | None = None) -> np.ndarray:
    """max(v − δ, 0) with δ such that the sum is `total`, or 0 if that is negative.

    total  by default the sum of `values`
    Clipping noisy numbers at 0 alone would inflate their sum (NormSub: Wang et al., 2020).
    """
    target = max(float(values.sum() if total is None else total), 0.0)
    ordered = np.sort(values)[::-1]
    shifts = (np.cumsum(ordered) - target) / np.arange(1, len(values) + 1)
    positive = np.flatnonzero(ordered > shifts)
    shift = shifts[positive[-1]] if target > 0 and len(positive) else np.inf
    return np.maximum(values - shift, 0.0) if np.isfinite(shift) else np.zeros(len(values))


def subtract_within(values: np.ndarray, most: np.ndarray) -> np.ndarray:
    """min(max(v − δ, 0), most) with δ such that the sum is that of `values`, or 0 or the sum of
    `most` if that is beyond them."""
    total, result = min(float(values.sum()), float(most.sum())), most.astype(np.float64)
    is_free = np.ones(len(values), bool)
    while is_free.any():
        result[is_free] = subtract_to_sum(values[is_free], total - most[~is_free].sum())
        is_over = result > most  # less is subtracted in the next round: they stay so
        if not is_over.any():
            break
        result[is_over] = most[is_over]
        is_free &= ~is_over
    return result
