"""Shares of real links among released ones, against noise drawn on every pair."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.graph import Graph
from core.privacy.real_links import (
    BOUNDS,
    REPORTS,
    RULES,
    SELECTIONS,
    estimate_link_probabilities,
    find_flip,
    has_known_noise,
)
from core.registry import make_method
from core.release import Guarantee, Release
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities

NODES, LINKS, RUNS = 100, 300, 60
PAIRS = NODES * (NODES - 1) // 2


def draw_laplace(scale, rng):
    return rng.laplace(0, scale, PAIRS) + np.where(np.arange(PAIRS) < LINKS, 1.0, 0.0)


def draw_sums(scale, rng):
    return draw_laplace(scale, rng) + draw_laplace(scale, rng)


@pytest.mark.parametrize(
    ("key", "draw"), [("lap_graph", draw_laplace), ("tmf", draw_laplace), ("l_dpgcn", draw_sums)]
)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0, 9.0])
def test_the_share_of_real_links_is_that_of_noise_on_every_pair(key, draw, epsilon):
    rng, count_share = np.random.default_rng(0), 0.2
    scale = 1 / (epsilon * (1 - count_share))
    real = [(np.argsort(-draw(scale, rng))[:LINKS] < LINKS).mean() for _ in range(RUNS)]
    released = Graph.from_pairs(np.stack(np.triu_indices(NODES, 1), 1)[:LINKS], NODES)
    guarantee = Guarantee("edge", epsilon=epsilon)
    release = Release(released, key, {"count_share": count_share}, guarantee)
    density, links, probabilities = estimate_link_probabilities(release)
    assert density == pytest.approx(LINKS / PAIRS)
    assert len(probabilities) == len(links) == LINKS
    assert np.ptp(probabilities) == 0
    spread = 5 * np.std(real) / np.sqrt(RUNS) + 0.01
    assert probabilities[0] == pytest.approx(np.mean(real), abs=spread)


@pytest.mark.parametrize("key", sorted({*RULES} - {"blink"}))
def test_a_rule_knows_the_releases_of_its_defense(key):
    """Settings and guarantee under the names that it reads; the weaker it is, the more is real."""
    graph, shares = two_communities(200), []
    setting = {"random_rewiring": "strength"}.get(key, "epsilon")
    for value in (0.4, 0.8) if setting == "strength" else (4.0, 2.0):
        defense = make_method(key, {setting: value}, "defense")
        release = defense.publish(graph, Threats(graph), Context(Seed(1)))
        assert has_known_noise(release)
        _, links, probabilities = estimate_link_probabilities(release)
        shares.append(probabilities.mean())
        if key in SELECTIONS:
            real = graph.contains_pairs(links).mean()
            assert shares[-1] == pytest.approx(real, abs=0.04)
            weighted = release.graph.with_edges(links, np.full(len(links), 0.5))
            merged = Release(weighted, key, release.config, release.guarantee)
            assert not has_known_noise(merged)
        assert (find_flip(release) is not None) == (key in REPORTS)
    assert shares[0] > shares[1]


def test_noise_is_known_of_a_rule_with_its_strength_only():
    graph = two_communities(40)
    assert not has_known_noise(Release(graph))
    assert not has_known_noise(Release(graph, "lap_graph", {"count_share": 0.1}))
    assert not has_known_noise(Release(graph, "random_rewiring", {"strength": 0.0}))
    replaced = Release(graph, "random_rewiring", {"strength": 1.0})
    np.testing.assert_array_equal(estimate_link_probabilities(replaced)[2], BOUNDS[0])
    assert not has_known_noise(Release(graph, "dice", {"strength": 0.4}))
