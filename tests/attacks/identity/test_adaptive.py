"""Attackers on identities who know the rule: what they gain by it, and when they leave it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import binom

from core.attacks.identity import adaptive
from core.attacks.identity.adaptive import DENOISED, PLAIN, REHEARSED, RULE, find_adaptive
from core.attacks.link.denoising import Denoised
from core.context import Context
from core.data.second_graph import draw_identity_threat
from core.errors import UnsupportedError
from core.measures.identity import compute_anonymity_risk, compute_chances, measure_matches
from core.methods import Defense, MethodInfo
from core.registry import make_method
from core.release import Release
from core.results import AnonymitySets
from core.seeding import Seed
from core.threats import LinkThreat, Threats
from tests.attacks.identity.test_identity_attacks import draw_clustered
from tests.oracles.graphs import two_communities

LOST = 0.2


class Unchanged(Defense):
    """Publishes the graph as it is."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="unchanged", title="Unchanged", summary="For tests.", source="none", group="empirical"
    )

    def publish(self, graph, threats, context):
        return Release(graph, "unchanged", self.config)


class Peripheral(Unchanged):
    """Deletes the links between nodes of many links: anybody can repeat it."""

    def publish(self, graph, threats, context):
        is_core = graph.degrees > np.median(graph.degrees)
        core = graph.edges[is_core[graph.edges].all(axis=1)]
        return Release(graph.without_edges(core), "unchanged", self.config)


def attack(key, defense, graph, seed=0, overlap=1.0, seeds=20, link=None, **config):
    """The plain and the adaptive result on one release, the form taken, and the threat."""
    threats = Threats(graph, link)
    release = defense.publish(graph, threats, Context(Seed(seed).child("release")))
    threat = draw_identity_threat(graph, Seed(seed), overlap, num_seeds=seeds)
    method, context = make_method(key, config, "identity_attack"), Context(Seed(seed))
    found, facts = find_adaptive(method, defense, release, threat, threats, context)
    return method.find(release, threat, context), found, facts, threat


def count_hits(matches, threat):
    return {m.metric: m.value for m in measure_matches(matches, threat)}["hits_at_1"]


def test_degrees_after_deletion_reach_the_best_guess_by_the_binomial():
    graph = draw_clustered()
    defense = make_method("random_deletion", {"strength": LOST}, "defense")
    plain, found, facts, threat = attack("degree", defense, graph)
    assert facts == RULE
    before = threat.original.degrees
    release = defense.publish(graph, Threats(graph), Context(Seed(0).child("release")))
    after = release.graph.degrees
    cells, sizes = np.unique(after, return_counts=True)
    chances = binom.pmf(cells, before[:, None], 1 - LOST)
    best = (chances / chances.sum(axis=0)).argmax(axis=1)
    oracle = ((cells[best] == after) / sizes[best]).mean()
    assert compute_chances(found).mean() > 0.8 * oracle
    assert compute_chances(found).mean() > 1.5 * compute_chances(plain).mean()


@pytest.mark.parametrize("config", [{}, {"error": 0.1}])
def test_neighbourhoods_after_deletion_are_found(config):
    defense = make_method("random_deletion", {"strength": LOST}, "defense")
    plain, found, facts, _ = attack("ego", defense, draw_clustered(), **config)
    assert facts == RULE
    assert compute_chances(found).mean() > compute_chances(plain).mean() + 0.1
    assert found.confidence is not None
    assert abs(found.confidence.mean() - found.contains.mean()) < 0.15


def test_where_nothing_changes_the_attacker_stays_plain():
    for key in ("ego", "seeded_percolation"):
        plain, found, facts, _ = attack(key, Unchanged(), draw_clustered(150))
        assert facts == PLAIN
        field = "sizes" if key == "ego" else "candidates"
        assert (getattr(plain, field) == getattr(found, field)).all()


