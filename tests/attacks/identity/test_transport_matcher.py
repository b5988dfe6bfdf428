"""Transport matcher against naive loops, without the truth, and with a confidence that holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.algorithms.belief_matching import (
    Squares,
    count_squares,
    fill_squares,
    pass_messages,
    scale_to_plan,
)
from core.algorithms.fingerprints import list_neighbors
from core.attacks.identity import matcher_training, transport_matcher
from core.context import Context
from core.data.second_graph import draw_identity_threat
from core.data.synthetic import generate_social
from core.graph import Graph
from core.measures.identity import measure_matches
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import IdentityThreat

KEY = "transport_matcher"
QUICK = {"rounds": 2, "candidates": 16}


def find(key, release, threat, seed=0, **config):
    attack = make_method(key, config, "identity_attack")
    return attack.find(Release(release), threat, Context(Seed(seed)))


@pytest.fixture(scope="module")
def sampled():
    """Two samples of one graph's links, six in ten each, and nobody known."""
    graph = generate_social(300, seed=2)
    keep = np.random.default_rng(5).random(graph.num_edges) < 0.6
    threat = draw_identity_threat(graph, Seed(3), 0.6, 0.0, 0)
    release = graph.with_edges(graph.edges[keep])
    return release, threat, find(KEY, release, threat, **QUICK)


@pytest.fixture
def small():
    """Candidates, slots and squares of two random graphs."""
    rng = np.random.default_rng(0)
    graphs = [
        Graph.from_pairs(np.argwhere(np.triu(rng.random((n, n)) < 0.3, 1)), n) for n in (12, 14)
    ]
    table = rng.random((12, 14)) < 0.4
    rows, images = np.nonzero(table)
    here, there = (list_neighbors(graph) for graph in graphs)
    starts = np.searchsorted(rows, np.arange(13))
    slots = np.append(0, np.cumsum(np.diff(here[0])[rows]))
    other_slots = np.append(0, np.cumsum(np.diff(there[0])[images]))
    count = count_squares(*here, *there, starts, images)
    squares = Squares(*(np.empty(count, np.int32) for _ in Squares._fields))
    fill_squares(*here, *there, starts, images, slots, other_slots, squares)
    return graphs, rows, images, slots, other_slots, squares


def test_squares_are_pairs_of_candidates_linked_on_both_sides(small):
    (first, second), rows, images, _, _, squares = small
    here, there = first.to_networkx(), second.to_networkx()
    expected = {
        frozenset((e, f))
        for e in range(len(rows))
        for f in range(e)
        if here.has_edge(rows[e], rows[f]) and there.has_edge(images[e], images[f])
    }
    found = list(zip(squares.first.tolist(), squares.second.tolist(), strict=True))
    assert len(found) == len(expected) > 50
    assert {frozenset(pair) for pair in found} == expected


def test_messages_equal_a_naive_sum(small):
    """Two rounds by dictionaries keyed by (from, to) pairs of nodes and candidates."""
    (first, second), rows, images, slots, other_slots, squares = small
    here, there = first.to_networkx(), second.to_networkx()
    rng = np.random.default_rng(1)
    plan, weights = rng.uniform(0.05, 0.6, len(rows)), rng.uniform(1, 5, len(rows))
    index = {pair: e for e, pair in enumerate(zip(rows.tolist(), images.tolist(), strict=True))}
    messages, others = np.zeros(slots[-1]), np.zeros(other_slots[-1])
    sent = dict.fromkeys(((e, v) for (u, _), e in index.items() for v in here[u]), 0.0)
    other_sent = dict.fromkeys(((e, x) for (_, w), e in index.items() for x in there[w]), 0.0)
    for damping in (0.0, 0.3):
        total = pass_messages(
            squares, plan, weights, 0.7, damping, slots, messages, other_slots, others
        )

        def cavity(u, w, v, x, sent=sent, other_sent=other_sent):
            """Probability of (v, x) without what u and w sent to it."""
            f = index[v, x]
            odds = plan[f] / (1 - plan[f])
            away = np.exp(-(sent[f, u] + other_sent[f, w]) / 2)
            return odds * away / (1 + odds * away)

        new, other_new = {}, {}
        for (u, w), e in index.items():
            for v in here[u]:
                share = sum(cavity(u, w, v, x) for x in there[w] if (v, x) in index)
                new[e, v] = 0.7 * np.log(1 + weights[e] * share)
            for x in there[w]:
                share = sum(cavity(u, w, v, x) for v in here[u] if (v, x) in index)
                other_new[e, x] = 0.7 * np.log(1 + weights[e] * share)
        sent = {k: damping * sent[k] + (1 - damping) * value for k, value in new.items()}
        other_sent = {
            k: damping * other_sent[k] + (1 - damping) * value for k, value in other_new.items()
        }
        expected = np.zeros(len(rows))
        for told in (sent, other_sent):
            for (e, _), value in told.items():
                expected[e] += value / 2
        np.testing.assert_allclose(total, expected, rtol=1e-9)


