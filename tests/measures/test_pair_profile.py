from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import cosine_similarity

from core.context import Context
from core.errors import RunCancelled
from core.graph import Graph
from core.measures import pair_profile
from core.measures.metrics import METRICS
from core.measures.pair_profile import compute_path_lengths, measure_pair_profile
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS, make_threats, two_communities
from tests.oracles.progress import RecordingProgress


def profile(graph, threats, seed=0):
    found: dict[str, dict] = {"visible": {}, "hidden": {}, "absent": {}}
    for item in measure_pair_profile(graph, threats.link, Context(Seed(seed))):
        metric, _, kind = item.metric.rpartition("_")
        found[kind][metric] = item
    return found


@given(st.integers(0, 10**6), st.integers(2, 30))
@settings(max_examples=40)
def test_path_lengths_equal_networkx(seed, n):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n, (n, 2))
    weights = rng.choice([0.0, 0.5], n) if seed % 2 else None
    graph = Graph.from_pairs(pairs, n, weights=weights)
    asked = rng.integers(0, n, (15, 2))
    g = graph.to_networkx()
    g.remove_edges_from([(a, b) for a, b, w in g.edges(data="weight", default=1) if w == 0])
    expected = [nx.shortest_path_length(g, a, b) if nx.has_path(g, a, b) else -1 for a, b in asked]
    np.testing.assert_array_equal(compute_path_lengths(graph, asked, Context(Seed(0))), expected)


def test_hidden_links_lie_between_visible_links_and_non_links():
    threats = make_threats(two_communities(120))
    found = profile(threats.visible, threats)
    order = [found[kind] for kind in ("visible", "hidden", "absent")]
    paths = [kind["pair_path_length"].value for kind in order]
    assert paths[0] == 1
    assert 1 < paths[1] < paths[2]
    assert found["visible"]["pair_disconnected"].value == 0


@pytest.mark.parametrize("is_sparse", [False, True])
def test_feature_cosine_equals_sklearn(is_sparse):
    graph = two_communities()
    features = graph.dense_features().copy()
    features[3] = 0
    stored = sparse.csr_array(features) if is_sparse else features
    threats = make_threats(graph.update_columns(features=stored))
    pairs = threats.link.absent
    expected = cosine_similarity(features)[pairs[:, 0], pairs[:, 1]].mean()
    found = profile(threats.visible, threats)["absent"]["pair_feature_cosine"]
    assert found.value == pytest.approx(expected, abs=1e-5)
    assert found.n == len(pairs)


@pytest.mark.parametrize("name", ["two_components", "star", "weighted", "isolated_node"])
def test_every_graph_gives_values_or_reasons_and_the_same_ones_again(name):
    threats = make_threats(GRAPHS[name]())
    found = profile(threats.visible, threats)
    assert found == profile(threats.visible, threats)
    for kind in found.values():
        for m in kind.values():
            assert (m.value is None) == bool(m.reason)


def test_no_pairs_and_many_pairs(monkeypatch):
    graph, nobody = two_communities(), np.zeros((0, 2), int)
    threats = replace(make_threats(graph), link=LinkThreat(nobody, nobody, 0.0))
    assert all(m.reason for m in profile(graph, threats)["hidden"].values())
    monkeypatch.setattr(pair_profile, "MAX_PAIRS", 10)
    assert profile(graph, threats)["visible"]["pair_path_length"].n == 10


def test_the_list_of_an_audit_holds_the_profile_with_given_embeddings():
    graph = two_communities()
    threats = make_threats(graph)
    vectors = np.random.default_rng(0).normal(size=(graph.num_nodes, 3))
    found = {
        m.metric: m
        for m in measure_pair_profile(threats.visible, threats.link, Context(Seed(0)), vectors)
    }
    by_kind = profile(threats.visible, threats)
    for kind, items in by_kind.items():
        for metric, m in items.items():
            assert found[f"{metric}_{kind}"].value == m.value
    pairs = threats.link.hidden
    expected = cosine_similarity(vectors)[pairs[:, 0], pairs[:, 1]].mean()
    assert found["pair_embedding_cosine_hidden"].value == pytest.approx(expected)
    assert set(found) < set(METRICS)
    bare = measure_pair_profile(
        threats.visible.update_columns(features=None), threats.link, Context(Seed(0))
    )
    assert {m.metric.rpartition("_")[0] for m in bare} == {"pair_path_length", "pair_disconnected"}


def test_large_graphs_sample_fewer_pairs(monkeypatch):
    graph = two_communities(400)
    absent = np.stack(np.triu_indices(400, 200), 1)[:3000]
    monkeypatch.setattr(pair_profile, "MAX_STEPS", 500 * (graph.adjacency.nnz + 400))
    threat = LinkThreat(graph.edges, absent, 0.1)

    def count():
        found = measure_pair_profile(graph, threat, Context(Seed(0)))
        return {m.n for m in found if m.metric == "pair_disconnected_absent"}

    assert count() == {500}
    monkeypatch.setattr(pair_profile, "MAX_STEPS", 1)
    assert count() == {pair_profile.MIN_PAIRS}


def test_cancelled():
    threats = make_threats(two_communities())
    context = Context(Seed(0), progress=RecordingProgress(lambda: True))
    with pytest.raises(RunCancelled):
        measure_pair_profile(threats.visible, threats.link, context)
