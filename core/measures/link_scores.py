"""Learned link scores of a defense, by degree and by small sub-structure (GPS, Fig. 6).

The eight connected graphs on three and four nodes, as induced subgraphs. There are too many to
enumerate, so occurrences are sampled uniformly: a wedge by its centre, a path of three links by its
middle link (Jha, Seshadhri and Pinar, Path sampling, WWW 2015), a star by its centre. Each
occurrence of one kind contains the same number of such wedges, paths or stars, so that all
occurrences of a kind are equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.arrays import find_places, pair_codes
from core.graph import Graph
from core.measures.intervals import combine_measurements, measure_mean
from core.results import Estimate

SUBSTRUCTURES = (
    "wedge",
    "triangle",
    "path of 4",
    "star of 4",
    "tailed triangle",
    "cycle of 4",
    "chordal cycle",
    "clique of 4",
)
"""The eight kinds, sparse to dense among those of equal size."""

NUM_DRAWS = 100_000
"""Number of draws of each of the three kinds."""

MIN_DRAWS = 30
"""Fewest occurrences for a mean to be reported."""

DEGREE_BINS = (1, 2, 3, 6, 11, 21, 51, 101)


@dataclass(frozen=True)
class GroupMean:
    """Mean score of the links in one group; n: links, or sampled occurrences."""

    group: str
    mean: Estimate


def compute_degree_means(graph: Graph, scores: np.ndarray) -> list[GroupMean]:
    """Mean link score per degree range of a node; a link counts at both ends."""
    degrees, values = graph.degrees[graph.edges].ravel(), np.repeat(scores, 2)
    groups = []
    for low, high in zip(DEGREE_BINS, (*DEGREE_BINS[1:], np.inf), strict=True):
        in_range = values[(degrees >= low) & (degrees < high)]
        if len(in_range):
            groups.append(GroupMean(_format_range(low, high), _estimate(in_range)))
    return groups


def _format_range(low: int, high: float) -> str:
    if high == np.inf:
        return f"{low}+"
    return str(low) if high == low + 1 else f"{low}–{int(high) - 1}"


def compute_substructure_means(
    graph: Graph, scores: np.ndarray, rng: np.random.Generator, num_draws: int = NUM_DRAWS
) -> list[GroupMean]:
    """Per kind, the mean over its occurrences of the mean link score.

    scores (m,) in the order of `graph.edges`. The interval covers the sampling of occurrences; a
    kind with too few draws has no value, and a reason.
    """
    found: dict[str, list[np.ndarray]] = {name: [] for name in SUBSTRUCTURES}
    for nodes, names in (
        (_draw_stars(graph, 2, num_draws, rng), ("wedge", "triangle")),
        (_draw_paths(graph, num_draws, rng), SUBSTRUCTURES[2:]),
        (_draw_stars(graph, 3, num_draws, rng), ("star of 4",)),
    ):
        if len(nodes):
            kinds, means = _classify(graph, scores, nodes)
            for name in names:
                if name != "star of 4" or len(names) == 1:
                    found[name].append(means[kinds == SUBSTRUCTURES.index(name)])
    return [
        GroupMean(name, _estimate(np.concatenate(found[name] or [np.zeros(0)]), MIN_DRAWS))
        for name in SUBSTRUCTURES
    ]


def _classify(graph: Graph, scores: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kind of each connected induced sub-graph (k, 3 or 4 nodes), and its links' mean score."""
    size = nodes.shape[1]
    left, right = np.triu_indices(size, 1)
    codes = pair_codes(np.stack([nodes[:, left], nodes[:, right]], axis=2), graph.num_nodes)
    codes = codes.reshape(len(nodes), -1)
    positions = find_places(codes, graph.edge_codes)
    is_link = positions >= 0
    count = is_link.sum(axis=1)
    means = np.where(is_link, scores[positions], 0.0).sum(axis=1) / count
    if size == 3:
        return count - 2, means
    degrees = np.zeros((len(nodes), 4), np.int64)
    for pair, (a, b) in enumerate(zip(left, right, strict=True)):
        degrees[:, a] += is_link[:, pair]
        degrees[:, b] += is_link[:, pair]
    has_hub = degrees.max(axis=1) == 3  # tells star from path, and tailed triangle from cycle
    kinds = np.select(
        [count == 3, count == 4, count == 5],
        [np.where(has_hub, 3, 2), np.where(has_hub, 4, 5), np.full(len(nodes), 6)],
        7,
    )
    return kinds, means


def _draw_stars(graph: Graph, leaves: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, 1 + leaves) nodes of uniform stars, leaves linked or not; empty if the graph has
    none."""
    degrees = graph.degrees.astype(float)
    weights = np.ones(graph.num_nodes)
    for num_chosen in range(leaves):
        weights *= np.maximum(degrees - num_chosen, 0)
    if not weights.any():
        return np.zeros((0, 1 + leaves), np.int64)
    centers = rng.choice(graph.num_nodes, count, p=weights / weights.sum())
    positions = np.zeros((count, 0), np.int64)
    for num_chosen in range(leaves):
        position = (rng.random(count) * (graph.degrees[centers] - num_chosen)).astype(np.int64)
        for earlier in np.sort(positions, axis=1).T:  # step over what is taken, lowest first
            position += position >= earlier
        positions = np.column_stack([positions, position])
    return np.column_stack([centers, *(_find_neighbors(graph, centers, p) for p in positions.T)])


def _draw_paths(graph: Graph, count: int, rng: np.random.Generator) -> np.ndarray:
    """(k ≤ count, 4) nodes of uniform paths of three links; closed walks are dropped."""
    i, j = graph.edges.T
    num_paths = (graph.degrees[i] - 1.0) * (graph.degrees[j] - 1.0)
    if not num_paths.any():
        return np.zeros((0, 4), np.int64)
    middle = rng.choice(graph.num_edges, count, p=num_paths / num_paths.sum())
    ends = []
    for inner, outer in ((i[middle], j[middle]), (j[middle], i[middle])):
        position = (rng.random(count) * (graph.degrees[inner] - 1)).astype(np.int64)
        position += position >= _find_place(graph, inner, outer)
        ends.append(_find_neighbors(graph, inner, position))
    nodes = np.column_stack([ends[0], i[middle], j[middle], ends[1]])
    return np.asarray(nodes[ends[0] != ends[1]])


def _find_neighbors(graph: Graph, nodes: np.ndarray, places: np.ndarray) -> np.ndarray:
    adjacency = graph.adjacency
    return np.asarray(adjacency.indices[adjacency.indptr[nodes] + places].astype(np.int64))


def _find_place(graph: Graph, nodes: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    """(k,) position of each neighbour in its node's sorted list."""
    adjacency, n = graph.adjacency, graph.num_nodes
    rows = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    codes = rows * n + adjacency.indices
    return np.asarray(np.searchsorted(codes, nodes * n + neighbors) - adjacency.indptr[nodes])


def _estimate(values: np.ndarray, min_count: int = 1) -> Estimate:
    if len(values) < min_count:
        return Estimate(None, None, None, len(values), 1, "too few of them in this graph")
    return combine_measurements([measure_mean("link_score", values)])
