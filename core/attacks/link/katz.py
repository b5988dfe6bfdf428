"""Katz: walks between two nodes, discounted by length."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy import sparse

from core.algorithms.pairs import split_by_work
from core.context import Context
from core.graph import Graph
from core.methods import LinkAttack, MethodInfo, OpenUnitInterval
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class Katz(LinkAttack):
    """Score Σ_{l ≤ L} β^l (A^l)_ij with β a share of 1/λ_max, so that the sum converges."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="katz",
        title="Katz",
        summary="Counts the walks between two nodes, long ones less.",
        source="Katz, A new status index derived from sociometric analysis, 1953; truncated "
        "as in Liben-Nowell and Kleinberg, 2007",
        group="heuristics",
        cost="seconds",
    )

    decay: OpenUnitInterval = Field(0.5, description="β as a share of 1 / largest eigenvalue.")
    max_length: int = Field(4, ge=2, le=6, description="Longest walk that counts, in links.")

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        return PairScores(
            compute_katz(release.graph, threat.pairs, self.decay, self.max_length, context)
        )


def compute_katz(
    graph: Graph, pairs: np.ndarray, decay: float, max_length: int, context: Context
) -> np.ndarray:
    """(k,) float64 scores of (k, 2) pairs, tile by tile.

    A walk of length l is two walks of about l / 2 that meet: (A^l)_ij is the product of row i
    of A^⌈l/2⌉ with row j of A^⌊l/2⌋. So rows stay sparse, and only those needed are built.
    """
    adjacency = sparse.csr_array(graph.adjacency, dtype=np.float64)
    beta = decay / max(compute_largest_eigenvalue(adjacency, context), 1e-12)
    half_length = (max_length + 1) // 2
    # Row entries of the widest power, at most: walks of length `reach`, or all nodes.
    widths = np.ones(graph.num_nodes)
    for _ in range(half_length):
        widths = np.minimum((adjacency != 0) @ widths, graph.num_nodes)
    max_entries = max(min(context.memory_budget // 64, 4_000_000), 1)
    tiles = split_by_work(widths[pairs].sum(axis=1), max_entries)
    scores = np.zeros(len(pairs))
    for number, rows in enumerate(tiles):
        context.progress.update(number, len(tiles), "Katz")
        if not len(rows):
            continue
        ends, places = np.unique(pairs[rows], return_inverse=True)
        first, second = places.reshape(-1, 2).T
        powers = [adjacency[ends] * beta]
        while len(powers) < half_length:
            powers.append(powers[-1] @ adjacency * beta)
        total = beta * adjacency[pairs[rows, 0], pairs[rows, 1]]
        for length in range(2, max_length + 1):
            left, right = powers[(length + 1) // 2 - 1], powers[length // 2 - 1]
            joined = left[first].multiply(right[second])
            total = total + np.asarray(joined.sum(axis=1)).ravel()
        scores[rows] = total
    return scores


def compute_largest_eigenvalue(adjacency: sparse.csr_array, context: Context) -> float:
    """λ_max of a symmetric matrix ≥ 0 by power iteration on A + I (bipartite graphs converge)."""
    vector = np.ones(adjacency.shape[0])
    value = 0.0
    for _ in range(200):
        context.progress.check()
        product = adjacency @ vector + vector
        previous, value = value, float(np.linalg.norm(product) / np.linalg.norm(vector))
        vector = product / np.linalg.norm(product)
        if abs(value - previous) < 1e-6 * value:
            break
    return value - 1.0
