"""EdgeRand: flip rates, refusal before allocation, guarantee."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from core.arrays import pair_codes
from core.context import Context
from core.defenses.edge_rand import EdgeRand
from core.errors import ResourceError
from core.graph import Graph
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities, weighted


def publish(graph, epsilon, **settings):
    return EdgeRand(epsilon=epsilon).publish(graph, Threats(graph), Context(**settings))


def random_graph(n, num_links, seed=0):
    pairs = np.random.default_rng(seed).integers(0, n, (num_links, 2))
    return Graph.from_pairs(pairs, n)


def test_flip_rates_of_links_and_non_links_fit_epsilon():
    graph = random_graph(600, 30_000)
    flip = 1 / (1 + math.exp(2.0))
    release = publish(graph, 2.0, seed=Seed(5)).graph
    kept = np.isin(graph.edge_codes, release.edge_codes).sum()
    added = release.num_edges - kept
    non_links = graph.num_pairs - graph.num_edges
    assert stats.binomtest(int(kept), graph.num_edges, 1 - flip).pvalue > 1e-4
    assert stats.binomtest(int(added), non_links, flip).pvalue > 1e-4


def test_any_one_link_is_hidden_by_the_noise_as_promised():
    """Rates of a pair's bit on two neighbouring graphs stay within e^±ε."""
    graph = two_communities(12)
    i, j = graph.edges[0]
    other = graph.without_edges(np.array([[i, j]]))
    code = pair_codes(np.array([[i, j]]), 12)[0]
    shares = []
    for candidate in (graph, other):
        hits = sum(
            code in publish(candidate, 1.0, seed=Seed(r)).graph.edge_codes for r in range(1500)
        )
        shares.append(hits / 1500)
    assert shares[0] / shares[1] == pytest.approx(math.e, rel=0.25)
    assert (1 - shares[1]) / (1 - shares[0]) == pytest.approx(math.e, rel=0.25)


def test_large_budget_publishes_the_graph_itself():
    graph = two_communities()
    release = publish(graph, 60.0, seed=Seed(0))
    np.testing.assert_array_equal(release.graph.edges, graph.edges)


def test_refuses_before_allocating_and_names_the_expected_count():
    graph = random_graph(100_000, 500_000)
    tracemalloc.start()
    with pytest.raises(ResourceError, match=r"about 1,34\d,\d{3},\d{3} links expected"):
        publish(graph, 1.0, seed=Seed(0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_guarantee_names_unit_relation_budget_and_what_is_left_open():
    guarantee = publish(two_communities(), 3.0, seed=Seed(0)).guarantee
    assert guarantee.label == "edge-DP, ε = 3"
    assert guarantee.trust == "central"
    assert "one undirected link" in guarantee.relation
    assert "node features" in guarantee.not_covered


def test_publishing_keeps_weights_out():
    graph = weighted()
    release = publish(graph, 3.0, seed=Seed.from_entropy(), is_publishing=True)
    assert release.graph.weights is None
