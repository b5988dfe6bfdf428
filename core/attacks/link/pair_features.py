"""Features of node pairs for trained attacks."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.algorithms.fingerprints import count_links_and_triangles
from core.algorithms.normalize import normalize_adjacency
from core.algorithms.path_sums import sum_paths
from core.arrays import divide_or_zero, hash_array
from core.attacks.link.feature_neighbourhood import compute_neighbourhood_cosines
from core.attacks.link.heuristics import share_neighbor_sums
from core.attacks.link.katz import compute_largest_eigenvalue
from core.attacks.link.node2vec_cosine import compute_cosines
from core.attacks.link.pair_likeness import (
    CLUSTER_COLUMNS,
    LATENT_COLUMNS,
    LIKENESS_COLUMNS,
    describe_clusters,
    describe_latent,
    describe_likeness,
)
from core.attacks.link.personalized_pagerank import compute_pagerank_scores
from core.context import Context
from core.graph import Graph

RANK = 32
"""Dimensions of the spectral embedding."""
AFFINITY_RANKS = (2, 4, 8, 16, 32)
AFFINITY_COLUMNS = tuple(f"affinity, rank {rank}" for rank in AFFINITY_RANKS)

RESTART, TOLERANCE = 0.15, 3e-4
DECAY = 0.5

PATH_COLUMN = "paths of three links"
END_COLUMNS = tuple(
    f"{which} {what}"
    for what in ("clustering", "triangles", "neighbours' degree")
    for which in ("lower", "higher")
)

STRUCTURE_COLUMNS = (
    "lower degree",
    "higher degree",
    "common neighbours",
    "Adamic–Adar",
    "resource allocation",
    "Jaccard",
    "Katz",
    "PageRank",
    "spectral cosine",
    PATH_COLUMN,
    *END_COLUMNS,
    *AFFINITY_COLUMNS,
)
FEATURE_COLUMNS = (
    "feature cosine",
    "feature neighbourhood",
    "neighbourhoods' cosine",
    *LATENT_COLUMNS,
    *LIKENESS_COLUMNS,
    *CLUSTER_COLUMNS,
)
EMBEDDING_COLUMN = "auto-encoder cosine"


def list_columns(graph: Graph, has_embedding: bool = True) -> tuple[str, ...]:
    """Names of the columns of `describe_pairs` on this graph."""
    features = FEATURE_COLUMNS if graph.features is not None else ()
    return STRUCTURE_COLUMNS + features + ((EMBEDDING_COLUMN,) if has_embedding else ())


def describe_pairs(
    graph: Graph, pairs: np.ndarray, context: Context, has_embedding: bool = True
) -> np.ndarray:
    """(k, c) float64 columns of (k, 2) pairs, symmetric in the ends; counts as logarithms.

    Heuristics, degrees, truncated Katz, PageRank, a spectral and an auto-encoder's embedding,
    clustering and degrees around the ends, and, where the graph has features, cosines of the ends
    and of their neighbourhoods.
    Computed once for all attacks on the same graph and pairs.
    """
    return context.share(
        ("pair_features", graph.content_hash, hash_array(pairs), has_embedding),
        lambda shared: _describe(graph, pairs, shared, has_embedding),
    )


def _describe(graph: Graph, pairs: np.ndarray, context: Context, has_embedding: bool) -> np.ndarray:
    if not len(pairs):
        return np.zeros((0, len(list_columns(graph, has_embedding))))
    strengths = graph.strengths
    ends = np.sort(strengths[pairs], axis=1)
    sums = share_neighbor_sums(graph, pairs, context)
    union = ends.sum(axis=1) - sums.overlap
    jaccard = divide_or_zero(sums.overlap, union)
    katz, three_paths = compute_path_scores(graph, pairs, context)
    pagerank = compute_pagerank_scores(graph, pairs, RESTART, TOLERANCE, context, look_ahead=True)
    columns = [
        *np.log1p(ends).T,
        *(np.log1p(values) for values in (sums.count, sums.log, sums.inverse)),
        jaccard,
        np.log(katz + 1e-8),
        np.log(pagerank + 1e-6),
        compute_cosines(share_spectrum(graph, context), pairs),
        np.log1p(three_paths),
        *describe_ends(graph, pairs, context).T,
        *compute_affinities(graph, pairs, context).T,
    ]
    if graph.features is not None:
        cosines = compute_neighbourhood_cosines(graph, pairs, context)
        columns += [cosines.ends, cosines.across, cosines.neighbourhoods]
        for describe in (describe_latent, describe_likeness, describe_clusters):
            columns += [*describe(graph, pairs, context).T]
    if has_embedding:
        from core.models.gae import share_gae

        columns.append(share_gae(graph, context).score(pairs))
    return np.stack(columns, axis=1)


def share_spectrum(graph: Graph, context: Context) -> np.ndarray:
    """(n, r) leading eigenvectors of D^-½ (A + I) D^-½, each times its eigenvalue."""
    return context.share(
        ("spectrum", graph.content_hash), lambda shared: compute_spectrum(graph, shared)
    )


def compute_spectrum(graph: Graph, context: Context) -> np.ndarray:
    """(n, r) of `share_spectrum`."""
    matrix = normalize_adjacency(graph.adjacency, dtype=np.float64)
    values, vectors = _find_eigenvectors(matrix, "spectrum", context)
    return np.asarray(vectors * values)


def compute_affinities(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k, 5) entries of the adjacency matrix at AFFINITY_RANKS: Σ_r λ_r u_ir u_jr over its largest
    eigenvalues in size, with their signs.

    The adjacency spectral embedding with its indefinite product (Rubin-Delanchy et al., A
    statistical interpretation of spectral embedding, JRSS B 2022). Negative eigenvalues capture
    links between unlike nodes, which cosines of embeddings miss. Not normalised by degree.
    """
    values, vectors = context.share(
        ("adjacency spectrum", graph.content_hash),
        lambda shared: _find_eigenvectors(
            graph.adjacency.astype(np.float64), "adjacency spectrum", shared
        ),
    )
    total, affinities = np.zeros(len(pairs)), np.zeros((len(pairs), len(AFFINITY_RANKS)))
    for rank, (value, vector) in enumerate(zip(values, vectors.T, strict=True), start=1):
        # the ends' product first: rounding must not depend on a pair's direction
        total += value * (vector[pairs[:, 0]] * vector[pairs[:, 1]])
        affinities[:, [rank <= max_rank for max_rank in AFFINITY_RANKS]] = total[:, None]
    return affinities


