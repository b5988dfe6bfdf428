"""Random walks against the transition probabilities that they must follow."""

from __future__ import annotations

import numpy as np
import pytest

from core.algorithms.walks import STOP, compute_cumulative, draw_below, make_state, walk
from core.graph import Graph
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS


def take_walks(graph, starts, length, p=1.0, q=1.0, seed=0):
    adjacency = graph.adjacency
    cumulative = compute_cumulative(adjacency, graph.weights is not None)
    return walk(
        adjacency.indptr,
        adjacency.indices,
        cumulative,
        np.asarray(starts),
        length,
        p,
        q,
        make_state(Seed(seed)),
    )


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_walks_follow_links_and_stop_only_at_dead_ends(name):
    graph = GRAPHS[name]()
    walks = take_walks(graph, np.arange(graph.num_nodes), 12, p=0.5, q=2.0)
    assert (walks[:, 0] == np.arange(graph.num_nodes)).all()
    steps = np.stack([walks[:, :-1].ravel(), walks[:, 1:].ravel()], 1)
    assert graph.contains_pairs(steps[(steps != STOP).all(axis=1)]).all()
    stopped = (walks == STOP).any(axis=1)
    np.testing.assert_array_equal(stopped, graph.degrees == 0)


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25)])
def test_second_order_steps_have_node2vec_probabilities(p, q):
    """From 1, come from 0: back to 0 (1/p), on to 2, linked to 0 (1), on to 3 or 4 (1/q)."""
    links = [[0, 1], [0, 2], [1, 2], [1, 3], [1, 4]]
    graph = Graph.from_pairs(links, 5, weights=np.array([1.0, 1.0, 1.0, 1.0, 3.0]))
    walks = take_walks(graph, np.zeros(40_000, int), 3, p, q)
    third = walks[walks[:, 1] == 1, 2]
    expected = np.array([1 / p, 0, 1, 1 / q, 3 / q])
    expected /= expected.sum()
    shares = np.bincount(third, minlength=5) / len(third)
    tolerance = 5 * np.sqrt(expected * (1 - expected) / len(third)) + 1e-12
    assert (abs(shares - expected) <= tolerance).all()


def test_links_of_weight_zero_are_never_walked():
    graph = Graph.from_pairs([[0, 1], [0, 2], [0, 3], [3, 4]], 5, weights=np.array([0, 1, 0, 0.0]))
    walks = take_walks(graph, np.repeat([0, 3], 500), 6)
    assert set(walks[:500].ravel()) == {0, 2}
    assert set(walks[500:, 1:].ravel()) == {STOP}


def test_walks_depend_on_the_seed_only():
    graph = GRAPHS["two_communities"]()
    starts = np.arange(graph.num_nodes)
    np.testing.assert_array_equal(*(take_walks(graph, starts, 20, seed=3) for _ in range(2)))
    assert (take_walks(graph, starts, 20, seed=3) != take_walks(graph, starts, 20, seed=4)).any()


def test_draws_are_uniform():
    state = make_state(Seed(0))
    counts = np.bincount([draw_below(state, 7) for _ in range(70_000)], minlength=7)
    assert len(counts) == 7
    assert abs(counts - 10_000).max() < 5 * np.sqrt(10_000)
