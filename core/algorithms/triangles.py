"""Triangles at each node by the forward algorithm (Schank, Wagner, WEA 2005)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from core.algorithms.kernels import count_directed_triangles
from core.progress import Progress

TILE_STEPS = 20_000_000
"""Links followed between two progress reports."""


def compute_triangles(
    edges: np.ndarray, num_nodes: int, progress: Progress | None = None
) -> np.ndarray:
    """(n,) int64 triangles at each node of the links (m, 2); O(m^{3/2}).

    Links point to the end of higher degree, so that no node has more than √(2m) out-links.
    """
    n, progress = num_nodes, progress or Progress()
    degrees = np.bincount(edges.ravel(), minlength=n)
    rank = np.empty(n, np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(n)
    ends = np.sort(rank[edges], axis=1)
    out = sparse.csr_array((np.ones(len(ends), np.int8), ends.T), shape=(n, n))
    counts, mark = np.zeros(n, np.int64), np.zeros(n, bool)
    length = np.diff(out.indptr).astype(np.int64)
    steps = np.cumsum(out @ length)
    cuts = np.searchsorted(steps, np.arange(0, steps[-1], TILE_STEPS)[1:])
    for start, stop in pairwise(np.unique([0, *cuts, n])):
        count_directed_triangles(out.indptr, out.indices, start, stop, mark, counts)
        progress.update(stop, n, "triangles")
    return counts[rank]
