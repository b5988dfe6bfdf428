"""Link and triangle counts with a cap per node, which bounds their node sensitivity."""

from __future__ import annotations

import numba
import numpy as np
from scipy import sparse

from core.algorithms.triangles import compute_triangles
from core.arrays import is_among, pair_codes
from core.graph import Graph


def select_capped_links(edges: np.ndarray, num_nodes: int, cap: int) -> np.ndarray:
    """Mask (m,) of links (m, 2) kept when added in order, at most `cap` per node.

    With D the cap, changing all links of one node changes their number by at most D, and the number
    at other nodes by at most 2D in sum. The graph without the node is common to both sides. Each of
    the node's at most D accepted links fills its other end by one; a later link refused for that
    moves this difference to its own other end, and so on, so that at most D differences remain
    (after Day, Li and Lyu, SIGMOD 2016, §4).
    """
    return np.asarray(_select(edges, num_nodes, cap))


@numba.njit(cache=True)
def _select(edges: np.ndarray, num_nodes: int, cap: int) -> np.ndarray:
    room = np.full(num_nodes, cap, np.int64)
    accepted = np.zeros(len(edges), np.bool_)
    for k in range(len(edges)):
        i, j = edges[k]
        if room[i] > 0 and room[j] > 0:
            room[i] -= 1
            room[j] -= 1
            accepted[k] = True
    return accepted


def count_capped_triangles(graph: Graph, cap: int) -> float:
    """Largest sum of triangle weights in [0, 1] with at most `cap` per node.

    Equals the number of triangles if no node is in more than `cap`. Changing all links of one node
    changes it by at most `cap`: without the node's triangles the other weights remain feasible, and
    its own sum to at most `cap` (Kasiviswanathan, Nissim, Raskhodnikova and Smith, TCC 2013, §4.2).
    Only nodes in more than `cap` triangles bind, and triangles with the same such nodes share a
    variable.
    """
    at_node = compute_triangles(graph.edges, graph.num_nodes)
    over_cap = np.flatnonzero(at_node > cap)
    if not len(over_cap):
        return float(at_node.sum() // 3)
    from scipy.optimize import linprog

    members, counts = _group_triangles(graph, over_cap, at_node)
    matrix = sparse.coo_array(
        (np.ones(len(members[0])), members), shape=(len(over_cap), len(counts))
    ).tocsr()
    limits = np.stack([np.zeros(len(counts)), counts], axis=1)
    best = linprog(-np.ones(len(counts)), matrix, np.full(len(over_cap), float(cap)), bounds=limits)
    return float(at_node.sum() // 3 - counts.sum() - best.fun)


def _group_triangles(
    graph: Graph, over_cap: np.ndarray, at_node: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Triangles grouped by their busy nodes: (place in `over_cap`, group) of each membership, and
    the number (g,) of triangles per group; those without busy nodes are omitted."""
    h, links = len(over_cap), sparse.csr_array(graph.adjacency != 0, dtype=np.int64)
    is_within_cap = np.ones(graph.num_nodes, bool)
    is_within_cap[over_cap] = False
    inner = sparse.csr_array(sparse.triu(links[over_cap][:, over_cap], 1))
    outer = links[over_cap][:, is_within_cap]
    shared = sparse.coo_array((outer @ outer.T).multiply(inner))  # i < j and a calm node
    pairs = np.stack(shared.coords)
    first, second = inner.tocoo().coords
    length = np.diff(inner.indptr)[second]
    row = np.repeat(np.arange(len(first)), length)
    place = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length)
    third = inner.indices[inner.indptr[second[row]] + place].astype(np.int64)
    triples = np.stack([first[row], second[row], third]).astype(np.int64)
    codes = np.sort(pair_codes(np.stack([first, second], 1).astype(np.int64), h))
    triples = triples[:, is_among(pair_codes(triples[[0, 2]].T, h), codes)]
    single = at_node[over_cap] - np.bincount(triples.ravel(), minlength=h)
    for end in pairs:
        single -= np.bincount(end, shared.data, h).astype(np.int64)
    counts = np.concatenate([single, shared.data, np.ones(triples.shape[1])]).astype(np.float64)
    starts = np.cumsum([0, h, pairs.shape[1]])
    parts = (np.arange(h)[None], pairs, triples)
    groups = [
        np.tile(s + np.arange(p.shape[1]), len(p)) for s, p in zip(starts, parts, strict=True)
    ]
    return (np.concatenate([p.ravel() for p in parts]), np.concatenate(groups)), counts
