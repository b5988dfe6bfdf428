"""How many nodes lie at which distances from the two ends of a pair."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.context import Context
from core.graph import Graph

COUNT_COLUMNS = (
    "at distance 1 and 1",
    "at distance 1 and 2",
    "at distance 2 and 2",
    "at distance 1 and more",
    "at distance 2 and more",
)

TILE = 4_000_000
"""Row entries handled at once, unless the memory budget asks for fewer."""


def compute_distance_counts(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k, 5) nodes at each two distances from the ends of (k, 2) pairs; symmetric in the ends.

    The counts A_ab and B_a, a, b ≤ 2, of Chamberlain et al., Graph neural networks for link
    prediction with subgraph sketching, ICLR 2023, §4.1, exact instead of sketched: A_ab counts
    nodes at distance a from one end and b from the other, B_a those at distance a from one end
    and more than 2 from the other. Only links that matter count: see `find_strong_links`.
    """
    n = graph.num_nodes
    links = _make_adjacency(n, graph.edges[find_strong_links(graph)])
    widths = np.minimum(links @ np.diff(links.indptr).astype(float), n) + 1.0
    work = np.cumsum(widths[pairs].sum(axis=1))
    tile = max(min(context.memory_budget // 64, TILE), 1)
    num_tiles = int(work[-1] // tile) + 1 if len(pairs) else 1
    bounds = np.searchsorted(work, tile * np.arange(1, num_tiles))
    counts = np.zeros((len(pairs), len(COUNT_COLUMNS)))
    for number, rows in enumerate(np.split(np.arange(len(pairs)), bounds)):
        context.progress.update(number, num_tiles, "neighbours by distance")
        if not len(rows):
            continue
        (near, far), (near_j, far_j) = (_find_rings(links, end) for end in pairs[rows].T)
        both = [
            _count(near.multiply(near_j)),
            _count(near.multiply(far_j)) + _count(far.multiply(near_j)),
            _count(far.multiply(far_j)),
        ]
        # of those at distance 1 from an end, the other end itself is at no distance from itself
        joined = np.asarray(near[np.arange(len(rows)), pairs[rows, 1]]).ravel()
        second = np.asarray(far[np.arange(len(rows)), pairs[rows, 1]]).ravel()
        counts[rows, :3] = np.stack(both, axis=1)
        counts[rows, 3] = _count(near) + _count(near_j) - 2 * both[0] - both[1] - 2 * joined
        counts[rows, 4] = _count(far) + _count(far_j) - both[1] - 2 * both[2] - 2 * second
    return counts


def find_strong_links(graph: Graph) -> np.ndarray:
    """(m,) bool: links that weigh at least half of what a unit of weight meets, Σw² / Σw.

    All links of a graph without weights; of a release that weighs every pair by its chance to be
    a link, about those that are more likely than not.
    """
    if graph.weights is None:
        return np.ones(graph.num_edges, bool)
    weights = graph.weights.astype(np.float64)
    typical = (weights**2).sum() / max(weights.sum(), 1e-300)
    strong: np.ndarray = (weights > 0) & (weights >= 0.5 * typical)
    return strong


def _make_adjacency(n: int, links: np.ndarray) -> sparse.csr_array:
    ends = np.concatenate([links, links[:, ::-1]])
    ones = np.ones(len(ends), np.float32)
    return sparse.csr_array((ones, (ends[:, 0], ends[:, 1])), shape=(n, n))


def _find_rings(
    links: sparse.csr_array, nodes: np.ndarray
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """(k, n) marks of the nodes at distance 1, and at distance 2, of each of k nodes."""
    near = links[nodes]
    far = sparse.csr_array(near @ links)
    far.data[:] = 1.0
    itself = sparse.csr_array(
        (np.ones(len(nodes), np.float32), (np.arange(len(nodes)), nodes)), shape=near.shape
    )
    far = sparse.csr_array(far - far.multiply(near + itself))
    far.eliminate_zeros()
    return near, far


def _count(marks: sparse.csr_array) -> np.ndarray:
    return np.asarray(marks.sum(axis=1), dtype=np.float64).ravel()