def test_the_plan_matches_everybody_once_or_not_at_all():
    """Rows and columns with their chance of no match sum to one, and odds are scaled only."""
    rng = np.random.default_rng(0)
    beliefs = rng.normal(0, 2, (6, 8))
    rows, images = np.nonzero(np.ones((6, 8)))
    scales = np.ones(6), np.ones(8)
    plan = scale_to_plan(rows, images, beliefs.ravel(), *scales, 500).reshape(6, 8)
    np.testing.assert_allclose(plan.sum(axis=1) + scales[0], 1, rtol=1e-9)
    np.testing.assert_allclose(plan.sum(axis=0) + scales[1], 1, rtol=1e-9)
    ratio = np.log(plan) - beliefs
    np.testing.assert_allclose(ratio - ratio[:1] - ratio[:, :1] + ratio[0, 0], 0, atol=1e-9)


def test_it_finds_more_than_shape_alone(sampled):
    release, threat, found = sampled
    hits = measure_matches(found, threat)[1]
    shape = measure_matches(find("structural_alignment", release, threat), threat)[1]
    assert hits.metric == "hits_at_1"
    assert hits.value > 2 * shape.value
    assert hits.value > 0.3


def test_its_confidence_holds(sampled):
    _, threat, found = sampled
    right = (found.candidates[:, 0] == threat.people)[threat.wanted]
    confidence = found.confidence[threat.wanted]
    sure = confidence >= 0.9
    assert sure.sum() > 20
    assert right[sure].mean() >= 0.9
    assert confidence.mean() <= right.mean() + 0.05


def test_its_confidence_is_the_accuracy_in_simulations(sampled, monkeypatch):
    """Simulations whose truth is shuffled are never right: then nothing is claimed."""
    release, threat, _ = sampled
    simulate_release = matcher_training.simulate_release

    def mislead(known, published, overlap, rng):
        graph, truth = simulate_release(known, published, overlap, rng)
        return graph, np.roll(truth, 1)

    monkeypatch.setattr(matcher_training, "simulate_release", mislead)
    assert find(KEY, release, threat, **QUICK).confidence.max() < 0.2


def test_it_does_not_look_at_the_truth(sampled):
    release, threat, _ = sampled
    empty = Graph.from_pairs(np.empty((0, 2)), release.num_nodes)
    people = np.random.default_rng(0).permutation(threat.people)
    people[::3] = -1
    blind = replace(threat, original=empty, people=people)
    found, again = (find(KEY, release, each, rounds=1, candidates=8) for each in (threat, blind))
    assert (again.candidates == found.candidates).all()
    assert (again.confidence == found.confidence).all()


@pytest.mark.parametrize("num_seeds", [0, 3])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs(n, num_seeds):
    graph = Graph.from_pairs(np.array([(0, 1), (1, 2)][: n - 1], np.int64).reshape(-1, 2), n)
    everyone = np.arange(n)
    seeds = np.stack([everyone, everyone], axis=1)[:num_seeds]
    found = find(KEY, graph, IdentityThreat(graph, graph, everyone, seeds))
    assert found.candidates.shape[0] == n
    assert (found.candidates[seeds[:, 0], 0] == seeds[:, 1]).all()


def test_too_many_squares_narrow_the_candidates(sampled, monkeypatch):
    release, threat, _ = sampled
    monkeypatch.setattr(transport_matcher, "MAX_SQUARES", 20_000)
    filled = []
    monkeypatch.setattr(
        transport_matcher,
        "fill_squares",
        lambda *given: filled.append(len(given[-1].first)) or fill_squares(*given),
    )
    find(KEY, release, threat, rounds=1)
    assert max(filled) <= 20_000
