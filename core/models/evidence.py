"""What a release shows of each node, as columns: of itself, its surroundings, its place.

All that an attacker could think of without training a network: the node's own features, those of
its surroundings, its structural role, and how the known values lie around it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from core.algorithms.spreading import normalize_class_mass, spread_labels
from core.graph import MISSING, Graph
from core.models.gps.ego import compute_role_features
from core.models.tuning import scale_features

SHARES = (0.99, 0.8)
"""Weights of the neighbours' values in the two diffusions of known values."""
ROUNDS = 40
WEIGHTS = (1.0, 5.0, 0.02)
"""Known neighbours, second neighbours, and share of three-step walks that the class prior counts
for."""


def describe_nodes(graph: Graph, width: int, seed: int) -> dict[str, np.ndarray]:
    """Blocks (n, d) that need no known value, each of unit scale; what is not there is left out.

    features      own features, at most `width` main directions of them
    surroundings  features averaged twice over the neighbours and oneself (SGC; Wu et al., 2019)
    role          degree, overlap, clustering of degrees around the node
    """
    blocks = {}
    if graph.features is not None:
        scaled = scale_features(graph)
        blocks["features"] = _reduce(scaled, width, seed)
        # Two steps of averaging fill a sparse table: twice as many directions lose nothing.
        wide = _reduce(scaled, 2 * width, seed)
        blocks["surroundings"] = _reduce(_smooth(graph, wide), width, seed)
    blocks["role"] = describe_roles(graph)
    return {name: block for name, block in blocks.items() if block.shape[1]}


def describe_roles(graph: Graph) -> np.ndarray:
    """(n, d) standardised: own degree and overlap with the neighbours, and means and spread of
    degrees one and two steps away. Constant columns are left out."""
    walk, degrees = _make_walk(graph)
    own = compute_role_features(graph).astype(np.float64)
    size = np.log1p(degrees)
    near = walk @ size
    spread = np.sqrt(np.maximum(walk @ size**2 - near**2, 0.0))
    columns = np.column_stack([own, size, size**2, near, spread, walk @ near, walk @ own])
    return _standardize(columns)


def count_labels(graph: Graph, observed: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n, 5 C) log-odds against the class prior (C,) of the known values around each node.

    Shares among neighbours, among second neighbours by the number of paths, and along walks of
    three steps; and two diffusions. A known node sees its own value two steps away: whoever
    learns from its row must leave that value out of `observed` (n,).
    """
    walk, _ = _make_walk(graph)
    known = observed != MISSING
    values = np.zeros((graph.num_nodes, len(prior) + 1))
    values[known, observed[known]] = 1.0
    values[:, -1] = known
    adjacency = graph.adjacency.astype(np.float64)
    one = adjacency @ values
    around = (one, adjacency @ one, walk @ (walk @ (walk @ values)))
    columns = []
    for found, weight in zip(around, WEIGHTS, strict=True):
        shares = (found[:, :-1] + weight * prior) / (found[:, -1:] + weight)
        columns.append(np.log(shares) - np.log(prior))
    for share in SHARES:
        spread = spread_labels(graph, observed, prior, share, ROUNDS)
        columns.append(normalize_class_mass(spread, ~known))
    return np.column_stack(columns)


def _make_walk(graph: Graph) -> tuple[sparse.csr_array, np.ndarray]:
    """D⁻¹A, and the weighted degrees (n,)."""
    adjacency = graph.adjacency.astype(np.float64)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    return sparse.csr_array(sparse.diags_array(scale) @ adjacency), degrees


def _smooth(graph: Graph, features: np.ndarray) -> np.ndarray:
    """S²X with S = (D+I)^−½ (A+I) (D+I)^−½."""
    looped = graph.adjacency.astype(np.float64) + sparse.eye_array(graph.num_nodes)
    scale = sparse.diags_array(1.0 / np.sqrt(np.asarray(looped.sum(axis=1)).ravel()))
    step = sparse.csr_array(scale @ looped @ scale)
    smoothed: np.ndarray = step @ (step @ features)
    return smoothed


def _reduce(matrix: Any, width: int, seed: int) -> np.ndarray:
    """At most `width` columns: the matrix itself, standardised, or its main directions scaled
    together."""
    if matrix.shape[1] <= width:
        return _standardize(matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix))
    from sklearn.utils.extmath import randomized_svd

    count = min(width, *matrix.shape)
    left, values, _ = randomized_svd(matrix, count, n_iter=3, random_state=seed)
    found = left * values
    scale = float(found.std())
    reduced: np.ndarray = found / scale if scale > 0 else found[:, :0]
    return reduced


def _standardize(columns: np.ndarray) -> np.ndarray:
    varies = columns.max(axis=0, initial=-np.inf) > columns.min(axis=0, initial=np.inf)
    kept = columns[:, varies].astype(np.float64)
    spread = kept.std(axis=0)
    standardized: np.ndarray = (kept - kept.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return standardized
