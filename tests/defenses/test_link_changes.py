"""Weights of links that a defense adds: nothing tells them from real ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.context import Context
from core.defenses.dice import Dice
from core.defenses.k_degree_anonymity import KDegreeAnonymity
from core.defenses.link_changes import draw_weights
from core.defenses.ppne import Ppne
from core.defenses.uniqueness_aware import UniquenessAware
from core.graph import Graph
from core.seeding import Seed
from tests.oracles.graphs import make_threats, two_communities


def pay(graph: Graph) -> Graph:
    """Amounts with two decimals, each once."""
    cents = np.random.default_rng(0).choice(90_000, graph.num_edges, replace=False) + 100
    return replace(graph, weights=(cents / 100).astype(np.float32))


@pytest.mark.parametrize(
    "defense",
    [Ppne(), Dice(), UniquenessAware(strength=0.5, additions=0.8), KDegreeAnonymity(k=8)],
    ids=lambda defense: defense.info.key,
)
def test_added_payments_are_neither_alike_nor_copies(defense):
    threats = make_threats(pay(two_communities(80)))
    graph = threats.visible
    made = defense.publish(graph, threats, Context(Seed(0))).graph
    is_real = graph.contains_pairs(made.edges)
    added = made.weights[~is_real]
    assert len(added) > 10
    assert len(np.unique(added)) > 0.9 * len(added)
    assert np.isin(added, made.weights[is_real]).mean() < 0.1
    assert (np.round(added.astype(float), 2).astype(np.float32) == added).all()
    assert abs(np.median(added) - np.median(graph.weights)) < 0.4 * np.median(graph.weights)


def test_drawn_weights_follow_the_graphs():
    rng = np.random.default_rng(1)
    graph = two_communities(40)
    assert len(draw_weights(graph, 5, rng)) == 0
    counts = replace(graph, weights=rng.integers(1, 4, graph.num_edges))
    drawn = draw_weights(counts, 3000, rng)
    assert set(drawn.tolist()) == {1.0, 2.0, 3.0}
    for value in (1, 2, 3):
        assert abs((drawn == value).mean() - (counts.weights == value).mean()) < 0.05
    exact = replace(graph, weights=rng.random(graph.num_edges))
    assert len(np.unique(draw_weights(exact, 3000, rng))) > 2900
    nothing = exact.select_edges(np.zeros(graph.num_edges, bool))
    assert draw_weights(nothing, 2, rng).tolist() == [1.0, 1.0]


def test_drawn_weights_have_the_decimals_and_the_bits_of_the_graphs():
    rng = np.random.default_rng(2)
    graph = two_communities(40, seed=1)
    times = replace(graph, weights=1084601170.0 + rng.permutation(graph.num_edges) * 3)
    assert (draw_weights(times, 500, rng) % 1 == 0).all()
    micro = replace(graph, weights=rng.integers(1, 10**9, graph.num_edges) / 10**6)
    drawn = draw_weights(micro, 500, rng)
    np.testing.assert_array_equal(drawn, np.round(drawn, 6))
    short = replace(graph, weights=rng.random(graph.num_edges).astype(np.float32))
    drawn = draw_weights(short, 500, rng)
    np.testing.assert_array_equal(drawn, drawn.astype(np.float32))
