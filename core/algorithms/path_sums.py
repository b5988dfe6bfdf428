"""Sums over the paths of two and three links between the ends of pairs."""

from __future__ import annotations

import numba
import numpy as np
from scipy import sparse

from core.algorithms.pairs import split_by_work
from core.context import Context

TILE = 50_000_000
"""Steps between two progress reports: a fraction of a second."""


def sum_paths(
    adjacency: sparse.csr_array, scale: np.ndarray, pairs: np.ndarray, context: Context
) -> np.ndarray:
    """(k, 3) float64 sums of the pairs (i, j): (A²)_ij, (A³)_ij and Σ_uv a_iu s_u a_uv s_v a_vj.

    adjacency (n, n) symmetric with the weights a, scale (n,) with the weights s of inner nodes.
    A node's walks of two links are computed once for all pairs that begin with it, since pairs
    outnumber nodes where many released links are described. O(n) memory beside the result.
    """
    matrix = sparse.csr_array(adjacency, dtype=np.float64)
    order = np.argsort(pairs[:, 0], kind="stable")
    source, target = pairs[order].T
    degrees = np.diff(matrix.indptr).astype(np.int64)
    is_first = np.append(True, source[1:] != source[:-1])[: len(source)]
    walks = (matrix != 0) @ degrees
    tiles = split_by_work(np.where(is_first, walks[source], 0) + degrees[target], TILE)
    sums = np.zeros((len(pairs), 3))
    for number, tile in enumerate(tiles):
        context.progress.update(number, len(tiles), "paths of three links")
        rows = order[tile]
        found = np.zeros((len(tile), 3))
        _sum_paths(matrix.indptr, matrix.indices, matrix.data, scale, pairs[rows], found)
        sums[rows] = found
    return sums


@numba.njit(nogil=True, cache=True)
def _sum_paths(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    scale: np.ndarray,
    pairs: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Add to `sums` (k, 3); quickest where `pairs` (k, 2) are sorted by their first node."""
    n = len(indptr) - 1
    # of the first node i: its weights, walks of two links, and these weighted by the inner node
    near, walks = np.zeros(n), np.zeros((n, 2))
    stamp = np.full(n, -1, np.int64)  # start of the i that the node's walks belong to
    last, start = -1, -1
    for k in range(len(pairs)):
        i, j = pairs[k]
        if i != last:
            for a in range(indptr[max(last, 0)], indptr[last + 1]):
                near[indices[a]] = 0.0
            last, start = i, k
            for a in range(indptr[i], indptr[i + 1]):
                u, weight = indices[a], data[a]
                near[u] = weight
                for b in range(indptr[u], indptr[u + 1]):
                    v, walk = indices[b], weight * data[b]
                    if stamp[v] != start:
                        stamp[v] = start
                        walks[v] = 0.0
                    walks[v, 0] += walk
                    walks[v, 1] += walk * scale[u]
        for a in range(indptr[j], indptr[j + 1]):
            v, weight = indices[a], data[a]
            sums[k, 0] += near[v] * weight
            if stamp[v] == start:
                sums[k, 1] += walks[v, 0] * weight
                sums[k, 2] += walks[v, 1] * weight * scale[v]
