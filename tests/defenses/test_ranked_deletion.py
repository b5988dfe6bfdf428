"""Deletion by degree and by betweenness: the right links go, against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from core.context import Context
from core.defenses.betweenness_deletion import BetweennessDeletion, compute_edge_betweenness
from core.defenses.degree_deletion import DegreeDeletion
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import GRAPHS, two_communities


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_betweenness_equals_networkx(name):
    graph = GRAPHS[name]()
    expected = nx.edge_betweenness_centrality(graph.to_networkx(), normalized=False)
    found = compute_edge_betweenness(graph, np.arange(graph.num_nodes))
    np.testing.assert_allclose(
        found, [expected[tuple(edge)] for edge in graph.edges.tolist()], atol=1e-9
    )


def test_sampled_sources_estimate_the_betweenness_without_bias():
    graph = two_communities()
    exact = compute_edge_betweenness(graph, np.arange(40))
    parts = [compute_edge_betweenness(graph, part) for part in np.arange(40).reshape(4, 10)]
    np.testing.assert_allclose(np.mean(parts, axis=0), exact)


@pytest.mark.parametrize("defense", [DegreeDeletion, BetweennessDeletion])
@pytest.mark.parametrize("strength", [0.0, 0.25, 1.0])
def test_the_links_of_highest_score_go(defense, strength):
    graph = two_communities()
    release = defense(strength=strength).publish(graph, Threats(graph), Context(Seed(0)))
    removed = ~release.graph.contains_pairs(graph.edges)
    assert removed.sum() == round(strength * graph.num_edges)
    if defense is DegreeDeletion:
        scores = graph.degrees[graph.edges].sum(axis=1)
    else:
        scores = compute_edge_betweenness(graph, np.arange(40))
    if removed.any() and not removed.all():
        assert scores[removed].min() >= scores[~removed].max() - 1e-9


def test_bridges_between_communities_go_first_by_betweenness():
    graph = two_communities()
    side = np.arange(40) >= 20
    across = side[graph.edges[:, 0]] != side[graph.edges[:, 1]]
    release = BetweennessDeletion(strength=0.1).publish(graph, Threats(graph), Context(Seed(0)))
    removed = ~release.graph.contains_pairs(graph.edges)
    assert across[removed].mean() > 3 * across.mean()


def test_weights_of_the_remaining_links_stay():
    graph = GRAPHS["weighted"]()
    released = DegreeDeletion(strength=0.5).publish(graph, Threats(graph), Context(Seed(0))).graph
    kept = np.isin(graph.edge_codes, released.edge_codes)
    np.testing.assert_array_equal(released.weights, graph.weights[kept])
