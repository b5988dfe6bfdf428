"""Which sampled release is published: by the strongest attack, inverted included."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.data.splits import draw_attribute_threat
from core.defenses import release_selection
from core.defenses.release_selection import (
    SLACK,
    Choice,
    EvaluatedState,
    choose_better,
    choose_state,
    draw_attackers,
    draw_links,
    find_releases,
)
from core.graph import Graph
from core.node_column import NodeColumn
from core.seeding import Seed
from core.threats import AttributeThreat


def make_halves(n=60, within=0.25, across=0.25, seed=0) -> Graph:
    rng = np.random.default_rng(seed)
    side = np.arange(n) >= n // 2
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < np.where(side[i] == side[j], within, across)
    attributes = {"private": NodeColumn("private", side.astype(int), ("left", "right"))}
    return Graph.from_pairs(np.stack([i[keep], j[keep]], 1), n, attributes=attributes)


def choose(graph, threat, states, target=0.5):
    beliefs = np.eye(2)[graph.attributes["private"].codes]
    return choose_state(graph, threat, beliefs, states, target, Context(Seed(1)))


@pytest.fixture
def halves():
    """A graph that tells nothing, its threat, and which links stay within a half."""
    graph = make_halves()
    codes = graph.attributes["private"].codes
    within = codes[graph.edges[:, 0]] == codes[graph.edges[:, 1]]
    return graph, draw_attribute_threat(graph, "private", 0.3, Seed(0)), within


def test_a_state_that_leaks_either_way_loses_against_one_that_does_not(halves):
    graph, threat, within = halves
    homophily, heterophily = np.where(within, 1.0, 0.0), np.where(within, 0.0, 1.0)
    blind = np.full(graph.num_edges, 0.5)
    found = choose(graph, threat, [homophily, heterophily, blind])
    np.testing.assert_array_equal(found.best.probabilities, blind)
    assert found.rough[0] > 0.9
    alone = choose(graph, threat, [heterophily])
    assert alone.best.attack > 0.9
    assert set(alone.best.by_attack) == {
        "label_propagation",
        "degree",
        "gps",
        "ai_deepwalk",
        "attri_infer",
        "gcn",
    }
    assert alone.best.attack == max(alone.best.by_attack.values())


def test_of_states_within_the_target_the_one_with_most_links_is_published(halves):
    graph, threat, _ = halves
    states = [np.full(graph.num_edges, share) for share in (0.2, 0.9, 0.6)]
    found = choose(graph, threat, states, target=1.0)
    np.testing.assert_array_equal(found.best.probabilities, states[1])


def test_who_knows_all_values_verifies_with_attackers_who_know_few():
    graph = make_halves(200)
    attribute = graph.attributes["private"]
    everything = AttributeThreat(attribute, np.ones(200, bool), np.zeros(200, bool))
    attackers = draw_attackers(everything, Context(Seed(0)))
    assert [round(a.known.mean(), 1) for a in attackers] == [0.1, 0.3]
    for attacker in attackers:
        assert (attacker.hidden == ~attacker.known).all()
        assert attribute.codes[attacker.known].mean() == pytest.approx(0.5, abs=0.02)
    few = draw_attribute_threat(graph, "private", 0.1, Seed(0))
    assert draw_attackers(few, Context(Seed(0))) == [few]


@pytest.mark.parametrize("limit", [0.05, 0.33, 0.6, 0.95])
def test_the_search_between_too_many_links_and_few_enough(halves, monkeypatch, limit):
    """Attacks that win where more than a share of the links is kept: found in four trials."""
    graph, threat, _ = halves
    shares = np.linspace(0.1, 1.0, 10)
    tried = []

    def estimate(attacks, drawn, *arguments):
        if "label_propagation" in attacks:
            return {"label_propagation": 0.5}
        tried.append(drawn.num_edges / graph.num_edges)
        return {"gps": 0.5 if tried[-1] < limit + 0.02 else 0.9}

    monkeypatch.setattr(release_selection, "_estimate_all", estimate)
    monkeypatch.setattr(release_selection, "_estimate_degree", lambda *arguments: 0.5)
    links = np.arange(graph.num_edges) / graph.num_edges
    states = [(links < share).astype(float) for share in shares]
    found = choose(graph, threat, states, target=0.6)
    assert len(tried) <= 4
    kept = found.best.probabilities.mean()
    if limit >= 0.1:
        assert limit - 0.1 <= kept + 1e-6 <= limit + 0.05
        assert found.best.attack == 0.5
    else:  # none is weak enough
        assert found.best.attack == 0.9


def test_where_none_passes_the_least_leaking_are_tried_in_turn(halves, monkeypatch):
    graph, threat, _ = halves
    states = [np.full(graph.num_edges, share) for share in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)]
    leaks = [0.9, 0.7, 0.75, 0.95, 0.8, 0.85]
    tried, rough = [], iter(leaks)

    def estimate(attacks, drawn, *arguments):
        if "label_propagation" in attacks:
            return {"label_propagation": next(rough)}
        tried.append(round(drawn.num_edges / graph.num_edges, 1))
        return {"gps": 0.99 if len(tried) < 3 else 0.6}

    monkeypatch.setattr(release_selection, "_estimate_all", estimate)
    monkeypatch.setattr(release_selection, "_estimate_degree", lambda *arguments: 0.5)
    found = choose(graph, threat, states, target=0.55)
    assert tried == pytest.approx([0.4, 0.5, 0.7, 0.8], abs=0.11)
    assert (found.best.attack, found.best.probabilities[0]) == (0.8, 0.7)


def test_of_two_choices_the_nearer_or_else_the_one_with_more_links():
    def make(attack, kept):
        return Choice(EvaluatedState(attack, np.full(10, kept)), [attack])

    few, many, weak = make(0.5, 0.4), make(0.55 + SLACK, 0.8), make(0.7, 0.9)
    assert choose_better(few, many, 0.55).best is many.best
    assert choose_better(weak, few, 0.55).best is few.best
    found = choose_better(make(0.9, 0.1), weak, 0.55)
    assert (found.best.attack, found.rough) == (0.7, [0.9, 0.7])


def test_links_of_people_who_would_have_none_are_kept_the_likeliest_first():
    """A path of six and a pair: nothing drawn, at most two of eight may be alone."""
    pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [6, 7]])
    graph = Graph.from_pairs(pairs, 9, weights=np.arange(1.0, 7.0))
    chances = np.array([0.0, 1e-9, 0.0, 3e-9, 0.0, 2e-9])
    rng = np.random.default_rng(0)
    drawn = draw_links(graph, chances, rng, max_isolated=0.25)
    assert drawn.edges.tolist() == [[1, 2], [3, 4], [6, 7]]
    assert drawn.weights.tolist() == [2.0, 4.0, 6.0]
    assert draw_links(graph, chances, np.random.default_rng(0)).num_edges == 0
    everyone = draw_links(graph, np.zeros(6), np.random.default_rng(0), max_isolated=0.0)
    assert (everyone.degrees[:8] > 0).all()


def test_the_nearest_release_to_each_goal():
    def make(attack, kept):
        return EvaluatedState(attack, np.full(10, kept))

    states = [make(0.58, 0.2), make(0.6, 0.4), make(0.7, 0.6), make(0.8, 0.9)]
    offers = find_releases(states, 0.6, 0.5)
    assert (offers.private, offers.useful, offers.meets_both) == (states[1], states[2], False)
    both = find_releases(states, 0.6, 0.3)
    assert both.meets_both
    assert both.private is states[1]
    none = find_releases(states[:1], 0.5, 0.9)
    assert none.private is none.useful is states[0]


def test_a_state_that_keeps_enough_links_is_tried_where_none_meets_both_goals(halves, monkeypatch):
    graph, threat, _ = halves
    states = [np.full(graph.num_edges, share) for share in (0.1, 0.15, 0.2, 0.25, 0.9, 0.95)]
    rough = iter([0.5, 0.5, 0.5, 0.5, 0.8, 0.7])

    def estimate(attacks, drawn, *arguments):
        return (
            {"label_propagation": next(rough)} if "label_propagation" in attacks else {"gps": 0.5}
        )

    monkeypatch.setattr(release_selection, "_estimate_all", estimate)
    monkeypatch.setattr(release_selection, "_estimate_degree", lambda *arguments: 0.5)
    beliefs = np.eye(2)[graph.attributes["private"].codes]
    context = Context(Seed(1))
    found = choose_state(graph, threat, beliefs, states, 0.6, context, least_kept=0.5)
    assert found.tried[-1].share_kept == pytest.approx(0.95)
    assert found.best.attack == 0.5
