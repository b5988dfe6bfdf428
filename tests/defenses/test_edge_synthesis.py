"""GAP, DPGVAE and DPGGAN: sensitivity, budget, number of links, data-independent baselines."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.defenses.gap import Gap
from core.privacy.budget import GaussianNoise, calibrate_gaussian
from core.registry import make_method
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities, weighted

QUICK = {
    "gap": {"dimensions": 16},
    "dpgvae": {"dimensions": 4, "steps": 5, "rate": 0.2, "negatives": 20},
    "dpggan": {"dimensions": 4, "steps": 5, "rate": 0.2, "negatives": 20},
}


def publish(key, graph, seed=0, **config):
    method = make_method(key, {**QUICK[key], **config})
    return method.publish(graph, Threats(graph), Context(Seed(seed)))


@pytest.mark.parametrize("key", QUICK)
def test_guarantee_number_of_links_and_twin(key):
    graph = two_communities()
    release = publish(key, graph, epsilon=2.0)
    assert release.guarantee.label == "edge-DP, ε = 2, δ = 10⁻⁵"
    assert release.guarantee.epsilon_naive >= 2.0
    assert "(ε = 0.1)" in release.guarantee.accountant
    given = publish(key, graph, num_links=90)
    assert given.graph.num_edges == 90
    assert "public" in given.guarantee.note
    independents = [
        publish(key, two_communities(40, seed), num_links=90, data_free=True) for seed in (0, 5)
    ]
    np.testing.assert_array_equal(independents[0].graph.edges, independents[1].graph.edges)
    assert "No data" in independents[0].guarantee.note


def test_number_of_links_is_noisy():
    counts = {publish("gap", two_communities(), s, epsilon=1.0).graph.num_edges for s in range(5)}
    assert len(counts) > 1


def test_one_link_changes_a_hop_s_sum_by_at_most_root_two():
    """Also on weighted graphs: weights are dropped before anything is added up."""
    graph = weighted()
    heavy = graph.with_edges(graph.edges, graph.weights * 50)
    config = {"num_links": 60, "epsilon": 5.0}
    first, second = publish("gap", graph, **config), publish("gap", heavy, **config)
    np.testing.assert_array_equal(first.graph.edges, second.graph.edges)
    bare = graph.with_edges(graph.edges)
    rows = Gap(dimensions=16).aggregate(
        bare, GaussianNoise(0.0, Context(Seed(0))), Context(Seed(0))
    )[:, :16]
    assert (np.linalg.norm(rows, axis=1) <= 1).all()
    for k in range(bare.num_edges):
        other = bare.without_edges(bare.edges[k : k + 1])
        change = bare.adjacency @ rows - other.adjacency @ rows
        assert np.linalg.norm(change) <= np.sqrt(2) * (1 + 1e-6)


def test_gap_s_noise_has_the_calibrated_size():
    """On a graph without links a hop is nothing but noise: rows before scaling ~ √2 z √r."""
    graph = two_communities().with_edges(np.empty((0, 2)))
    method = Gap(dimensions=16, hops=1)
    z = calibrate_gaussian(1.0, 1e-5)
    noise = Context(Seed(0)).rng("noise").standard_normal((40, 16)) * z * np.sqrt(2)
    context = Context(Seed(0))
    found = method.aggregate(graph, GaussianNoise(z, context), context)[:, 16:]
    np.testing.assert_allclose(found, noise / np.linalg.norm(noise, axis=1, keepdims=True))


def test_with_a_generous_budget_gap_draws_links_between_neighbours():
    graph = two_communities()
    chance = graph.density
    shares = [
        publish("gap", graph, s, epsilon=100.0, num_links=100, dimensions=128, count_share=0.1)
        .graph.contains_pairs(graph.edges)
        .sum()
        / graph.num_edges
        for s in range(3)
    ]
    drawn = 100 / graph.num_pairs
    assert np.mean(shares) > 1.2 * drawn
    assert chance > 0
