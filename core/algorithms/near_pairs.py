"""Pairs at distance two: those that share a neighbour and are not linked."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.graph import Graph


def find_near_pairs(graph: Graph, limit: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """(k, 2) pairs i < j at distance two, and how many such pairs each stands for.

    All of them, weight 1, where following every path of two links takes at most `limit` steps;
    else those around a random part of the nodes: each pair is found from either end, so that a
    pair may come twice and the weights add up to the number of pairs on average. Links of
    weight 0 lead nowhere.
    """
    links = sparse.csr_array(graph.adjacency != 0, dtype=np.float32)
    degrees = np.diff(links.indptr)
    steps = links @ degrees.astype(np.float64)  # paths of two links from each node
    n = graph.num_nodes
    if steps.sum() <= 2 * limit:
        paths = sparse.coo_array(sparse.triu(links @ links, 1))
        pairs = np.stack(paths.coords, axis=1).astype(np.int64)
        return pairs[~graph.contains_pairs(pairs)], 1.0
    order = rng.permutation(n)
    count = max(int(np.searchsorted(np.cumsum(steps[order]), limit)), 1)
    nodes = np.sort(order[:count])
    paths = sparse.coo_array(links[nodes] @ links)
    pairs = np.stack([nodes[paths.coords[0]], paths.coords[1]], axis=1).astype(np.int64)
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return pairs[~graph.contains_pairs(pairs)], n / count / 2
