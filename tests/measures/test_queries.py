"""The queries of PGB against NetworkX and PGB's own formulas."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from core.audit.computing.measuring import measure_release
from core.context import Context
from core.graph import Graph
from core.measures import queries
from core.measures.metrics import METRICS, QUERIES, QUERY_METRICS
from core.measures.queries import (
    compute_centralities,
    compute_kl,
    compute_modularity,
    measure_queries,
)
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import GRAPHS


def context(seed=0):
    return Context(Seed(seed))


def find(measurements):
    return {m.metric: m for m in measurements}


def from_networkx(g):
    return Graph.from_pairs(np.array(g.edges), len(g))


def answer(graph):
    """What PGB's code computes, by NetworkX."""
    g = graph.to_networkx()
    degrees = np.array([d for _, d in g.degree])
    steps = [s for _, found in nx.all_pairs_shortest_path_length(g) for s in found.values()]
    connected = [s for s in steps if s]
    return {
        "num_nodes": len(g),
        "num_links": g.number_of_edges(),
        "mean_degree": degrees.mean(),
        "degree_variance": degrees.var(ddof=1),
        "longest_distance": max(
            nx.diameter(g.subgraph(part)) for part in nx.connected_components(g)
        ),
        "mean_distance": np.mean(connected),
        "global_clustering": nx.transitivity(g),
        "assortativity": nx.degree_assortativity_coefficient(g),
        "degrees": np.bincount(degrees),
        "distances": np.bincount(steps),
        "centrality": sorted(
            nx.eigenvector_centrality(g, max_iter=100_000, tol=1e-12).values(), reverse=True
        ),
    }


def pgb_kl(a, b):
    """cal_kl of PGB's utils.py."""
    p, q = a / sum(a), b / sum(b)
    if len(a) > len(b):
        q = np.pad(q, (0, len(p) - len(q)))
    elif len(a) < len(b):
        p = np.pad(p, (0, len(q) - len(p)))
    eps = np.finfo(np.float64).eps
    return np.sum(p * np.log((p + eps) / (q + eps)))


@pytest.fixture(scope="module")
def pair():
    """A clustered graph with a second component, and a sparser one of other communities."""
    g = nx.disjoint_union(nx.powerlaw_cluster_graph(120, 3, 0.6, seed=1), nx.path_graph(9))
    h = nx.disjoint_union(nx.barabasi_albert_graph(120, 2, seed=2), nx.cycle_graph(9))
    return from_networkx(g), from_networkx(h)


def test_every_query_equals_networkx(pair):
    found = find(measure_queries(*pair, context()))
    old, new = map(answer, pair)
    for name in (*QUERIES,):
        if name != "modularity":
            expected = abs(new[name] - old[name]) / abs(old[name])
            assert found[f"mre_{name}"].value == pytest.approx(expected), name
    assert found["degree_kl"].value == pytest.approx(pgb_kl(old["degrees"], new["degrees"]))
    assert found["distance_kl"].value == pytest.approx(pgb_kl(old["distances"], new["distances"]))
    top = int(0.01 * 129)
    gap = np.abs(np.array(old["centrality"]) - np.array(new["centrality"]))[:top].mean()
    assert found["eigenvector_mae"].value == pytest.approx(gap, rel=1e-4)
    assert all(item.variance == 0 for item in found.values())


def test_communities_are_compared_by_modularity_and_nmi(pair):
    found = find(measure_queries(*pair, context()))
    labels = [queries._share_answers(graph, context()).communities for graph in pair]
    values = []
    for graph, own in zip(pair, labels, strict=True):
        parts = [set(np.flatnonzero(own == label)) for label in np.unique(own)]
        values.append(nx.community.modularity(graph.to_networkx(), parts))
        assert compute_modularity(graph, own) == pytest.approx(values[-1])
    error = abs(values[1] - values[0]) / values[0]
    assert found["mre_modularity"].value == pytest.approx(error)
    assert found["community_nmi"].value == normalized_mutual_info_score(*labels)


def test_a_graph_equals_itself_and_every_query_has_a_title(pair):
    found = find(measure_queries(pair[0], pair[0], context()))
    assert set(found) == {f"mre_{name}" for name in QUERIES} | {m.key for m in QUERY_METRICS}
    assert set(found) <= set(METRICS)
    nmi = found.pop("community_nmi")
    assert nmi.value == 1
    assert {item.value for item in found.values()} == {0}


def test_centralities_are_the_limit_of_power_iteration():
    tie = nx.disjoint_union(nx.star_graph(9), nx.star_graph(9))  # two equal largest eigenvalues
    wide = nx.disjoint_union(nx.star_graph(49), nx.star_graph(49))
    for g in (tie, wide, nx.karate_club_graph()):
        bare = nx.Graph(g.edges)
        expected = nx.eigenvector_centrality(bare, max_iter=100_000, tol=1e-13).values()
        found = compute_centralities(from_networkx(bare))
        np.testing.assert_allclose(found, sorted(expected, reverse=True), atol=1e-6)


def test_kl_is_zero_for_equal_shares_and_dear_for_what_is_missing():
    assert compute_kl(np.array([1, 1]), np.array([5, 5])) == 0
    assert compute_kl(np.array([1, 1]), np.array([1])) == pytest.approx(
        pgb_kl(np.array([1, 1]), np.array([1]))
    )
    assert compute_kl(np.array([1, 1]), np.array([1])) > 15
    assert np.isnan(compute_kl(np.array([1]), np.array([0])))


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_every_shape_of_graph_has_a_number_or_a_reason(name):
    graph = GRAPHS[name]()
    for other in (graph, graph.with_edges(np.zeros((0, 2), int))):
        for item in measure_queries(graph, other, context()):
            assert (item.value is None) == bool(item.reason)
            assert item.value is None or np.isfinite(item.value)


def test_sampled_distances_have_an_interval_that_holds_the_exact_ones(monkeypatch):
    g = from_networkx(nx.connected_watts_strogatz_graph(400, 4, 0.05, seed=1))
    h = from_networkx(nx.connected_watts_strogatz_graph(400, 4, 0.2, seed=1))
    exact = find(measure_queries(g, h, context()))
    monkeypatch.setattr(queries, "EXACT_STEPS", 1)
    inside = {"mre_mean_distance": 0, "distance_kl": 0}
    for seed in range(20):
        found = find(measure_queries(g, h, context(seed)))
        for metric in inside:
            assert found[metric].variance > 0
            gap = abs(found[metric].value - exact[metric].value)
            inside[metric] += gap <= 2 * found[metric].variance ** 0.5
    assert min(inside.values()) >= 16


@pytest.mark.parametrize(
    ("key", "is_told"),
    [("tmf", True), ("dp_1k", False), ("priv_skg", False), ("node_private", False)],
)
def test_communities_are_not_compared_where_nodes_are_drawn_at_random(key, is_told):
    graph = GRAPHS["two_communities"]()
    release = make_method(key, {}, "defense").publish(graph, Threats(graph), context())
    assert isinstance(release, Release)
    measured, _ = measure_release("queries", release, Threats(graph), context())
    nmi = find(measured)["community_nmi"]
    assert (nmi.value is not None) == is_told
    assert is_told or "drawn at random" in nmi.reason
