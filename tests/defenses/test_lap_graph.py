"""LapGraph: the same law as noise on every pair, without the n×n array."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.context import Context
from core.defenses.lap_graph import LapGraph
from core.errors import ResourceError
from core.graph import Graph
from core.privacy.top_pairs import draw_top_pairs
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities


def count_kept_links_naively(num_links, num_pairs, wanted, scale, rng):
    values = rng.laplace(0.0, scale, num_pairs)
    values[:num_links] += 1.0
    return int((np.argsort(-values)[:wanted] < num_links).sum())


@pytest.mark.parametrize(
    ("num_links", "num_pairs", "wanted", "scale"),
    [(20, 200, 22, 0.5), (20, 200, 150, 0.5), (50, 100, 60, 3.0), (30, 5000, 30, 0.2)],
)
def test_top_pairs_have_the_law_of_noise_on_all_pairs(num_links, num_pairs, wanted, scale):
    rng, runs = np.random.default_rng(0), 1500
    sparse = np.zeros(runs, int)
    for r in range(runs):
        kept, added = draw_top_pairs(num_links, num_pairs, wanted, scale, rng)
        assert kept.sum() + added == wanted
        sparse[r] = kept.sum()
    naive = [
        count_kept_links_naively(num_links, num_pairs, wanted, scale, rng) for _ in range(runs)
    ]
    # Two-sample chi-square on the counts of links that survive.
    top = num_links + 1
    table = np.stack([np.bincount(sparse, minlength=top), np.bincount(naive, minlength=top)])
    table = table[:, table.sum(axis=0) >= 10]
    assert stats.chi2_contingency(table).pvalue > 1e-4


@pytest.mark.parametrize("wanted", [0, 1, 45])
def test_extreme_numbers_of_wanted_pairs(wanted):
    kept, added = draw_top_pairs(5, 45, wanted, 1.0, np.random.default_rng(0))
    assert kept.sum() + added == wanted
    assert added <= 40


def test_number_of_links_has_the_noise_of_its_share_of_the_budget():
    graph = Graph.from_pairs(np.random.default_rng(0).integers(0, 300, (3000, 2)), 300)
    defense = LapGraph(epsilon=2.0, count_share=0.05)
    noise = [
        defense.publish(graph, Threats(graph), Context(Seed(r))).graph.num_edges - graph.num_edges
        for r in range(200)
    ]
    decay = np.exp(-2.0 * 0.05)
    deviation = np.sqrt(2 * decay) / (1 - decay)
    assert abs(np.mean(noise)) < 4 * deviation / np.sqrt(200)
    assert np.std(noise) == pytest.approx(deviation, rel=0.3)


def test_large_budget_keeps_nearly_all_links_and_small_budget_nearly_none():
    graph = two_communities()
    kept = {}
    for epsilon in (0.1, 100.0):
        release = LapGraph(epsilon=epsilon).publish(graph, Threats(graph), Context(Seed(1)))
        kept[epsilon] = graph.contains_pairs(release.graph.edges).sum() / graph.num_edges
    assert kept[100.0] > 0.9
    assert kept[0.1] < 0.6


def test_guarantee_and_refusal():
    graph = two_communities()
    release = LapGraph(epsilon=5.0).publish(graph, Threats(graph), Context(Seed(1)))
    assert release.guarantee.label == "edge-DP, ε = 5"
    assert release.guarantee.accountant == "sequential composition"
    with pytest.raises(ResourceError, match="links expected"):
        LapGraph().publish(graph, Threats(graph), Context(Seed(1), memory_budget=1000))
