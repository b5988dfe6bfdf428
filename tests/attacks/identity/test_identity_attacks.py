"""Attacks on identities find who can be found, and nobody by the order of the nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core.algorithms.fingerprints import DEPTHS, list_neighbors
from core.attacks.identity import IDENTITY_ATTACKS
from core.attacks.identity.column_values import ColumnValues
from core.attacks.identity.percolation import compute_matches, rank
from core.attacks.identity.value_join import ValueJoin
from core.context import Context
from core.data.second_graph import draw_identity_threat
from core.graph import Graph
from core.measures.identity import measure_anonymity, measure_matches
from core.registry import make_method
from core.release import Release
from core.results import AnonymitySets
from core.seeding import Seed
from core.threats import IdentityThreat
from tests.oracles.graphs import two_communities

BY_POSITION = [m for m in IDENTITY_ATTACKS if m not in (ColumnValues, ValueJoin)]
MATCHERS = [m for m in BY_POSITION if m.info.key not in DEPTHS and not m.info.is_baseline]


def draw_clustered(n: int = 300, seed: int = 0) -> Graph:
    """Heavy-tailed and clustered: every newcomer links to a node and to some of its friends."""
    rng = np.random.default_rng(seed)
    friends: list[set[int]] = [{1}, {0}]
    for node in range(2, n):
        host = int(rng.integers(0, node))
        chosen = {host, *(f for f in sorted(friends[host]) if rng.random() < 0.5)}
        friends.append(set())
        for other in chosen:
            friends[node].add(other)
            friends[other].add(node)
    pairs = [(i, j) for i in range(n) for j in friends[i] if i < j]
    return Graph.from_pairs(np.array(pairs), n)


QUICK = {
    "supervised_matcher": {"rounds": 6, "trees": 20},
    "transport_matcher": {"rounds": 1, "candidates": 8},
}


def find(key, release, threat, seed=0, **config):
    config = QUICK.get(key, {}) | config
    attack = make_method(key, config, "identity_attack")
    return attack.find(Release(release), threat, Context(Seed(seed)))


def measure(key, release, threat, seed=0, **config):
    found = find(key, release, threat, seed, **config)
    rows = measure_anonymity if isinstance(found, AnonymitySets) else measure_matches
    return {item.metric: item.value for item in rows(found, threat)}


def reorder_release(graph: Graph, threat: IdentityThreat, order: np.ndarray):
    """Node i of the release becomes order[i], for the attacker and for the evaluation."""
    moved = graph.with_edges(order[graph.edges])
    people = np.where(threat.people >= 0, order[threat.people], -1)
    seeds = np.stack([threat.seeds[:, 0], order[threat.seeds[:, 1]]], axis=1)
    return moved, replace(threat, people=people, seeds=seeds, original=moved)


def test_degree_sets_by_hand():
    """A path: two ends, three inner people; a link between the ends away from the release."""
    path = Graph.from_pairs(np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), 5)
    threat = draw_identity_threat(path, Seed(0), num_seeds=0)
    found = find("degree", path.with_edges(path.edges[:-1]), threat)
    # Now 1 and 2 have two links, 0 and 3 have one, 4 has none.
    assert found.sizes.tolist() == [2, 2, 2, 2, 2]
    assert found.contains.tolist() == [True, True, True, False, False]


@pytest.mark.parametrize("depth", DEPTHS)
def test_on_the_original_sets_are_classes(depth):
    graph = two_communities(50)
    threat = draw_identity_threat(graph, Seed(0))
    found = find(depth, graph, threat)
    assert found.contains.all()
    # Everybody's class is as large as there are people whose class has this size, or divides it.
    for size, people in Counter(found.sizes.tolist()).items():
        assert people % size == 0


@pytest.mark.parametrize("depth", DEPTHS[:-1])
def test_rough_knowledge_keeps_the_person_and_widens_the_set(depth):
    graph = draw_clustered()
    threat = draw_identity_threat(graph, Seed(0))
    exact, rough = find(depth, graph, threat), find(depth, graph, threat, error=0.1)
    assert rough.contains.all()
    assert rough.sizes.mean() >= exact.sizes.mean()


def test_rough_sets_equal_a_naive_count():
    graph = draw_clustered(80)
    threat = draw_identity_threat(graph, Seed(0))
    found = find("degree", graph, threat, seed=4, error=0.3)
    tolerance = np.log1p(0.3)
    logs = np.log1p(graph.degrees.astype(float))
    noisy = logs + Context(Seed(4)).rng("error").uniform(-tolerance, tolerance, (80, 1))[:, 0]
    naive = (np.abs(noisy[:, None] - logs[None]) <= tolerance + 1e-9).sum(axis=1)
    assert found.sizes.tolist() == naive.tolist()


@pytest.mark.parametrize("matcher", MATCHERS, ids=lambda m: m.info.key)
def test_an_identical_copy_gives_people_away(matcher):
    graph = draw_clustered()
    threat = draw_identity_threat(graph, Seed(1), 1.0, 0.0, 10)
    found = measure(matcher.info.key, graph, threat)
    assert found["hits_at_1"] > 0.6
    assert found["precision_at_0.9_confidence"] > 0.9
    assert found["mrr"] <= found["hits_at_10"]


@pytest.mark.parametrize("matcher", MATCHERS, ids=lambda m: m.info.key)
def test_an_unrelated_graph_gives_nobody_away(matcher):
    """The second graph's names are dealt anew: what is found then is chance."""
    graph = draw_clustered()
    threat = draw_identity_threat(graph, Seed(1), 1.0, 0.0, 10)
    rng = np.random.default_rng(0)
    people = rng.permutation(threat.people)
    seeds = np.stack([threat.seeds[:, 0], people[threat.seeds[:, 0]]], axis=1)
    threat = replace(threat, people=people, seeds=seeds)
    assert measure(matcher.info.key, graph, threat)["hits_at_1"] < 0.03


