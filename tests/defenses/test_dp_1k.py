"""DP-1K: what takes the noise, the degrees made of it, and the guarantee."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from core.context import Context
from core.defenses.dp_1k import Dp1k, compute_degrees
from core.graph import Graph
from core.privacy.budget import Account
from core.privacy.claim_check import check_claim
from core.seeding import Seed
from core.threats import Threats


def make_graph(n=60, links=150, seed=0):
    ends = np.minimum(np.random.default_rng(seed).geometric(0.08, (links, 2)) - 1, n - 1)
    return Graph.from_pairs(ends, n)


def publish(graph, seed=0, **settings):
    return Dp1k(**settings).publish(graph, Threats(graph), Context(Seed(seed)))


def capture_noisy(graph, monkeypatch):
    """The numbers that a run adds noise to, and the sensitivity that it states."""
    seen, spend = [], Account.spend

    def record(self, share, sensitivity, label):
        seen.append(sensitivity)
        return spend(self, share, sensitivity, label)

    def add(values, scale, context, purpose):
        seen.append(np.array(values))
        return np.array(values)

    monkeypatch.setattr(Account, "spend", record)
    monkeypatch.setattr("core.defenses.dp_1k.add_discrete_laplace", add)
    publish(graph)
    return seen[1], seen[0]


@settings(max_examples=30)
@given(st.integers(4, 30), st.integers(0, 99))
def test_one_link_changes_what_takes_noise_by_the_sensitivity(n, seed):
    graph = make_graph(n, 2 * n, seed)
    i, j = np.triu_indices(n, 1)
    absent = np.flatnonzero(~graph.contains_pairs(np.stack([i, j], 1)))
    place = absent[seed % len(absent)]
    more = graph.with_edges(np.concatenate([graph.edges, [[i[place], j[place]]]]))
    with pytest.MonkeyPatch.context() as patch:
        (before, sensitivity), (after, _) = (capture_noisy(g, patch) for g in (graph, more))
    assert np.abs(after - before).sum() == sensitivity == 2.0


def test_degrees_without_noise_are_those_of_the_graph():
    graph = make_graph()
    degrees = np.sort(graph.degrees)[::-1]
    reaching = np.array([(degrees >= k).sum() for k in range(1, graph.num_nodes)])
    np.testing.assert_array_equal(compute_degrees(reaching, graph.num_nodes), degrees)
    released = np.sort(publish(graph, epsilon=100.0).graph.degrees)[::-1]
    np.testing.assert_array_equal(degrees, released)
    assert compute_degrees(np.zeros(0), 1).tolist() == [0]


def test_hubs_that_would_be_joined_twice_keep_their_degrees():
    hubs, others = np.repeat(np.arange(5), 150), np.random.default_rng(0)
    links = np.concatenate(
        [np.stack([hubs, others.integers(5, 900, 750)], 1), others.integers(5, 900, (900, 2))]
    )
    graph = Graph.from_pairs(links, 900)
    released = publish(graph, epsilon=100.0).graph
    assert np.abs(np.sort(graph.degrees) - np.sort(released.degrees)).sum() <= 2


def test_the_numbers_fall_again_by_least_squares():
    noisy = np.random.default_rng(2).normal(np.linspace(30, 0, 49), 6.0)
    fitted = IsotonicRegression(increasing=False).fit_transform(np.arange(49), noisy)
    expected = np.rint(np.clip(fitted, 0, 50))
    degrees = compute_degrees(noisy, 50)
    assert [(degrees >= k).sum() for k in range(1, 50)] == expected.tolist()


def test_levels_that_noise_would_reach_are_dropped_from_the_last_on():
    rng, n, variance = np.random.default_rng(3), 400, 8.0
    places = np.arange(n - 1)
    for tops in (1, 5, 60):
        noisy = rng.normal(90.0 * (places < tops), variance**0.5)
        fitted = IsotonicRegression(increasing=False, y_min=0).fit_transform(places, noisy)
        expected, room = fitted.copy(), 1.5 * variance * np.log(n)
        for level in np.unique(fitted)[:-1]:
            room -= level**2 * (fitted == level).sum()
            if room < 0:
                break
            expected[fitted == level] = 0.0
        degrees = compute_degrees(noisy, n, variance)
        assert [(degrees >= k).sum() for k in range(1, n)] == np.rint(expected).tolist()


def test_noise_makes_no_hubs():
    ring = np.stack([np.arange(1500), np.roll(np.arange(1500), 1)], axis=1)
    graph = Graph.from_pairs(ring, 1500)
    highest = [publish(graph, seed, epsilon=0.3).graph.degrees.max() for seed in range(8)]
    assert max(highest) <= 10


def test_the_degree_distribution_is_nearer_than_that_of_the_independent_baseline():
    graph = make_graph(400, 1500)

    def measure(**settings):
        releases = (publish(graph, seed, epsilon=2.0, **settings).graph for seed in range(5))
        return np.mean(
            [stats.ks_2samp(r.degrees, graph.degrees, method="asymp").statistic for r in releases]
        )

    assert measure() < 0.5 * measure(data_free=True)


def test_the_claim_is_not_refuted():
    assert publish(make_graph()).guarantee.label == "edge-DP, ε = 6"
    assert not check_claim(Dp1k(epsilon=1.0), Context(Seed(3)), trials=400).is_refuted
