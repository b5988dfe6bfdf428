"""Feature similarity of the two ends of a pair, and of each end to its neighbours."""

from __future__ import annotations

import warnings

import numpy as np

from core.algorithms.normalize import normalize_adjacency
from core.arrays import divide_or_zero
from core.attacks.link.feature_neighbourhood import weigh_features
from core.attacks.link.node2vec_cosine import compute_cosines
from core.context import Context
from core.graph import Graph

WIDTH = 64
"""Principal directions that features are reduced to."""

LATENT_COLUMNS = (
    "latent cosine",
    "latent cosine, one step",
    "latent cosine, two steps",
    "latent cosine, none and two steps",
)

UNLIKE = 0.05
"""Cosine below which a neighbour counts as unlike."""

CLUSTERS = (8, 40)
STARTS = 4
"""Starts of k-means, of which the best is kept."""
MAX_CLUSTERED = 20_000
"""Nodes that k-means is fitted to at most; the others join the nearest centre."""

LIKENESS_COLUMNS = tuple(
    f"{which} {what} of latent cosine with neighbours"
    for what in ("sum", "mean", "number unlike", "share unlike")
    for which in ("lower", "higher")
)
CLUSTER_COLUMNS = tuple(
    f"link density between {count} feature clusters by {base}"
    for count in CLUSTERS
    for base in ("degrees", "sizes")
)


def describe_likeness(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k, 8) LIKENESS_COLUMNS: similarity of each end to its own neighbours.

    Reveals defenses that remove links between similar nodes, or add links between dissimilar ones,
    at the ends of secret links. The smaller value of a pair comes first.
    """
    nodes = context.share(
        ("likeness", graph.content_hash), lambda shared: _compare_neighbours(graph, shared)
    )
    ends = np.sort(nodes[pairs], axis=1)
    return np.asarray(ends.transpose(0, 2, 1).reshape(len(pairs), -1))


def _compare_neighbours(graph: Graph, context: Context) -> np.ndarray:
    """(n, 4) sum and mean cosine with the neighbours, number and share of unlike ones, by the
    principal directions of the features."""
    weights, total = graph.link_weights, graph.strengths
    cosines = compute_cosines(share_latent(graph, context)[0], graph.edges)
    columns = []
    for values in (weights * cosines, weights * (cosines < UNLIKE)):
        sums = graph.sum_at_ends(values)
        means = divide_or_zero(sums, total)
        columns += [sums, means]
    return np.stack(columns, axis=1)


def describe_clusters(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k, 4) CLUSTER_COLUMNS: log of the links between the ends' feature clusters (k-means)
    relative to those expected from the clusters' degrees, and from their sizes."""
    tables = context.share(
        ("feature clusters", graph.content_hash), lambda shared: _find_densities(graph, shared)
    )
    i, j = pairs.T
    return np.stack(
        [density[labels[i], labels[j]] for labels, *densities in tables for density in densities],
        axis=1,
    )


def _find_densities(
    graph: Graph, context: Context
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(n,) labels and (c, c) log densities by degrees and by sizes for each of CLUSTERS.

    Nodes are compared by the directions of their features, not by their lengths: the main
    directions keep little of a node with unusual features, which is no likeness to others.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.preprocessing import normalize

    vectors, tables = normalize(share_latent(graph, context)[0]), []
    for count in CLUSTERS:
        rng = context.rng("clusters", count)
        model = KMeans(
            min(count, graph.num_nodes), n_init=STARTS, random_state=int(rng.integers(2**31))
        )
        sample = vectors
        if graph.num_nodes > MAX_CLUSTERED:
            sample = vectors[np.sort(rng.choice(len(vectors), MAX_CLUSTERED, replace=False))]
        with warnings.catch_warnings():  # fewer distinct rows than clusters
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = model.fit(sample).predict(vectors)
        context.progress.check()
        membership = np.eye(labels.max() + 1)[labels]
        links = membership.T @ (graph.adjacency.astype(np.float64) @ membership)
        by_degrees, by_sizes = (
            np.log((links + 1.0) / (_expect_links(mass, links.sum()) + 1.0))
            for mass in (links.sum(axis=1), membership.sum(axis=0))
        )
        tables.append((labels, by_degrees, by_sizes))
    return tables


def _expect_links(mass: np.ndarray, total: float) -> np.ndarray:
    """(c, c) links, `total` in all, spread in proportion to the clusters' mass (c,)."""
    share = mass / max(mass.sum(), 1e-9)
    return np.asarray(total * np.outer(share, share))


def describe_latent(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k, 4) LATENT_COLUMNS: cosines of features in few dimensions, plain and averaged over the
    neighbours (Deerwester et al., 1990; Wu et al., Simplifying graph convolutional networks,
    ICML 2019)."""
    latent, one_step, two_steps = share_latent(graph, context)
    stacked, shift = np.concatenate([latent, two_steps]), np.array([0, graph.num_nodes])
    mixed = compute_cosines(stacked, pairs + shift)
    mixed += compute_cosines(stacked, pairs[:, ::-1] + shift)
    cosines = [compute_cosines(vectors, pairs) for vectors in (latent, one_step, two_steps)]
    return np.stack([*cosines, mixed], axis=1)


def share_latent(graph: Graph, context: Context) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, w) principal directions of the features, and these averaged over one and two steps."""
    return context.share(
        ("latent features", graph.content_hash), lambda shared: _blur_features(graph, shared)
    )


def _blur_features(graph: Graph, context: Context) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from sklearn.utils.extmath import randomized_svd

    features = weigh_features(graph)
    seed = int(context.rng("latent").integers(2**31))
    width = min(WIDTH, *features.shape)
    left, values, _ = randomized_svd(features, width, n_iter=3, random_state=seed)
    latent = np.asarray(left * values, dtype=np.float32)
    step = normalize_adjacency(graph.adjacency)
    one_step = step @ latent
    return latent, one_step, step @ one_step
