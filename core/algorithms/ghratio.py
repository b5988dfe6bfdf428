"""Generalised homophily ratios with neighbours and structural peers (GPS Eq. 3–5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph import Graph
from core.node_column import MISSING

CHUNK = 1 << 21
"""Links per chunk, to bound the memory of temporary arrays."""


@dataclass(frozen=True, eq=False)
class GHRatios:
    """One ratio per node, (n,) float64; NaN if undefined.

    Undefined: the node's own value is unknown, or no node of its set has a known value.
    """

    proximity: np.ndarray
    role: np.ndarray
    combined: np.ndarray


def choose_tolerance(graph: Graph) -> int:
    """Half the interquartile range of the degrees, rounded, at least 1.

    About half of all nodes are then peers of a node with a typical degree, at any density. The
    paper tunes the tolerance by hand ({0, …, 20}; 45 in the authors' NBA run).
    """
    low, high = np.percentile(count_degrees(graph), [25, 75])
    return max(round(float(high - low) / 2), 1)


def compute_ghratios(
    graph: Graph, codes: np.ndarray, num_classes: int, tolerance: float
) -> GHRatios:
    """Ratios of all nodes; `codes` (n,) int in [−1, num_classes), −1 unknown.

    proximity  share of N(i) with Z_j = Z_i
    role       share of {j ≠ i : |d_j − d_i| ≤ tolerance} with Z_j = Z_i
    combined   the same over the union of both sets

    over nodes with a known value. Links of weight 0 are ignored, all others count equally. O(n log
    n + m + nC): role sets are windows in the list of O(√m) distinct degrees, counted by class-wise
    prefix sums; the union follows by inclusion and exclusion, since the intersection holds links
    only.

    >>> import numpy as np
    >>> from core import Graph
    >>> from core.algorithms.ghratio import compute_ghratios
    >>> path = Graph.from_pairs([(0, 1), (1, 2)])
    >>> compute_ghratios(path, np.array([0, 0, 1]), 2, tolerance=1).proximity.tolist()
    [1.0, 0.5, 0.0]
    """
    codes = np.asarray(codes)
    known = codes != MISSING
    degrees = count_degrees(graph)
    neighbors, same_neighbors, shared, same_shared = _count_neighbors(
        graph, codes, known, degrees, tolerance
    )
    peers, same_peers = _count_peers(codes, known, degrees, num_classes, tolerance)
    return GHRatios(
        _divide(same_neighbors, neighbors, known),
        _divide(same_peers, peers, known),
        _divide(same_neighbors + same_peers - same_shared, neighbors + peers - shared, known),
    )


def count_degrees(graph: Graph) -> np.ndarray:
    """(n,) links of each node, without those of weight 0."""
    if graph.weights is None:
        return graph.degrees
    return np.bincount(graph.present_edges.ravel(), minlength=graph.num_nodes)


def _count_neighbors(
    graph: Graph, codes: np.ndarray, known: np.ndarray, degrees: np.ndarray, tolerance: float
) -> np.ndarray:
    """(4, n): known neighbours, those of the same class, and both among peers only."""
    n, edges = graph.num_nodes, graph.present_edges
    counts = np.zeros((4, n), np.int64)
    for start in range(0, len(edges), CHUNK):
        i, j = edges[start : start + CHUNK].T
        is_peer = np.abs(degrees[i] - degrees[j]) <= tolerance
        both = known[i] & known[j]
        same = both & (codes[i] == codes[j])
        for row, mask in enumerate((both, same, both & is_peer, same & is_peer)):
            counts[row] += np.bincount(i[mask], minlength=n)
            counts[row] += np.bincount(j[mask], minlength=n)
    return counts


def _count_peers(
    codes: np.ndarray, known: np.ndarray, degrees: np.ndarray, num_classes: int, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) known peers of each known node without itself, and those of the same class."""
    distinct, position = np.unique(degrees, return_inverse=True)
    table = np.bincount(
        position[known] * num_classes + codes[known], minlength=len(distinct) * num_classes
    ).reshape(len(distinct), num_classes)
    prefix = np.zeros((len(distinct) + 1, num_classes), np.int64)
    np.cumsum(table, axis=0, out=prefix[1:])
    low = np.searchsorted(distinct, distinct - tolerance, side="left")
    high = np.searchsorted(distinct, distinct + tolerance, side="right")
    window = prefix[high] - prefix[low]
    peers = window.sum(axis=1)[position] - known
    return peers, window[position, np.where(known, codes, 0)] - known


def _divide(same: np.ndarray, total: np.ndarray, known: np.ndarray) -> np.ndarray:
    return np.asarray(
        np.divide(same, total, out=np.full(len(same), np.nan), where=known & (total > 0))
    )
