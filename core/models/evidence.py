"""Node-level predictors of an attribute that need no trained network.

A node's own features, features aggregated over its neighbourhood, its structural role, spectral
coordinates, and the distribution of known values near it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from core.algorithms.class_propagation import normalize_class_mass, propagate_labels
from core.algorithms.normalize import normalize_adjacency
from core.arrays import divide_or_zero
from core.graph import Graph
from core.models.gps.ego import compute_role_features
from core.models.tuning import scale_features
from core.node_column import MISSING

SHARES = (0.99, 0.8)
"""Weights of the neighbours' values in the two diffusions of known values."""
ROUNDS = 40
WEIGHTS = (1.0, 5.0, 0.02)
"""Pseudo-counts of the class prior among known neighbours, second neighbours, and three-step
walks."""

INFERRED = 0.1
"""Pseudo-counts of the class prior among inferred neighbours and two-link paths."""
FLOOR = 1e-3
"""Lower bound of inferred probabilities."""


def describe_nodes(graph: Graph, width: int, seed: int) -> dict[str, np.ndarray]:
    """Blocks of columns (n, d) that need no known value, each of unit scale; empty ones left out.

    features       own features, at most `width` main directions of them
    neighbourhood  features averaged twice over the neighbours and the node (SGC; Wu et al., 2019)
    neighbours     features averaged over the neighbours without the node
    role           degree, overlap with the neighbours, distribution of the degrees around it
    spectrum       coordinates in the leading eigenvectors of the links, assortative and
                   disassortative ones
    """
    blocks = {}
    if graph.features is not None:
        scaled = scale_features(graph)
        blocks["features"] = _reduce(scaled, width, seed)
        # Averaging fills a sparse table, so its directions are reduced first, to twice the width.
        wide = _reduce(scaled, 2 * width, seed)
        blocks["neighbourhood"] = _reduce(_smooth(graph, wide), width, seed)
        blocks["neighbours"] = _reduce(normalize_walk(graph)[0] @ wide, width, seed)
    blocks["role"] = describe_roles(graph)
    blocks["spectrum"] = compute_spectrum(graph, width // 2, seed)
    return {name: block for name, block in blocks.items() if block.shape[1]}


def describe_roles(graph: Graph) -> np.ndarray:
    """(n, d) `compute_roles` standardised, without constant columns."""
    return _standardize(compute_roles(graph))


def compute_roles(graph: Graph) -> np.ndarray:
    """(n, d) own degree, links, weight of a link and overlap with the neighbours; means, spread
    and quartiles of the degrees one step away, and means two steps away."""
    walk, degrees = normalize_walk(graph)
    own = compute_role_features(graph).astype(np.float64)
    size = np.log1p(degrees)
    near = walk @ size
    spread = np.sqrt(np.maximum(walk @ size**2 - near**2, 0.0))
    links = graph.degrees
    weight = degrees / np.maximum(links, 1)
    quartiles = find_quartiles(graph, size)
    second_order = walk @ np.column_stack([near, own, quartiles])
    return np.column_stack([own, size, size**2, weight, near, spread, quartiles, second_order])


def compute_spectrum(graph: Graph, width: int, seed: int) -> np.ndarray:
    """(n, d ≤ width) main directions of (D+τI)^−½ A (D+τI)^−½ by absolute eigenvalue, each
    scaled by its eigenvalue, then jointly to unit scale; τ the mean degree.

    τ prevents directions that isolate single hubs or leaves (Qin and Rohe, Regularized spectral
    clustering, NIPS 2013). Negative eigenvalues describe disassortative links and count equally.
    """
    adjacency = graph.adjacency.astype(np.float64)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    if width < 1 or not degrees.any():
        return np.zeros((graph.num_nodes, 0))
    scale = sparse.diags_array(1.0 / np.sqrt(degrees + degrees.mean()))
    return _find_directions(sparse.csr_array(scale @ adjacency @ scale), width, seed, 8)


def count_labels(graph: Graph, observed: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n, 5 C) log-odds against the class prior (C,) of the known values around each node.

    Shares among neighbours, among second neighbours by the number of paths, and along three-step
    walks; and two diffusions. Two-step walks return to a known node's own value: exclude it from
    `observed` (n,) when training on its row.
    """
    walk, _ = normalize_walk(graph)
    known = observed != MISSING
    values = np.zeros((graph.num_nodes, len(prior) + 1))
    values[known, observed[known]] = 1.0
    values[:, -1] = known
    adjacency = graph.adjacency.astype(np.float64)
    first_order = adjacency @ values
    neighbourhoods = (first_order, adjacency @ first_order, walk @ (walk @ (walk @ values)))
    columns = []
    for found, weight in zip(neighbourhoods, WEIGHTS, strict=True):
        shares = (found[:, :-1] + weight * prior) / (found[:, -1:] + weight)
        columns.append(np.log(shares) - np.log(prior))
    for share in SHARES:
        (spread,) = propagate_labels(graph, [observed], prior, share, ROUNDS)
        columns.append(normalize_class_mass(spread, ~known))
    return np.column_stack(columns)


def count_inferred(graph: Graph, chances: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n, 3 C) log-odds against the class prior (C,) of the node's own class probabilities, of
    their mean over its neighbours, and over second neighbours by number of paths, without itself.

    chances  (n, C) probabilities; one-hot where the value is known
    """
    adjacency = graph.adjacency.astype(np.float64)
    first_order = adjacency @ chances
    squares = np.asarray(adjacency.multiply(adjacency).sum(axis=1)).reshape(-1, 1)
    columns = [np.log(np.maximum(chances, FLOOR)) - np.log(prior)]
    for found in (first_order, np.maximum(adjacency @ first_order - squares * chances, 0.0)):
        shares = found + INFERRED * prior
        columns.append(np.log(shares / shares.sum(axis=1, keepdims=True)) - np.log(prior))
    return np.column_stack(columns)


def find_quartiles(graph: Graph, values: np.ndarray) -> np.ndarray:
    """(n, 5) minimum, quartiles and maximum of the neighbours' values (n,), by rank; 0 without
    any."""
    adjacency = graph.adjacency
    counts = np.diff(adjacency.indptr)
    rows = np.repeat(np.arange(graph.num_nodes), counts)
    found = values[adjacency.indices]
    ordered = found[np.lexsort((found, rows))]
    has_neighbors = counts > 0
    quartiles = np.zeros((graph.num_nodes, 5))
    for column, share in enumerate((0.0, 0.25, 0.5, 0.75, 1.0)):
        ranks = np.round(share * (counts[has_neighbors] - 1)).astype(np.int64)
        quartiles[has_neighbors, column] = ordered[adjacency.indptr[:-1][has_neighbors] + ranks]
    return quartiles


def normalize_walk(graph: Graph) -> tuple[sparse.csr_array, np.ndarray]:
    """D⁻¹A, and the weighted degrees (n,)."""
    adjacency = graph.adjacency.astype(np.float64)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = divide_or_zero(1.0, degrees)
    return sparse.csr_array(sparse.diags_array(scale) @ adjacency), degrees


def _smooth(graph: Graph, features: np.ndarray) -> np.ndarray:
    """S²X with S = (D+I)^−½ (A+I) (D+I)^−½."""
    step = normalize_adjacency(graph.adjacency, dtype=np.float64)
    return np.asarray(step @ (step @ features))


def _reduce(matrix: Any, width: int, seed: int) -> np.ndarray:
    """At most `width` columns: the standardised matrix itself, or its principal directions
    scaled together."""
    if matrix.shape[1] <= width:
        return _standardize(matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix))
    return _find_directions(matrix, width, seed, 3)


def _find_directions(matrix: Any, width: int, seed: int, rounds: int) -> np.ndarray:
    """At most `width` principal left directions, scaled by their singular values, of unit scale
    together."""
    from sklearn.utils.extmath import randomized_svd

    count = min(width, *matrix.shape)
    left, values, _ = randomized_svd(matrix, count, n_iter=rounds, random_state=seed)
    found = left * values
    scale = float(found.std())
    return np.asarray(found / scale if scale > 0 else found[:, :0])


def _standardize(columns: np.ndarray) -> np.ndarray:
    varies = columns.max(axis=0, initial=-np.inf) > columns.min(axis=0, initial=np.inf)
    kept = columns[:, varies].astype(np.float64)
    spread = kept.std(axis=0)
    return np.asarray((kept - kept.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
