"""Communities by Louvain's method (Blondel et al. 2008), deterministic under a generator."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.algorithms.kernels import move_nodes
from core.graph import Graph

MAX_ROUNDS = 20
"""Rounds of local moves per level; later gains are negligible."""


def find_communities(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    """(n,) int64 community of each node, 0 the largest; maximises modularity greedily.

    Near linear in m. Weights count; isolated nodes are communities of their own.
    """
    matrix = sparse.csr_array(graph.adjacency, dtype=np.float64)
    matrix.eliminate_zeros()
    labels = np.arange(graph.num_nodes)
    while matrix.nnz:
        local = _move_until_stable(matrix, rng)
        names, local = np.unique(local, return_inverse=True)
        if len(names) == matrix.shape[0]:
            break
        labels = local[labels]
        members = sparse.csr_array(
            (np.ones(len(local)), (np.arange(len(local)), local)), shape=(len(local), len(names))
        )
        matrix = sparse.csr_array(members.T @ matrix @ members)
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    position = np.empty(len(sizes), np.int64)
    position[order] = np.arange(len(sizes))
    return position[labels]


def _move_until_stable(matrix: sparse.csr_array, rng: np.random.Generator) -> np.ndarray:
    """(k,) labels of one level; self-loops are the links within merged nodes."""
    strengths = np.asarray(matrix.sum(axis=1)).ravel()
    pattern = matrix.copy()
    pattern.setdiag(0)
    pattern.eliminate_zeros()
    labels = np.arange(matrix.shape[0])
    totals = strengths.copy()
    links, touched = np.zeros(len(labels)), np.empty(len(labels), np.int64)
    for _ in range(MAX_ROUNDS):
        order = rng.permutation(len(labels))
        moved = move_nodes(
            pattern.indptr,
            pattern.indices,
            pattern.data,
            strengths,
            order,
            labels,
            totals,
            strengths.sum(),
            links,
            touched,
        )
        if moved <= len(labels) // 1000:
            break
    return labels
