"""Twins of syntheses that take a graph: they see the number of links, and no link."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.context import Context
from core.graph import Graph
from core.privacy.guarantees import draw_uniform_graph
from core.registry import make_method
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities


def test_the_number_of_links_is_kept_and_all_pairs_are_equally_likely():
    graph = Graph.from_pairs(np.array([[0, 1], [0, 2], [0, 3], [0, 4]]), num_nodes=6)
    counts = np.zeros((6, 6))
    for seed in range(600):
        drawn = draw_uniform_graph(graph, Context(Seed(seed)))
        assert drawn.num_edges == 4
        counts[tuple(drawn.edges.T)] += 1
    seen = counts[np.triu_indices(6, 1)]
    assert counts.sum() == seen.sum()
    assert stats.chisquare(seen).pvalue > 1e-3


@pytest.mark.parametrize("key", ["ldpgen", "priv_graph"])
def test_a_twin_is_the_same_for_any_graph_with_as_many_links(key):
    graph = two_communities(40)
    other = draw_uniform_graph(graph, Context(Seed(5)))
    assert len(np.intersect1d(graph.edge_codes, other.edge_codes)) < graph.num_edges / 2
    independent = make_method(key, {"data_free": True, "epsilon": 20.0})
    first, second = (independent.publish(g, Threats(g), Context(Seed(1))) for g in (graph, other))
    np.testing.assert_array_equal(first.graph.edges, second.graph.edges)
    assert "only the number of links" in first.guarantee.note
    real = make_method(key, {"epsilon": 20.0}).publish(graph, Threats(graph), Context(Seed(1)))
    assert "number of links" not in real.guarantee.note
