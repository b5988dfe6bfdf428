"""Means over sub-structures against listing every one of them."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from core.graph import Graph
from core.measures.link_scores import (
    SUBSTRUCTURES,
    compute_degree_means,
    compute_substructure_means,
)
from tests.oracles.graphs import clique, star, two_communities

SHAPES = dict(
    zip(
        SUBSTRUCTURES,
        (
            nx.path_graph(3),
            nx.complete_graph(3),
            nx.path_graph(4),
            nx.star_graph(3),
            nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)]),
            nx.cycle_graph(4),
            nx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
            nx.complete_graph(4),
        ),
        strict=True,
    )
)


def list_means(graph: Graph, scores: np.ndarray) -> dict[str, list[float]]:
    """The mean score of every induced occurrence, found by isomorphism."""
    whole = graph.to_networkx()
    for (i, j), score in zip(graph.edges.tolist(), scores, strict=True):
        whole.edges[i, j]["score"] = score
    found: dict[str, list[float]] = {name: [] for name in SHAPES}
    for size in (3, 4):
        for nodes in combinations(range(graph.num_nodes), size):
            part = whole.subgraph(nodes)
            for name, shape in SHAPES.items():
                if (
                    len(shape) == size
                    and part.size() == shape.size()
                    and nx.is_isomorphic(part, shape)
                ):
                    found[name].append(np.mean([d for *_, d in part.edges(data="score")]))
    return found


@pytest.mark.parametrize("make", [lambda: two_communities(18, seed=2), clique])
def test_draws_agree_with_listing_every_occurrence(make):
    graph = make()
    scores = np.random.default_rng(1).random(graph.num_edges) ** 3
    rng = np.random.default_rng(0)
    listed = list_means(graph, scores)
    for group in compute_substructure_means(graph, scores, rng, 40_000):
        values = listed[group.group]
        if group.mean.is_known:
            error = (group.mean.high - group.mean.low) / 3.92  # one standard error
            assert group.mean.value == pytest.approx(np.mean(values), abs=4 * error + 1e-12)
            assert error < 0.02
        else:
            assert len(values) < 5, group.group
    assert sum(bool(values) for values in listed.values()) >= 5


def test_equal_scores_have_equal_means():
    graph = two_communities()
    for group in compute_substructure_means(
        graph, np.full(graph.num_edges, 0.3), np.random.default_rng(0), 2000
    ):
        assert not group.mean.is_known or group.mean.value == pytest.approx(0.3)


def test_a_star_has_wedges_and_stars_only():
    groups = compute_substructure_means(star(), np.ones(20), np.random.default_rng(0), 500)
    assert [g.group for g in groups if g.mean.is_known] == ["wedge", "star of 4"]
    lone = Graph.from_pairs(np.array([[0, 1]]), 3)
    assert not any(
        g.mean.is_known
        for g in compute_substructure_means(lone, np.ones(1), np.random.default_rng(0))
    )


def test_degree_means_count_each_link_at_both_ends():
    graph = two_communities()
    scores = np.arange(graph.num_edges) / graph.num_edges
    groups = {g.group: g.mean for g in compute_degree_means(graph, scores)}
    chosen = [
        scores[e]
        for e, pair in enumerate(graph.edges)
        for node in pair
        if 3 <= graph.degrees[node] <= 5
    ]
    assert groups["3–5"].value == pytest.approx(np.mean(chosen))
    assert sum(mean.n for mean in groups.values()) == 2 * graph.num_edges
