"""Random rewiring: counts, uniformity, and what must not reappear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.context import Context
from core.defenses.link_changes import sample_candidates
from core.defenses.random_rewiring import RandomRewiring
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import GRAPHS, make_threats, two_communities


@pytest.mark.parametrize("strength", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_as_many_links_are_added_as_removed(name, strength):
    threats = make_threats(GRAPHS[name]())
    graph = threats.visible
    release = RandomRewiring(strength=strength).publish(graph, threats, Context(Seed(2)))
    kept = graph.contains_pairs(release.graph.edges)
    removed = round(strength * graph.num_edges)
    assert kept.sum() == graph.num_edges - removed
    free = graph.num_pairs - graph.num_edges - len(threats.link.hidden)
    assert (~kept).sum() == min(removed, free) == release.graph.num_edges - kept.sum()
    assert not release.graph.contains_pairs(threats.link.hidden).any()
    assert not release.guarantee.is_private


def test_no_added_link_has_the_weight_of_a_removed_one():
    graph = two_communities(60)
    times = np.random.default_rng(0).choice(10**7, graph.num_edges, replace=False)
    graph = replace(graph, weights=1_084_000_000 + times)
    made = RandomRewiring(strength=0.5).publish(graph, Threats(graph), Context(Seed(2))).graph
    is_kept = graph.contains_pairs(made.edges)
    np.testing.assert_array_equal(
        made.weights[is_kept], graph.weights[made.contains_pairs(graph.edges)]
    )
    removed = graph.weights[~made.contains_pairs(graph.edges)]
    assert len(removed) == (~is_kept).sum() > 100
    assert not np.isin(made.weights[~is_kept], removed).any()


def test_candidates_are_uniform_over_the_allowed_pairs():
    threats = make_threats(two_communities(14))
    graph = threats.visible
    rng = np.random.default_rng(0)
    counts = np.zeros((14, 14), int)
    for _ in range(2000):
        pairs = sample_candidates(graph, threats, 3, rng)
        assert len(pairs) == 3
        counts[tuple(pairs.T)] += 1
    blocked = np.concatenate([graph.edges, threats.link.hidden])
    assert counts[tuple(blocked.T)].sum() == 0
    allowed = np.triu(np.ones((14, 14), bool), 1)
    allowed[tuple(blocked.T)] = False
    expected = 6000 / allowed.sum()
    assert np.abs(counts[allowed] - expected).max() < 5 * np.sqrt(expected)
