"""Node private: clipping and its stability by brute force, accounting, the guarantee."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.context import Context
from core.defenses.node_private import NodePrivate, choose_clipping, clip_degrees, compute_stability
from core.errors import InputError
from core.graph import Graph
from core.privacy.budget import Account
from core.privacy.claim_check import check_claim, make_neighbors
from core.privacy.guarantees import NODE
from core.privacy.mechanisms import draw_by_score
from core.seeding import Seed, mix_bits
from core.threats import Threats
from tests.oracles.transcripts import make_shadow_release
from tests.privacy.test_capping import draw_neighbors


def publish(graph, seed=0, **fields):
    return NodePrivate(**fields).publish(graph, Threats(graph), Context(Seed(seed)))


def make_ring(n=300, steps=2):
    nodes = np.arange(n)
    return Graph.from_pairs(
        np.concatenate([np.stack([nodes, np.roll(nodes, s + 1)], 1) for s in range(steps)]), n
    )


def clip_plainly(graph, most):
    """Each node's first links, one node at a time."""
    keeps = []
    for node in range(graph.num_nodes):
        mine = [tuple(edge) for edge in graph.edges.tolist() if node in edge]
        codes = np.array([i * graph.num_nodes + j for i, j in mine], np.int64)
        keeps.append({mine[k] for k in np.argsort(mix_bits(codes))[:most]})
    return [[i, j] for i, j in graph.edges.tolist() if (i, j) in keeps[i] & keeps[j]]


@settings(max_examples=200)
@given(st.data())
def test_clipped_neighbors_differ_in_few_links_where_that_is_stable(data):
    n, most = 14, data.draw(st.integers(1, 6))
    graphs, _ = draw_neighbors(data, n)
    clipped = [clip_degrees(graph, most) for graph in graphs]
    assert [c.edges.tolist() for c in clipped] == [clip_plainly(g, most) for g in graphs]
    assert max(c.degrees.max() for c in clipped) <= most
    stability = [compute_stability(graph.degrees, most) for graph in graphs]
    assert abs(stability[0] - stability[1]) <= 1
    if max(stability) >= 1:
        moved = np.setxor1d(clipped[0].edge_codes, clipped[1].edge_codes)
        assert len(moved) <= 3 * most


def test_stability_counts_the_nodes_that_may_change():
    degrees = np.array([9, 5, 5, 4, 3, 3, 1, 1, 1, 0])
    # Of D = 4: as many nodes reach 4 − k, and k, as k = 0, 1, 2: 4, 7, 8. At most 4 may.
    assert compute_stability(degrees, 4) == 1
    assert compute_stability(degrees, 3) == 0
    assert compute_stability(degrees, 9) == min(
        k for k in range(10) if (degrees >= 9 - k).sum() + k > 9
    )


def test_a_test_at_distance_zero_passes_with_chance_delta():
    passed = []
    for seed in range(20_000):
        account = Account(NODE, 2.0, Context(Seed(seed)), 0.01)
        passed.append(account.test_distance(0, 0.3, "stability"))
    threshold, decay = account.find_test_threshold(0.3), math.exp(-0.6)
    chance = decay**threshold / (1 + decay)
    assert chance <= 0.01 < decay ** (threshold - 1) / (1 + decay)
    assert np.mean(passed) == pytest.approx(chance, abs=0.003)
    assert account.spendings[0].delta == 0.01


def test_places_are_drawn_by_their_scores():
    scores = np.array([0.0, 1.0, 3.0, 2.0])
    drawn = [draw_by_score(scores, 0.7, Context(Seed(seed)), "place") for seed in range(5000)]
    weights = np.exp(0.7 * scores)
    expected = 5000 * weights / weights.sum()
    assert stats.chisquare(np.bincount(drawn, minlength=4), expected).pvalue > 1e-3