@pytest.mark.parametrize("attack", BY_POSITION, ids=lambda m: m.info.key)
def test_the_order_of_the_nodes_tells_nothing(attack):
    """A copy in which all are alike, in the same order: whoever reads the order finds all."""
    ring = np.stack([np.arange(100), np.roll(np.arange(100), 1)], axis=1)
    graph = Graph.from_pairs(ring, 100)
    threat = draw_identity_threat(graph, Seed(1), 1.0, 0.0, 2)
    back = np.argsort(threat.people)
    known = threat.known.with_edges(threat.people[threat.known.edges])
    same = replace(
        threat,
        known=replace(known, node_ids=graph.node_ids),
        people=np.arange(100),
        seeds=np.stack([threat.seeds[:, 1]] * 2, axis=1),
    )
    assert (threat.people[back] == np.arange(100)).all()
    key = attack.info.key
    rows = [measure(key, *reorder_release(graph, same, order)) for order in _orders(100)]
    metric = "expected_found" if key in DEPTHS else "hits_at_1"
    values = [row[metric] for row in rows]
    if key in ("seeded_percolation", "narayanan_shmatikov"):
        return  # two people known on a ring give the others away
    assert max(values) < (0.3 if key == "faq_matcher" else 0.15)  # led some way by the two


def _orders(n: int):
    yield np.arange(n)
    yield np.random.default_rng(1).permutation(n)


@pytest.mark.parametrize("key", ["random_match", "degree_match"])
def test_null_attackers_find_about_what_chance_finds(key):
    graph = draw_clustered(400)
    threat = draw_identity_threat(graph, Seed(1), 1.0, 0.0, 0)
    hits = [measure(key, graph, threat, seed)["hits_at_1"] for seed in range(20)]
    chance = 1 / 400
    if key == "degree_match":  # one of each class of equal degree
        chance = len(np.unique(graph.degrees)) / 400
    assert np.mean(hits) == pytest.approx(chance, abs=4 * np.sqrt(chance / 400 / 20))


@pytest.mark.parametrize("key", ["seeded_percolation", "narayanan_shmatikov"])
def test_without_seeds_they_decline(key):
    threat = draw_identity_threat(two_communities(40), Seed(0), num_seeds=0)
    attack = make_method(key, {}, "identity_attack")
    assert "seeds" in attack.supports(Release(threat.original), threat)


def test_candidates_equal_a_naive_count_of_witnesses():
    rng = np.random.default_rng(0)
    first, second = draw_clustered(40, 1), draw_clustered(40, 2)
    image = np.where(rng.random(40) < 0.5, rng.permutation(40), -1)
    top, scores, witnesses = rank(list_neighbors(first), list_neighbors(second), image)
    here, there = first.to_networkx(), second.to_networkx()
    images = {int(w) for w in image if w >= 0}
    weight = {w: 1 / np.log(2 + there.degree[w]) for w in there}
    for u in here:
        near = [int(image[v]) for v in here[u] if image[v] >= 0]
        values = {}
        for w in there:
            common = [v for v in near if v in there[w]]
            if common:
                possible = sum(weight[v] for v in there[w] if v in images)
                agreement = min(here.degree[u], there.degree[w]) / max(
                    here.degree[u], there.degree[w]
                )
                values[w] = (
                    sum(weight[v] for v in common)
                    / np.sqrt(sum(weight[v] for v in near) * possible)
                    * np.sqrt(agreement)
                )
        best = sorted(values.values(), reverse=True)[:10]
        np.testing.assert_allclose(scores[u][: len(best)], best, rtol=1e-9)
        if values:
            named = int(top[u, 0])
            assert values[named] == pytest.approx(best[0])
            assert witnesses[u] == sum(v in there[named] for v in near)
        assert (top[u, len(best) :] == -1).all()


def test_confidence_is_kept_on_a_sampled_pair():
    """Of matches that claim 0.9, nine in ten are right; of those that claim less, fewer."""
    graph = draw_clustered(2000, 3)
    threat = draw_identity_threat(graph, Seed(2), 0.9, 0.0, 50)
    found = find("seeded_percolation", graph, threat)
    right = (found.candidates[:, 0] == threat.people)[threat.wanted]
    sure = found.confidence[threat.wanted] >= 0.9
    assert sure.sum() > 100
    assert right[sure].mean() > 0.9
    assert right[~sure].mean() < right[sure].mean()
    assert compute_matches(threat.known, graph, np.full(2000, -1)).confidence.max() == 0


@pytest.mark.slow
def test_percolation_on_a_sampled_pair_of_facebook_pages(data_root, monkeypatch):
    """Half of the people at 95 % precision: two samples of the links, 90 % each, 100 seeds."""
    from core.data.catalogue import load_dataset

    monkeypatch.setenv("AUDIT_DATA", str(data_root))
    graph = load_dataset("facebook_pages").graph
    keep = np.random.default_rng(1).random(graph.num_edges) < 0.9
    threat = draw_identity_threat(graph, Seed(0), 0.9, 0.0, 100)
    found = find("seeded_percolation", graph.with_edges(graph.edges[keep]), threat)
    order = np.argsort(-found.confidence[threat.wanted])
    right = (found.candidates[:, 0] == threat.people)[threat.wanted][order]
    half = len(right) // 2
    assert right[:half].mean() >= 0.95