def _find_eigenvectors(
    matrix: sparse.csr_array, purpose: str, context: Context
) -> tuple[np.ndarray, np.ndarray]:
    """(r,) eigenvalues, the largest in size first, and (n, r) vectors, r ≤ RANK, by randomised
    subspace iteration (Halko, Martinsson and Tropp, 2011); O(r · m) time."""
    n = matrix.shape[0]
    block = context.rng(purpose).normal(size=(n, min(RANK + 8, n)))
    for step in range(1, 9):
        context.progress.check()
        block = matrix @ block
        if step % 4 == 0:  # the span is that of the products; four of them lose few digits
            block, _ = np.linalg.qr(block)
    values, vectors = np.linalg.eigh(block.T @ (matrix @ block))
    order = np.argsort(-np.abs(values))[:RANK]
    return values[order], block @ vectors[:, order]


def describe_ends(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k, 6) END_COLUMNS: local clustering, log triangles, log mean degree of the neighbours.

    The smaller value of a pair comes first, so that columns are symmetric in the ends.
    """
    nodes = context.share(("cohesion", graph.content_hash), lambda _: _describe_nodes(graph))
    ends = np.sort(nodes[pairs], axis=1)
    return np.asarray(ends.transpose(0, 2, 1).reshape(len(pairs), -1))


def _describe_nodes(graph: Graph) -> np.ndarray:
    degrees, triangles = count_links_and_triangles(graph)
    wedges = np.maximum(degrees * (degrees - 1) / 2, 1)
    strengths = graph.strengths
    total = graph.adjacency.astype(np.float64) @ strengths
    mean_degrees = divide_or_zero(total, strengths)
    return np.stack([triangles / wedges, np.log1p(triangles), np.log1p(mean_degrees)], axis=1)


def compute_path_scores(
    graph: Graph, pairs: np.ndarray, context: Context
) -> tuple[np.ndarray, np.ndarray]:
    """Two (k,) float64 scores of the paths between the ends of (k, 2) pairs.

    Katz of walks of at most three links, and Σ_uv w_iu w_uv w_vj / √(s_u s_v), s the weighted
    degrees: paths that avoid hubs, which find links between unlike nodes (L3 of Kovács et al.,
    Network-based prediction of protein interactions, Nature Communications 2019).
    """
    adjacency = sparse.csr_array(graph.adjacency, dtype=np.float64)
    strengths = graph.strengths
    scale = divide_or_zero(1.0, np.sqrt(strengths))
    two, three, three_paths = sum_paths(adjacency, scale, pairs, context).T
    beta = DECAY / max(compute_largest_eigenvalue(adjacency, context), 1e-12)
    one = np.asarray(adjacency[pairs[:, 0], pairs[:, 1]]).ravel()
    return beta * (one + beta * (two + beta * three)), three_paths
