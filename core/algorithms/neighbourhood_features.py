"""Neighbourhood of a node as a few numbers, for approximate background knowledge."""

from __future__ import annotations

import numba
import numpy as np
from scipy import sparse

from core.algorithms.fingerprints import Depth, count_links_and_triangles, list_neighbors
from core.graph import Graph

QUANTILES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Quantiles of the neighbours' degrees."""


def compute_neighbourhood_features(graph: Graph, depth: Depth) -> np.ndarray:
    """(n, c) float64 log(1 + count): degree; triangles; quantiles of the neighbours' degrees.

    degree: the first; degree_triangles: the first two; neighbor_degrees: degree and quantiles; ego
    and colour_refinement: all seven.
    """
    indptr, indices = list_neighbors(graph)
    degrees = np.diff(indptr)
    columns = [degrees[:, None]]
    if depth in ("degree_triangles", "ego", "colour_refinement"):
        columns.append(count_links_and_triangles(graph)[1][:, None])
    if depth in ("neighbor_degrees", "ego", "colour_refinement"):
        spread = np.zeros((graph.num_nodes, len(QUANTILES)))
        _compute_quantiles(indptr, indices, degrees.astype(np.float64), QUANTILES, spread)
        columns.append(spread)
    return np.asarray(np.log1p(np.concatenate(columns, axis=1)))


def compute_wider_neighbourhood_features(graph: Graph) -> np.ndarray:
    """(n, 28): the seven numbers, their means over neighbours and second-order neighbours, and
    their standard deviation over neighbours (ReFeX: Henderson et al., KDD 2011)."""
    own = compute_neighbourhood_features(graph, "ego")
    indptr, indices = list_neighbors(graph)
    means, spread = _average(indptr, indices, own)
    second_means, _ = _average(indptr, indices, means)
    return np.concatenate([own, means, second_means, spread], axis=1)


def _average(
    indptr: np.ndarray, indices: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation over the neighbours; zeros for isolated nodes."""
    n = len(values)
    links = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
    counts = np.maximum(np.diff(indptr), 1)[:, None]
    mean = links @ values / counts
    return mean, np.sqrt(np.maximum(links @ values**2 / counts - mean**2, 0.0))


@numba.njit(nogil=True, cache=True)
def _compute_quantiles(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    quantiles: np.ndarray,
    result: np.ndarray,
) -> None:
    """Linearly interpolated, as NumPy's default; zeros for a node without neighbours."""
    for u in range(len(indptr) - 1):
        count = indptr[u + 1] - indptr[u]
        if count == 0:
            continue
        ordered = np.sort(values[indices[indptr[u] : indptr[u + 1]]])
        for q in range(len(quantiles)):
            place = quantiles[q] * (count - 1)
            low = int(place)
            high = min(low + 1, count - 1)
            result[u, q] = ordered[low] + (place - low) * (ordered[high] - ordered[low])
