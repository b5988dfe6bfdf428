"""Neighbourhood scores against NetworkX, worked examples and the order of the pairs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from core.attacks.link import heuristics
from core.context import Context, SharedWork
from core.graph import Graph
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS
from tests.oracles.progress import RecordingProgress

NETWORKX = {
    "adamic_adar": nx.adamic_adar_index,
    "resource_allocation": nx.resource_allocation_index,
    "jaccard": nx.jaccard_coefficient,
    "preferential_attachment": nx.preferential_attachment,
    "degree_product": nx.preferential_attachment,
    "common_neighbors": lambda graph, pairs: (
        (i, j, len(set(graph[i]) & set(graph[j]))) for i, j in pairs
    ),
}


def score(key, graph, pairs, context=None):
    threat = LinkThreat(np.asarray(pairs), np.empty((0, 2), np.int64), 0.1)
    return make_method(key).score(Release(graph), threat, context or Context(Seed(0))).scores


def random_graph(n, m, seed=0):
    rng = np.random.default_rng(seed)
    hubs = rng.integers(0, 5, (m // 4, 1))
    pairs = np.concatenate(
        [rng.integers(0, n, (m, 2)), np.hstack([hubs, rng.integers(0, n, (m // 4, 1))])]
    )
    return Graph.from_pairs(pairs, n)


def random_pairs(n, count, seed=1):
    pairs = np.random.default_rng(seed).integers(0, n, (count, 2))
    return pairs[pairs[:, 0] != pairs[:, 1]]


@pytest.mark.parametrize("key", NETWORKX)
def test_equals_networkx_on_a_thousand_pairs(key):
    graph = random_graph(300, 3000)
    pairs = random_pairs(300, 1004)[:1000]
    assert len(pairs) == 1000
    expected = [s for _, _, s in NETWORKX[key](graph.to_networkx(), pairs.tolist())]
    # NetworkX adds in the order of a set; only the last bit of a sum may depend on that.
    np.testing.assert_allclose(score(key, graph, pairs), expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("key", NETWORKX)
@pytest.mark.parametrize("name", ["star", "isolated_node", "clique"])
def test_equals_networkx_on_every_pair_of_odd_graphs(key, name):
    graph = GRAPHS[name]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)
    expected = [s for _, _, s in NETWORKX[key](graph.to_networkx(), pairs.tolist())]
    np.testing.assert_allclose(score(key, graph, pairs), expected, rtol=1e-14, atol=0)


def test_weights_act_as_link_probabilities():
    """Path 0–2–1 with weights ½ and ¼, twice: the counts are expected counts."""
    graph = Graph.from_pairs(
        [[0, 2], [2, 1], [0, 3], [3, 1]], 4, weights=np.array([0.5, 0.25, 1.0, 1.0])
    )
    pair = [[0, 1]]
    assert score("common_neighbors", graph, pair) == [0.5 * 0.25 + 1.0]
    assert score("resource_allocation", graph, pair) == [1.125 / 2]
    assert score("adamic_adar", graph, pair) == pytest.approx([1.125 / np.log(2)])
    assert score("jaccard", graph, pair) == pytest.approx([1.25 / 1.5])
    assert score("preferential_attachment", graph, pair) == [1.5 * 1.25]


def test_weighted_sums_equal_matrix_products():
    graph = GRAPHS["weighted"]()
    dense = graph.adjacency.toarray().astype(float)
    strengths = np.maximum(dense.sum(axis=1), 2)
    i, j = np.triu_indices(graph.num_nodes, 1)
    sums = heuristics.compute_neighbor_sums(graph, np.stack([i, j], 1), Context(Seed(0)))
    np.testing.assert_allclose(sums.count, (dense @ dense)[i, j])
    np.testing.assert_allclose(sums.inverse, (dense / strengths @ dense)[i, j], rtol=1e-6)
    np.testing.assert_allclose(sums.log, (dense / np.log(strengths) @ dense)[i, j], rtol=1e-6)
    np.testing.assert_allclose(sums.overlap, np.minimum(dense[i], dense[j]).sum(axis=1))


@pytest.mark.parametrize("hub", [0, 250])
def test_sums_equal_products_of_rows_to_the_last_bit(hub):
    rng = np.random.default_rng(hub)
    pairs = rng.integers(0, 300, (1500, 2))
    pairs[:hub, 0] = 7  # a long list beside short ones
    graph = Graph.from_pairs(pairs, 300, weights=rng.random(1500))
    asked = rng.integers(0, 300, (2000, 2))
    asked[:200, 0] = 7
    sums = heuristics.compute_neighbor_sums(graph, asked, Context(Seed(0)))
    matrix = graph.adjacency.astype(np.float64)
    left, right = matrix[asked[:, 0]], matrix[asked[:, 1]]
    strengths = np.maximum(graph.strengths, 2.0)
    for name, factor in (("count", 1 + 0 * strengths), ("log", 1 / np.log(strengths))):
        np.testing.assert_array_equal(getattr(sums, name), left.multiply(right) @ factor)
    np.testing.assert_array_equal(sums.inverse, left.multiply(right) @ (1 / strengths))
    np.testing.assert_array_equal(sums.overlap, left.minimum(right).sum(axis=1))


def test_tiles_do_not_change_the_sums(monkeypatch):
    graph, pairs = random_graph(100, 800), random_pairs(100, 300)
    whole = heuristics.compute_neighbor_sums(graph, pairs, Context(Seed(0)))
    monkeypatch.setattr(heuristics, "TILE", 50)
    progress = RecordingProgress()
    tiled = heuristics.compute_neighbor_sums(graph, pairs, Context(Seed(0), progress=progress))
    assert len(progress.updates) > 50
    for name in ("count", "log", "inverse", "overlap"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(tiled, name))


def test_one_pass_serves_all_scores(monkeypatch):
    calls = []
    compute = heuristics.compute_neighbor_sums
    monkeypatch.setattr(
        heuristics, "compute_neighbor_sums", lambda *args: calls.append(1) or compute(*args)
    )
    graph, pairs = random_graph(50, 200), random_pairs(50, 30)
    shared = SharedWork()
    for key in ("common_neighbors", "adamic_adar", "resource_allocation", "jaccard"):
        score(key, graph, pairs, Context(Seed(0).child(key), shared=shared))
    assert len(calls) == 1


def test_feature_cosine_equals_the_formula_on_dense_and_sparse_features(monkeypatch):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.4)
    features[3] = 0
    from scipy import sparse

    pairs = np.stack(np.triu_indices(20, 1), 1)
    features = features.astype(np.float32)
    lengths = np.linalg.norm(features.astype(float), axis=1)
    lengths[lengths == 0] = 1
    unit = features / lengths[:, None]
    expected = (unit[pairs[:, 0]] * unit[pairs[:, 1]]).sum(axis=1)
    for values in (features, sparse.csr_array(features)):
        graph = Graph.from_pairs([[0, 1]], 20, features=values)
        small = Context(Seed(0), memory_budget=1000)
        np.testing.assert_allclose(
            score("feature_cosine", graph, pairs, small), expected, atol=1e-7
        )


def test_feature_cosine_declines_a_graph_without_features():
    graph = GRAPHS["star"]()
    threat = LinkThreat(np.array([[0, 1]]), np.array([[2, 3]]), 0.1)
    assert "needs features" in make_method("feature_cosine").supports(Release(graph), threat)
