"""PrivDPR and DPR: noise as accounted, twins, what costs budget and what never leaks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.context import Context
from core.defenses.dpr import Dpr
from core.defenses.privdpr import PrivDpr
from core.privacy.budget import compute_gaussian_delta
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities

QUICK = {"epochs": 1, "dimensions": 8, "hidden": 4, "walk_length": 4}


def publish(method, graph, **settings):
    settings.setdefault("seed", Seed(3))
    return method.publish(graph, Threats(graph), Context(**settings))


def test_noise_covers_twice_the_gradient_bound_at_the_stated_budget():
    graph, method = two_communities(), PrivDpr(epsilon=2.0, **QUICK)
    plan = method.make_plan(graph.num_nodes)
    assert plan.pairs == 16 * 2 * 4
    assert plan.steps == 3
    assert plan.step_sensitivity == 2 * plan.gradient_bound
    account = method.open_account(Context(Seed(3)))
    account.spend(method.count_share, method.degree_cap)
    z = account.spend_rest_on_sums(plan.steps).multiplier
    assert compute_gaussian_delta(2.0 * 0.9, math.sqrt(3) / z) <= method.delta * (1 + 1e-9)
    facts = publish(method, graph).facts
    expected = z * plan.step_sensitivity * math.sqrt(graph.num_nodes * 8)
    assert facts["noise_norm"] == pytest.approx(expected, rel=0.2)
    assert facts["gradient_norm"] < 1e-3 * facts["noise_norm"]


def test_guarantee_shows_the_tight_total_beside_the_naive_one():
    guarantee = publish(PrivDpr(epsilon=2.0, **QUICK), two_communities()).guarantee
    assert guarantee.label == "node-DP, ε = 2, δ = 10⁻⁵"
    assert guarantee.epsilon_naive > 2.0
    assert "number of links (ε = 0.2)" in guarantee.accountant
    assert "data-independent" in guarantee.note


def test_number_of_links_is_noisy_or_public_but_never_the_true_one_for_free():
    graph = two_communities()
    counts = {
        publish(PrivDpr(epsilon=1.0, **QUICK), graph, seed=Seed(s)).graph.num_edges
        for s in range(4)
    }
    assert len(counts) > 1
    release = publish(PrivDpr(epsilon=1.0, num_links=77, **QUICK), graph)
    assert release.graph.num_edges == 77
    assert "public" in release.guarantee.note


def test_data_free_twin_gives_the_same_release_for_any_graph():
    settings = {"num_links": 60, "data_free": True, **QUICK}
    for method in (PrivDpr(epsilon=1.0, **settings), Dpr(**settings)):
        first = publish(method, two_communities(40, seed=0))
        other = publish(method, two_communities(40, seed=9))
        np.testing.assert_array_equal(first.graph.edges, other.graph.edges)


def test_data_free_twin_has_as_many_links_as_its_release_and_nothing_else_of_the_data():
    """The number costs the same share of ε in both, from the same noise."""
    graph = two_communities()
    release, independent = (
        publish(PrivDpr(epsilon=9.0, data_free=is_free, **QUICK), graph)
        for is_free in (False, True)
    )
    assert release.graph.num_edges == independent.graph.num_edges > 0
    assert "only the number of links" in independent.guarantee.note
    assert publish(Dpr(data_free=True, **QUICK), graph).graph.num_edges == graph.num_edges


def test_without_noise_the_release_depends_on_the_graph_and_keeps_its_number_of_links():
    left, right = two_communities(40, seed=0), two_communities(40, seed=9)
    releases = [publish(Dpr(**QUICK), graph) for graph in (left, right)]
    assert [r.graph.num_edges for r in releases] == [left.num_edges, right.num_edges]
    assert not np.array_equal(releases[0].graph.edges, releases[1].graph.edges)
    assert not releases[0].guarantee.is_private
