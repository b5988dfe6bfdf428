"""Precision of the pairs named first, against brute force over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from core.algorithms.pairs import find_near_pairs
from core.audit.asked.scenarios import Scenario
from core.audit.computing.attacking import attack_release
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.graph import Graph
from core.measures.top_pairs import Candidates, draw_candidates, measure_top_pairs
from core.registry import make_method
from core.release import Release
from core.results import PairScores
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS, two_communities


def brute_force(graph, hidden, scores, count, test_links=()):
    """Expected precision over all unlinked pairs that are no test links, ties drawn by lot.

    scores (n, n)
    """
    i, j = np.triu_indices(graph.num_nodes, 1)
    pairs = np.stack([i, j], 1)
    tested = {tuple(p) for p in test_links}
    free = ~graph.contains_pairs(pairs) & [tuple(p) not in tested for p in pairs]
    values, pairs = scores[i, j][free], pairs[free]
    secret = {tuple(p) for p in hidden}
    truth = np.array([tuple(p) in secret for p in pairs])
    limit = np.sort(values)[::-1][count - 1]
    above, tied = values > limit, values == limit
    return (truth[above].sum() + (count - above.sum()) * truth[tied].mean()) / count


def compute_adamic_adar(graph):
    dense = graph.adjacency.toarray().astype(float)
    weights = 1 / np.log(np.maximum(dense.sum(axis=1), 2))
    return (dense * weights) @ dense


def ask(key, graph, threat, limit, seed=0, test_links=None):
    attack, rng = make_method(key), np.random.default_rng(seed)
    candidates = draw_candidates(graph, threat, limit, attack.is_local, rng, test_links)
    asked = LinkThreat(candidates.pairs[:0], candidates.pairs, 0.1)
    scores = attack.score(Release(graph), asked, Context(Seed(0))).scores
    return {m.metric: m for m in measure_top_pairs(scores, candidates)}


@pytest.mark.parametrize("key", ["adamic_adar", "degree_product"])
def test_exact_on_a_small_graph(key):
    threats = draw_threats(two_communities(60), Seed(1), hide_links=0.2)
    graph, hidden = threats.visible, threats.link.hidden
    degrees = graph.degrees.astype(float)
    scores = compute_adamic_adar(graph) if key == "adamic_adar" else np.outer(degrees, degrees)
    found = ask(key, graph, threats.link, 10**6)
    for count in (50, 100, 500):
        expected = brute_force(graph, hidden, scores, count)
        assert found[f"precision_at_{count}"].value == pytest.approx(expected)


@pytest.mark.parametrize("key", ["adamic_adar", "degree_product"])
def test_held_back_links_are_neither_hits_nor_mistakes(key):
    threats = draw_threats(two_communities(60), Seed(1), hide_links=0.1, test_links=0.4)
    graph, hidden, tested = threats.visible, threats.link.hidden, threats.test_links
    degrees = graph.degrees.astype(float)
    scores = compute_adamic_adar(graph) if key == "adamic_adar" else np.outer(degrees, degrees)
    found = ask(key, graph, threats.link, 10**6, test_links=tested)
    for count in (50, 100, 500):
        value = found[f"precision_at_{count}"].value
        assert value == pytest.approx(brute_force(graph, hidden, scores, count, tested))
        assert value >= brute_force(graph, hidden, scores, count)


def test_a_sample_leaves_out_held_back_links_as_well():
    threats = draw_threats(two_communities(60), Seed(1), hide_links=0.1, test_links=0.4)
    graph, tested = threats.visible, threats.test_links
    for limit in (10**6, 300):
        drawn = draw_candidates(graph, threats.link, limit, False, np.random.default_rng(0), tested)
        assert drawn.total == graph.num_pairs - graph.num_edges - len(tested)
        assert not {tuple(p) for p in tested} & {tuple(p) for p in drawn.pairs}
        assert drawn.weights.sum() == pytest.approx(drawn.total, rel=0.15)


def test_links_held_back_for_utility_are_no_wrong_guesses_of_an_attack():
    """An attack whose first guesses are all held back or withheld names withheld links only."""
    threats = draw_threats(two_communities(150), Seed(1), hide_links=0.1, test_links=0.4)
    secret = np.concatenate([threats.link.hidden, threats.test_links])
    links = threats.visible.with_edges(secret)

    class Oracle(type(make_method("common_neighbors"))):
        def score(self, release, threat, context):
            return PairScores(links.contains_pairs(threat.pairs).astype(float))

    scenario = Scenario("common_neighbors", "link")
    context = Context(Seed(0))
    measured = attack_release(Oracle(), scenario, Release(threats.visible), threats, context)[0]
    found = {m.metric: m.value for m in measured}
    assert len(threats.test_links) > len(threats.link.hidden) > 50
    assert found["precision_at_50"] == 1.0


@pytest.mark.slow
@pytest.mark.nightly
def test_adamic_adar_on_cora_equals_brute_force_over_all_pairs(data_root, monkeypatch):
    monkeypatch.setenv("AUDIT_DATA", str(data_root))
    threats = draw_threats(load_dataset("cora").graph, Seed(0), hide_links=0.1)
    graph = threats.visible
    found = ask("adamic_adar", graph, threats.link, 2_000_000)
    scores = compute_adamic_adar(graph).round(9)
    for count in (50, 100, 500):
        expected = brute_force(graph, threats.link.hidden, scores, count)
        assert found[f"precision_at_{count}"].value == pytest.approx(expected, abs=1e-9)


def test_samples_are_right_on_average_and_their_variance_says_how_far_off():
    """Degree product on 400 people, a few hundred of 79,000 pairs scored, forty times."""
    rng = np.random.default_rng(0)
    ends = (400 * rng.random((1500, 2)) ** 3).astype(int)
    threats = draw_threats(Graph.from_pairs(ends, 400), Seed(1), hide_links=0.2)
    graph = threats.visible
    exact = ask("degree_product", graph, threats.link, 10**6)["precision_at_500"].value
    draws = [ask("degree_product", graph, threats.link, 4000, s) for s in range(40)]
    values = np.array([d["precision_at_500"].value for d in draws])
    error = np.sqrt(np.mean([d["precision_at_500"].variance for d in draws]))
    assert exact > 0.05
    assert abs(values.mean() - exact) < 0.15 * exact
    assert values.std() < 2 * error


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_near_pairs_share_a_neighbour_and_are_all_there(name):
    graph = GRAPHS[name]()
    near = graph.adjacency.toarray() > 0
    i, j = np.triu_indices(graph.num_nodes, 1)
    expected = ((near.astype(int) @ near) > 0)[i, j] & ~graph.contains_pairs(np.stack([i, j], 1))
    pairs, weight = find_near_pairs(graph, 10**6, np.random.default_rng(0))
    assert weight == 1.0
    assert {tuple(p) for p in pairs} == set(zip(i[expected], j[expected], strict=True))


def test_near_pairs_of_a_sample_stand_for_all_of_them():
    graph = two_communities(80)
    full, _ = find_near_pairs(graph, 10**6, np.random.default_rng(0))
    totals = []
    for seed in range(60):
        part, weight = find_near_pairs(graph, 5000, np.random.default_rng(seed))
        assert weight > 1
        totals.append(weight * len(part))
    assert np.mean(totals) == pytest.approx(len(full), rel=0.05)


def test_ties_are_drawn_by_lot_and_too_few_pairs_are_said_so():
    pairs = np.stack([np.arange(60), np.arange(60) + 60], 1)
    candidates = Candidates(pairs, np.ones(60), np.arange(60) < 6, 60)
    found = {m.metric: m for m in measure_top_pairs(np.zeros(60), candidates)}
    assert found["precision_at_50"].value == pytest.approx(0.1)
    assert "60 pairs" in found["precision_at_100"].reason
