"""Path sums of pair features against the sparse products that they replace."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.algorithms.path_sums import sum_paths
from core.attacks.link.katz import compute_katz
from core.attacks.link.pair_features import compute_short_katz
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


@pytest.mark.parametrize("budget", [64 * 40, 1 << 30])
@pytest.mark.parametrize("weights", [None, (0.0, 0.3, 0.7, 1.0)])
def test_path_sums_equal_the_sparse_product_to_the_last_bit(weights, budget):
    graph = make_graph(weights)
    pairs = draw_pairs(graph)
    matrix = sparse.csr_array(graph.adjacency, dtype=np.float64)
    scale = np.random.default_rng(2).random(graph.num_nodes)
    rows = sparse.csr_array(matrix @ sparse.diags_array(scale))
    left, right = (rows[pairs[:, 0]] @ matrix) * 0.3, rows[pairs[:, 1]]
    expected = np.asarray(left.multiply(right).sum(axis=1)).ravel()
    found = sum_paths(rows, matrix, pairs, Context(Seed(0), memory_budget=budget), factor=0.3)
    np.testing.assert_array_equal(found, expected)
    dense = rows.toarray() @ matrix.toarray() @ rows.toarray().T * 0.3
    np.testing.assert_allclose(found, dense[tuple(pairs.T)])


@pytest.mark.parametrize("budget", [64 * 40, 1 << 30])
@pytest.mark.parametrize("weights", [None, (0.0, 0.3, 0.7, 1.0)])
def test_short_katz_equals_katz_to_the_last_bit(weights, budget):
    graph = make_graph(weights)
    pairs, context = draw_pairs(graph), Context(Seed(0), memory_budget=budget)
    expected = compute_katz(graph, pairs, 0.5, 3, context)
    np.testing.assert_array_equal(compute_short_katz(graph, pairs, 0.5, context), expected)


def test_a_graph_without_links_has_no_paths():
    graph = Graph.from_pairs(np.zeros((0, 2), np.int64), 5)
    pairs = np.array([[0, 1], [3, 2]])
    assert not compute_short_katz(graph, pairs, 0.5, Context(Seed(0))).any()
