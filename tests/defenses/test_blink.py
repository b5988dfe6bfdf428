"""Blink against the plain protocol on n² bits, and against its theorem."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.defenses.blink import Blink, draw_likely_pairs
from core.graph import Graph
from core.privacy.link_local import draw_link_reports, recommend_delta
from core.privacy.mechanisms import Bits
from core.seeding import Seed
from core.threats import Threats
from core.words import format_percent
from tests.oracles.graphs import two_communities


def run_plain_protocol(graph: Graph, beta: np.ndarray, budget: float, rng) -> np.ndarray:
    """Algorithms 1 and 3 as written: (n, n) posteriors from n² received bits."""
    n = graph.num_nodes
    flip = 1.0 / (1.0 + np.exp(budget))
    truth = graph.adjacency.toarray() > 0
    received = truth ^ (rng.random((n, n)) < flip)
    prior = 1.0 / (1.0 + np.exp(-(beta[:, None] + beta)))
    posterior = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            ones = int(received[i, j]) + int(received[j, i])
            given_link = (1 - flip) ** ones * flip ** (2 - ones)
            given_none = flip**ones * (1 - flip) ** (2 - ones)
            evidence = given_link * prior[i, j] + given_none * (1 - prior[i, j])
            posterior[i, j] = given_link * prior[i, j] / evidence
    return posterior


@pytest.mark.parametrize("budget", [0.4, 1.5])
def test_hard_keeps_each_pair_as_often_as_the_plain_protocol(budget):
    graph = two_communities(14)
    beta = np.random.default_rng(5).normal(-0.2, 1.0, 14)
    trials, plain, sparse = 250, np.zeros((14, 14)), np.zeros((14, 14))
    flip = 1.0 / (1.0 + np.exp(budget))
    for seed in range(trials):
        posterior = run_plain_protocol(graph, beta, budget, np.random.default_rng(seed))
        plain += np.triu(posterior > 0.5)
        context = Context(Seed(seed))
        reports = draw_link_reports(graph, flip, context.rng("reports of links"))
        pairs = draw_likely_pairs(graph, beta, reports, Bits.of(budget), context)
        assert len(np.unique(pairs, axis=0)) == len(pairs)
        sparse[tuple(pairs.T)] += 1
    difference = np.abs(plain - sparse) / trials
    assert difference.max() < 5 * np.sqrt(0.5 / trials)
    assert abs(plain.sum() - sparse.sum()) / trials < 5 * np.sqrt(91 * 0.5 / trials)


def test_soft_publishes_the_plain_posteriors():
    graph = two_communities(24)
    release = Blink(epsilon=2.0, variant="soft").publish(graph, Threats(graph), Context(Seed(0)))
    # At δ = 0.9 and ε = 2 the rows spend 0.2: three values of the log-odds a pair.
    odds = np.log(release.graph.weights / (1 - release.graph.weights))
    assert release.graph.num_edges == graph.num_pairs
    assert release.graph.weights.sum() == pytest.approx(release.facts["estimated_links"], rel=1e-5)
    matrix = np.zeros((24, 24))
    matrix[tuple(release.graph.edges.T)] = odds
    # Second differences of β_i + β_j vanish, so what is left are multiples of 2ε_a.
    left = matrix[0, 2:] - matrix[1, 2:]
    steps = (left - left[0]) / (2 * 0.2)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)


def test_hybrid_keeps_as_many_of_the_likeliest_as_the_posteriors_add_up_to():
    graph = two_communities(40)
    context = Context(Seed(2))
    soft = Blink(epsilon=3.0, variant="soft").publish(graph, Threats(graph), context)
    hybrid = Blink(epsilon=3.0, variant="hybrid").publish(graph, Threats(graph), context)
    count = round(soft.facts["estimated_links"])
    assert hybrid.graph.num_edges == count
    np.testing.assert_allclose(
        np.sort(hybrid.graph.weights), np.sort(soft.graph.weights)[-count:], rtol=1e-6
    )


def test_the_error_stays_below_theorem_4_4():
    graph = two_communities(60)
    for epsilon in (1.0, 4.0, 8.0):
        errors = [
            Blink(epsilon=epsilon, variant="hybrid", delta=0.1)
            .publish(graph, Threats(graph), Context(Seed(seed)))
            .facts["mean_absolute_error"]
            for seed in range(4)
        ]
        n = graph.num_nodes
        bound = (4.0 * graph.num_edges + n / (2 * 0.1 * epsilon)) / n**2
        assert np.mean(errors) < bound


def test_a_large_budget_returns_the_graph():
    graph = two_communities(40)
    release = Blink(epsilon=60.0).publish(graph, Threats(graph), Context(Seed(0)))
    np.testing.assert_array_equal(release.graph.edges, graph.edges)


def test_the_guarantee_names_both_budgets():
    graph = two_communities(20)
    release = Blink(epsilon=2.0).publish(graph, Threats(graph), Context(Seed(0)))
    assert (release.guarantee.epsilon, release.guarantee.epsilon_transcript) == (2.0, 4.0)
    assert release.guarantee.trust == "local"


@pytest.mark.parametrize(
    ("epsilon", "num_nodes", "delta"),
    [(3.0, 2708, 0.9), (4.0, 2708, 0.1), (4.0, 3327, 0.9), (5.0, 3327, 0.1), (5.0, 100_000, 0.9)],
)
def test_rows_get_the_budget_where_few_false_reports_agree(epsilon, num_nodes, delta):
    """Sizes of Cora and CiteSeer, where the rule was compared, and of a large graph."""
    assert recommend_delta(epsilon, num_nodes) == delta


def test_the_recommended_share_is_used_unless_one_is_given():
    graph = two_communities(40)
    for given, used in ((None, recommend_delta(2.0, 40)), (0.3, 0.3)):
        release = Blink(epsilon=2.0, delta=given).publish(graph, Threats(graph), Context(Seed(0)))
        assert f"{format_percent(used)} degrees" in release.guarantee.accountant