def test_confidence_lowers_the_risk_of_a_set_that_may_lack_its_person():
    graph = two_communities(60)
    threat = draw_identity_threat(graph, Seed(0), num_seeds=0)
    contains = np.arange(60) % 2 == 0
    sets = AnonymitySets(np.ones(60, np.int64), contains)
    unsure = replace(sets, confidence=np.full(60, 0.5))
    assert compute_anonymity_risk(sets, threat).risk.max() == 1
    risk = compute_anonymity_risk(unsure, threat).risk
    assert (risk[~contains] == 0).all()
    assert risk[contains].mean() == pytest.approx(0.5, abs=0.1)


def know_noise(graph):
    """Denoising that is right: links of `graph` are real for sure."""

    def denoise(release, context):
        links = release.graph.present_edges
        real = np.where(graph.contains_pairs(links), 0.99, 0.01)
        return Denoised(release.graph, links, real, None, None, 0.0, 0.0, None, None)

    return denoise


def test_flipped_links_are_matched_by_those_likely_real(monkeypatch):
    graph = draw_clustered(200)
    defense = make_method("edge_rand", {"epsilon": 2.5}, "defense")
    originals = [graph]

    def remember(known, published, overlap, rng):
        moved, truth = simulate(known, published, overlap, rng)
        originals.append(moved)
        return moved, truth

    def denoise(release, context):
        most = max(originals, key=lambda g: g.contains_pairs(release.graph.edges).sum())
        return know_noise(most)(release, context)

    simulate = adaptive.simulate_release
    monkeypatch.setattr(adaptive, "simulate_release", remember)
    monkeypatch.setattr(adaptive, "share_denoised", denoise)
    plain, found, facts, threat = attack("seeded_percolation", defense, graph)
    assert facts == DENOISED
    assert count_hits(found, threat) > count_hits(plain, threat) + 0.2
    # A posterior that takes noise for links tells less than the release.
    monkeypatch.setattr(
        adaptive, "share_denoised", lambda r, c: know_noise(draw_clustered(200, 9))(r, c)
    )
    *_, facts, _ = attack("seeded_percolation", defense, graph)
    assert facts == PLAIN


@pytest.mark.parametrize("is_worse", [False, True])
def test_a_defense_that_can_be_repeated_is_repeated_on_the_second_graph(monkeypatch, is_worse):
    """Unless the attack finds fewer of the rehearsal that way, whatever the links in common."""
    if is_worse:
        match = adaptive._match

        def spoil(attack, release, threat, context):
            found = match(attack, release, threat, context)
            is_repeated = threat.known.num_edges < full
            return replace(found, candidates=found.candidates * 0 - 1) if is_repeated else found

        monkeypatch.setattr(adaptive, "_match", spoil)
    graph = draw_clustered(200)
    full = draw_identity_threat(graph, Seed(0), 0.95).known.num_edges
    plain, found, facts, threat = attack("seeded_percolation", Peripheral(), graph, overlap=0.95)
    assert facts == (PLAIN if is_worse else REHEARSED)
    gain = count_hits(found, threat) - count_hits(plain, threat)
    assert gain == 0 if is_worse else gain > 0


def test_secret_links_are_the_attackers_own(monkeypatch):
    """A defense that needs secret links gets some of the second graph, never the true ones."""
    graph, seen = draw_clustered(150), []
    real = LinkThreat(graph.edges[:20], np.array([[0, 149]]), 0.1)

    class Curious(Unchanged):
        def publish(self, graph, threats, context):
            seen.append(threats.link)
            return super().publish(graph, threats, context)

    attack("seeded_percolation", Curious(), graph, link=real)
    assert seen[0] is real
    assert len(seen) > 1
    for link in seen[1:]:
        assert link is not None
        assert link is not real


def test_a_graph_too_large_to_rehearse_is_refused(monkeypatch):
    monkeypatch.setattr("core.attacks.shadow_release.MAX_SHADOW_LINKS_CHEAP", 50)
    with pytest.raises(UnsupportedError, match="size"):
        attack("seeded_percolation", Unchanged(), draw_clustered(150))