def test_the_choice_costs_its_share_on_scores_that_rise_and_fall(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "core.defenses.node_private.draw_by_score",
        lambda scores, factor, *rest: seen.append((scores, factor)) or int(scores.argmax()),
    )
    ring, hub = make_ring(), make_neighbors("node", 300)[0]
    for graph in (ring, hub):
        context = Context(Seed(0))
        choose_clipping(graph, Account(NODE, 1.0, context, 1e-3), 0.2, 0.3, context)
    (scores, factor), (others, _) = seen
    assert 2 * factor * np.abs(scores - others).max() == pytest.approx(0.2)


def test_stable_graphs_are_clipped_and_others_run_for_all_links():
    ring = make_ring()
    release = publish(ring, epsilon=20.0, delta=1e-3)
    degree, group = map(
        int, re.findall(r"clipped to (\d+);.* of (\d+) links", release.guarantee.note)[0]
    )
    assert group == 3 * degree
    assert (release.guarantee.unit, release.guarantee.epsilon) == ("node", 20.0)
    assert release.guarantee.delta == 1e-3
    small = publish(make_ring(20), epsilon=20.0)
    assert "Nothing was clipped" in small.guarantee.note
    assert "for each of 19 links" in small.guarantee.note


def test_the_mechanism_spends_the_rest_divided_by_the_group(monkeypatch):
    seen = []
    member = NodePrivate.members["tmf"]
    run = member.publish
    monkeypatch.setattr(
        member, "publish", lambda self, *rest: seen.append(self.epsilon) or run(self, *rest)
    )
    publish(make_ring(20), epsilon=10.0, mechanism="tmf")
    assert seen == [pytest.approx(10.0 * 0.5 / 19)]
    with pytest.raises(InputError, match="must be one of"):
        NodePrivate(mechanism="pseudonyms")


def test_the_degree_distribution_is_nearer_than_that_of_the_independent_baseline():
    rng = np.random.default_rng(0)
    ends = np.minimum(rng.geometric(0.004, (9000, 2)) - 1, 1999)
    graph = Graph.from_pairs(ends, 2000)

    def measure(**fields):
        made = (publish(graph, seed, epsilon=20.0, **fields).graph for seed in range(3))
        return np.mean([stats.ks_2samp(r.degrees, graph.degrees).statistic for r in made])

    assert measure() < 0.5 * measure(data_free=True)


@pytest.mark.parametrize("epsilon", [2.0, 20.0])
def test_the_baseline_costs_no_more_than_it_promises(epsilon):
    """A node with links to all others changes their number by more than clipping leaves of it."""
    ring = make_ring()
    hub = ring.with_edges(np.concatenate([ring.edges, [[0, k] for k in range(3, 298)]]))
    defense = NodePrivate(epsilon=epsilon, delta=1e-3, data_free=True)

    def run(data):
        return defense.publish(data, Threats(data), Context(Seed(2)))

    (transcript,) = make_shadow_release(run, ring, [hub])
    guarantee = run(ring).guarantee
    assert guarantee.epsilon == pytest.approx(epsilon)
    assert 0 < transcript.epsilon <= epsilon


@pytest.mark.parametrize("n", [24, 300])
def test_the_claim_is_not_refuted_and_an_eighth_of_the_noise_is(n, monkeypatch):
    """Without clipping on 24 nodes, with it on 300."""
    game = {"trials": 800, "neighbors": make_neighbors("node", n)}
    defense = NodePrivate(epsilon=2.0, delta=0.01)
    note = defense.publish(game["neighbors"][0], None, Context(Seed(0))).guarantee.note
    assert ("Nothing was clipped" in note) == (n == 24)
    assert not check_claim(defense, Context(Seed(3)), **game | {"trials": 300}).is_refuted
    spend = Account.spend
    monkeypatch.setattr(Account, "spend", lambda *arguments: spend(*arguments) / 8)
    assert check_claim(defense, Context(Seed(3)), **game).is_refuted
