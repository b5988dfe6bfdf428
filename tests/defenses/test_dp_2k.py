"""DP-2K: what takes the noise against a naive loop, the fit, assortativity and the guarantee."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context import Context
from core.defenses.dp_2k import Dp2k, fit_table, match_classes
from core.graph import Graph
from core.privacy.budget import Account
from core.privacy.claim_check import check_claim
from core.seeding import Seed
from core.threats import Threats

NOISE = "core.defenses.dp_2k.add_noise_to_counts"


def publish(graph, seed=0, **fields):
    return Dp2k(**fields).publish(graph, Threats(graph), Context(Seed(seed)))


def capture(graph, cap):
    """The table that takes noise, as a plain loop counts its cells, and the scale."""
    seen = {}

    def watch(ends, num, with_diagonal, scale, context, purpose):
        table = np.zeros((num, num))
        for j, k in np.sort(ends, axis=1):
            table[j, k] += 1
        seen.update(table=table, scale=scale)
        return np.argwhere(table), table[table > 0].astype(int)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NOISE, watch)
        publish(graph, epsilon=1.0, degree_cap=cap, degree_share=0.5)
    return seen["table"], seen["scale"] * 0.5


@settings(max_examples=40)
@given(st.integers(5, 16), st.integers(0, 99), st.integers(1, 6))
def test_one_link_changes_the_table_by_at_most_the_sensitivity(n, seed, cap):
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(rng.integers(0, n, (2 * n, 2)), n)
    less = graph.without_edges(graph.edges[seed % graph.num_edges][None])
    (before, sensitivity), (after, _) = capture(graph, cap), capture(less, cap)
    assert sensitivity == pytest.approx(4 * (cap - 1) + 1)
    assert np.abs(before - after).sum() <= sensitivity


def test_the_sensitivity_is_attained():
    """Two hubs of three links each, whose ends have one: a link between them moves all six."""
    links = [[0, 2], [0, 3], [0, 4], [1, 5], [1, 6], [1, 7]]
    graph = Graph.from_pairs(np.array(links), 8)
    more = graph.with_edges(np.array([*links, [0, 1]]))
    change = np.abs(capture(graph, 4)[0] - capture(more, 4)[0]).sum()
    assert change == 4 * (4 - 1) + 1


def test_the_table_is_that_of_the_joint_degrees_and_is_fitted_to_them():
    graph = Graph.from_pairs(np.random.default_rng(1).integers(0, 40, (90, 2)), 40)
    network = graph.to_networkx()
    expected = np.zeros((4, 4))
    for u, v in network.edges:
        low, high = sorted(min(network.degree(node), 4) - 1 for node in (u, v))
        expected[low, high] += 1
    np.testing.assert_array_equal(capture(graph, 4)[0], expected)
    fitted = fit_table(expected + expected.T, graph.degrees)
    ends = [graph.degrees[np.minimum(graph.degrees, 4) == k].sum() for k in range(1, 5)]
    np.testing.assert_allclose(fitted.sum(axis=1), ends, rtol=1e-3)
    np.testing.assert_allclose(fitted, fitted.T)
    np.testing.assert_allclose(fitted, expected + expected.T, atol=0.5)


def test_ends_are_matched_within_their_classes():
    degrees = np.repeat([1, 3], [60, 20])
    table = np.array([[60.0, 0, 0], [0, 0, 0], [0, 0, 60.0]])
    pairs = match_classes(degrees, table, np.random.default_rng(0))
    assert (np.diff(degrees[pairs], axis=1) == 0).all()
    assert len(pairs) >= 48


def test_degrees_and_their_correlation_are_kept_at_a_large_budget():
    rng = np.random.default_rng(0)
    degrees = np.repeat([1, 2, 6, 9], [200, 200, 100, 100])
    same = np.array([[200.0 if j == k else 0.0 for k in range(9)] for j in range(9)])
    graph = Graph.from_pairs(match_classes(degrees, same * degrees.mean(), rng), 600)
    release = publish(graph, epsilon=100.0).graph
    assert abs(np.sort(release.degrees) - np.sort(graph.degrees)).mean() < 0.15
    found = nx.degree_assortativity_coefficient(release.to_networkx())
    expected = nx.degree_assortativity_coefficient(graph.to_networkx())
    assert expected > 0.5
    assert found == pytest.approx(expected, abs=0.15)
    free = publish(graph, epsilon=100.0, data_free=True).graph
    assert nx.degree_assortativity_coefficient(free.to_networkx()) < 0.3


def test_the_claim_is_not_refuted_and_a_quarter_of_the_noise_is(monkeypatch):
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 4], [1, 5], [2, 3], [4, 5]])
    neighbors = tuple(Graph.from_pairs(pairs[first:], 6) for first in (0, 1))
    defense = Dp2k(epsilon=1.0, degree_share=0.9, degree_cap=4)
    assert not check_claim(defense, Context(Seed(3)), neighbors=neighbors, trials=400).is_refuted
    spend = Account.spend
    monkeypatch.setattr(Account, "spend", lambda *arguments: spend(*arguments) / 4)
    assert check_claim(defense, Context(Seed(3)), neighbors=neighbors, trials=1200).is_refuted
