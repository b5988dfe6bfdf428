"""Path sums of pair features against dense products and Katz."""

from __future__ import annotations

import numpy as np
import pytest

from core.algorithms import path_sums
from core.attacks.link.katz import compute_katz
from core.attacks.link.pair_features import DECAY, compute_path_scores
from core.context import Context
from core.graph import Graph
from core.seeding import Seed


def make_graph(weights, n=60, seed=0):
    """A graph with an isolated node; weights None, or drawn from those given."""
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(rng.integers(1, n, (4 * n, 2)), n)
    if weights is None:
        return graph
    return graph.with_edges(graph.edges, rng.choice(weights, graph.num_edges))


def draw_pairs(graph, seed=1):
    """Pairs in any direction, some of them twice, links among them."""
    pairs = np.random.default_rng(seed).integers(0, graph.num_nodes, (400, 2))
    pairs = np.concatenate([pairs[pairs[:, 0] != pairs[:, 1]], graph.edges[:50]])
    return np.concatenate([pairs, pairs[::-1, ::-1][:60]])


@pytest.mark.parametrize("tile", [40, 50_000_000])
@pytest.mark.parametrize("weights", [None, (0.0, 0.3, 0.7, 1.0)])
def test_path_sums_equal_dense_products(weights, tile, monkeypatch):
    graph = make_graph(weights)
    pairs = draw_pairs(graph)
    scale = np.random.default_rng(2).random(graph.num_nodes)
    monkeypatch.setattr(path_sums, "TILE", tile)
    found = path_sums.sum_paths(graph.adjacency, scale, pairs, Context(Seed(0)))
    matrix = graph.adjacency.toarray().astype(float)
    dense = matrix @ matrix, matrix @ matrix @ matrix, matrix * scale @ matrix * scale @ matrix
    expected = np.stack([product[tuple(pairs.T)] for product in dense], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weights", [None, (0.0, 0.3, 0.7, 1.0)])
def test_katz_equals_that_of_walks_of_three_links(weights):
    graph = make_graph(weights)
    pairs, context = draw_pairs(graph), Context(Seed(0))
    katz, _ = compute_path_scores(graph, pairs, context)
    np.testing.assert_allclose(katz, compute_katz(graph, pairs, DECAY, 3, context), rtol=1e-12)


@pytest.mark.parametrize("weights", [None, (0.0, 0.3, 0.7, 1.0)])
def test_paths_of_three_links_avoid_hubs(weights):
    graph = make_graph(weights)
    pairs = draw_pairs(graph)
    matrix = graph.adjacency.toarray().astype(float)
    total = matrix.sum(axis=1)
    scale = np.divide(1, np.sqrt(total), out=np.zeros_like(total), where=total > 0)
    expected = (matrix * scale) @ matrix @ (scale[:, None] * matrix)
    _, three_paths = compute_path_scores(graph, pairs, Context(Seed(0)))
    np.testing.assert_allclose(three_paths, expected[tuple(pairs.T)], atol=1e-12)


def test_a_graph_without_links_has_no_paths():
    graph = Graph.from_pairs(np.zeros((0, 2), np.int64), 5)
    pairs = np.array([[0, 1], [3, 2]])
    assert not np.any(compute_path_scores(graph, pairs, Context(Seed(0))))
