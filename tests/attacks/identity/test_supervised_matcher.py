"""The supervised matcher finds more than its parts, knows how surely, and never sees the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.algorithms.fingerprints import list_neighbors
from core.algorithms.matching import weigh_witnesses
from core.attacks.identity import matcher_training
from core.attacks.identity.candidate_matches import (
    CandidateFeatures,
    CandidateMatches,
    compute_lead,
)
from core.attacks.identity.matcher_training import simulate_release
from core.context import Context
from core.data.second_graph import draw_identity_threat
from core.graph import Graph
from core.measures.identity import measure_matches
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import IdentityThreat

KEY = "supervised_matcher"


def draw_communities(n: int = 400, size: int = 30, seed: int = 0) -> Graph:
    """Communities of a heavy tail of degrees: most links within, some to everywhere."""
    rng = np.random.default_rng(seed)
    weight = rng.pareto(2.5, n) + 0.5
    group = np.arange(n) // size
    pairs = []
    for u in range(n):
        for inside, count in ((True, 4), (False, 1)):
            pool = np.flatnonzero((group == group[u]) if inside else np.ones(n, bool))
            chance = weight[pool] / weight[pool].sum()
            many = min(rng.poisson(count * weight[u]), len(pool) // 2)
            pairs += [(u, int(v)) for v in rng.choice(pool, many, replace=False, p=chance)]
    return Graph.from_pairs(np.array(pairs), n)


QUICK = {KEY: {"rounds": 6, "trees": 30}}


def find(key, release, threat, seed=0, **config):
    config = QUICK.get(key, {}) | config
    attack = make_method(key, config, "identity_attack")
    assert attack.supports(Release(release), threat) is None
    return attack.find(Release(release), threat, Context(Seed(seed)))


@pytest.fixture(scope="module")
def sampled():
    """Two samples of one graph's links, seven in ten each, and 20 people known."""
    graph = draw_communities()
    keep = np.random.default_rng(5).random(graph.num_edges) < 0.7
    threat = draw_identity_threat(graph, Seed(3), 0.7, 0.0, 20)
    release = graph.with_edges(graph.edges[keep])
    return release, threat, find(KEY, release, threat)


def test_it_finds_more_than_its_parts(sampled):
    release, threat, found = sampled
    hits = {
        key: measure_matches(find(key, release, threat), threat)[1].value
        for key in ("seeded_percolation", "structural_alignment")
    }
    own = measure_matches(found, threat)[1]
    assert own.metric == "hits_at_1"
    assert own.value >= max(hits.values())
    assert own.value > 0.3


def test_its_confidence_is_kept(sampled):
    _, threat, found = sampled
    right = (found.candidates[:, 0] == threat.people)[threat.wanted]
    said = found.confidence[threat.wanted]
    assert said.mean() == pytest.approx(right.mean(), abs=0.1)
    sure = said >= 0.9
    assert sure.sum() > 30
    assert right[sure].mean() > 0.85
    assert right[~sure].mean() < right[sure].mean() - 0.1


def test_it_is_sure_of_nobody_in_a_graph_of_other_people():
    """It never sees this: by its own standard, a release that fits so badly names nobody."""
    known, release = draw_communities(150, seed=1), draw_communities(150, seed=2)
    seeds = np.empty((0, 2), np.int64)
    threat = IdentityThreat(release, known, np.full(150, -1), seeds)
    found = find(KEY, release, threat)
    assert found.confidence.mean() < 0.15
    assert (found.confidence >= 0.9).mean() < 0.05


def test_new_numbers_for_the_release_change_nothing(sampled):
    release, threat, found = sampled
    order = np.random.default_rng(1).permutation(release.num_nodes)
    moved = replace(
        threat,
        people=order[threat.people],
        seeds=np.stack([threat.seeds[:, 0], order[threat.seeds[:, 1]]], axis=1),
    )
    again = find(KEY, release.with_edges(order[release.edges]), moved)
    same = order[found.candidates[:, 0]] == again.candidates[:, 0]
    assert same[found.confidence >= 0.5].mean() > 0.99
    assert found.confidence.mean() == pytest.approx(again.confidence.mean(), abs=0.01)


def test_it_does_not_look_at_the_truth(sampled):
    release, threat, found = sampled
    empty = Graph.from_pairs(np.empty((0, 2)), release.num_nodes)
    blind = replace(
        threat, original=empty, people=np.random.default_rng(0).permutation(threat.people)
    )
    again = find(KEY, release, blind)
    assert (again.candidates == found.candidates).all()
    assert (again.confidence == found.confidence).all()


@pytest.mark.parametrize("num_seeds", [0, 3])
def test_it_works_with_few_seeds_and_none(num_seeds):
    graph = draw_communities(200)
    threat = draw_identity_threat(graph, Seed(3), 0.95, 0.0, num_seeds)
    found = find(KEY, graph, threat)
    assert measure_matches(found, threat)[1].value > 0.5
    assert (found.confidence[threat.seeds[:, 0]] == 1).all()


@pytest.mark.parametrize("pairs", [[], [(0, 1)], [(0, 1), (1, 2)]])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("num_seeds", [0, 1])
def test_tiny_graphs(n, pairs, num_seeds):
    pairs = np.array([pair for pair in pairs if max(pair) < n], np.int64).reshape(-1, 2)
    graph = Graph.from_pairs(pairs, n)
    everyone = np.arange(n)
    seeds = np.stack([everyone, everyone], axis=1)[:num_seeds]
    threat = IdentityThreat(graph, graph, everyone, seeds)
    found = find(KEY, graph, threat)
    assert found.candidates.shape[0] == n
    assert found.candidates.max(initial=-1) < n
    assert (found.candidates[seeds[:, 0], 0] == seeds[:, 1]).all()


def test_graphs_of_other_sizes():
    """The second graph lacks half of the people, and knows some who are not in the release."""
    graph = draw_communities(200)
    part = graph.edges[(graph.edges < 120).all(axis=1)]
    known = Graph.from_pairs(
        part, 150, node_ids=tuple(graph.node_ids[:120]) + tuple("x" * i for i in range(1, 31))
    )
    threat = draw_identity_threat(graph, Seed(0), num_seeds=10, known=known)
    found = find(KEY, graph, threat)
    assert found.candidates.shape[0] == 150
    assert found.candidates.max() < 200


def test_a_simulated_release_has_the_overlap():
    graph, other = draw_communities(seed=1), draw_communities(seed=2)
    release, truth = simulate_release(graph, other, 0.6, np.random.default_rng(0))
    assert sorted(truth) == list(range(400))
    assert release.num_edges == pytest.approx(other.num_edges, rel=0.02)
    moved = graph.with_edges(truth[graph.edges])
    shared = np.isin(moved.edge_codes, release.edge_codes).mean()
    assert shared == pytest.approx(0.6, abs=0.05)
    everything = simulate_release(graph, graph, 1.0, np.random.default_rng(0))[0]
    assert everything.num_edges == graph.num_edges


def weigh(first, second, guesses, chances, near):
    shape = (first.num_nodes, 5 + near.shape[1])
    top, values = np.empty(shape, np.int64), np.empty((*shape, 3))
    own, possible = np.empty(first.num_nodes), np.empty(second.num_nodes)
    weigh_witnesses(
        *list_neighbors(first), *list_neighbors(second), guesses, chances, 0.02, near, top,
        values, own, possible,
    )  # fmt: skip
    return top, values, own, possible


def test_expected_witnesses_equal_a_naive_sum():
    rng = np.random.default_rng(0)
    first, second = draw_communities(60, seed=1), draw_communities(70, seed=2)
    guesses = np.stack([rng.permutation(70)[:60], rng.permutation(70)[:60]], axis=1)
    guesses[rng.random((60, 2)) < 0.2] = -1
    chances = rng.random((60, 2))
    near = np.stack([rng.choice(70, 3, replace=False) for _ in range(60)])
    near[:, 2] = -1
    top, values, own, possible = weigh(first, second, guesses, chances, near)
    here, there = first.to_networkx(), second.to_networkx()
    weight = {w: 1 / np.log(2 + there.degree[w]) for w in there}
    held = [
        [(int(w), p) for w, p in zip(*row, strict=True) if w >= 0 and p >= 0.02]
        for row in zip(guesses, chances, strict=True)
    ]
    reach = {w: min(sum(p for row in held for x, p in row if x == w), 1) for w in there}
    for w in there:
        assert possible[w] == pytest.approx(sum(reach[x] * weight[x] for x in there[w]))
    for u in here:
        mine = sum(p * weight[x] for v in here[u] for x, p in held[v])
        assert own[u] == pytest.approx(mine)
        score = {}
        for w in there:
            plain = sum(p for v in here[u] for x, p in held[v] if x in there[w])
            full = sum(p * weight[x] for v in here[u] for x, p in held[v] if x in there[w])
            if plain:
                a, b = here.degree[u], there.degree[w]
                both = np.sqrt(mine * possible[w])
                score[w] = (full / both * np.sqrt(min(a, b) / max(a, b)), full, plain)
        best = sorted((s[0] for s in score.values()), reverse=True)[:5]
        np.testing.assert_allclose(values[u, : len(best), 0], best)
        for w, row in zip(top[u], values[u], strict=True):
            if w >= 0:
                np.testing.assert_allclose(row, score.get(int(w), (0, 0, 0)))
        named = [int(w) for w in top[u] if w >= 0]
        assert len(named) == len(set(named))
        assert {int(w) for w in near[u] if w >= 0} <= set(named)


def test_no_node_is_scored_by_trees_trained_on_it(sampled, monkeypatch):
    release, threat, _ = sampled
    real = CandidateMatches(threat.known, release, threat.seeds)
    targets = np.diff(real.known_neighbors[0]) > 0
    targets[threat.seeds[:, 0]] = False
    monkeypatch.setattr(matcher_training, "MIN_TRAINING_NODES", 1)  # one simulation
    training = matcher_training.MatcherTraining(real, targets, 0.7, 5, Context(Seed(0)))
    compute_features, scored = CandidateMatches.compute_features, []

    def show_rows(matches):
        features = compute_features(matches)
        return replace(features, columns=features.rows[:, None])

    def predict(learned, columns):
        scored.append((learned[0], columns[:, 0]))
        return np.zeros(len(columns))

    monkeypatch.setattr(CandidateMatches, "compute_features", show_rows)
    monkeypatch.setattr(matcher_training, "predict", predict)
    monkeypatch.setattr(
        matcher_training.MatcherTraining, "_learn", lambda training, features, parts, context: parts
    )
    training.run_round(1, 2)
    own = scored[:2]  # then the real pair, by both
    assert len(scored) == 4
    for learned, rows in own:
        assert learned.any()
        assert len(rows)
        assert not learned[rows].any()
    np.testing.assert_array_equal(own[0][0] | own[1][0], targets)


def test_lead_over_the_others_equals_a_naive_one():
    rng = np.random.default_rng(0)
    values, groups = rng.integers(0, 5, 100).astype(float), rng.integers(0, 30, 100)
    found = compute_lead(values, groups)
    for i in range(100):
        others = np.delete(values, i)[np.delete(groups, i) == groups[i]]
        if len(others):
            assert found[i] == values[i] - others.max()
        else:
            assert np.isnan(found[i])


def test_competing_candidates_share_one_chance():
    """Two people want the same node, one of them has an alternative; by hand from the odds."""
    candidates = np.array([[0, 1], [0, -1]])
    rows, places = np.nonzero(candidates >= 0)
    features = CandidateFeatures(candidates, rows, places, np.zeros((3, 1)))
    table = features.apply_exclusivity(np.array([0.5, 0.5, 0.75]))
    np.testing.assert_allclose(table, [[1 / (1 + 2 + 4 - 1), 1 / (1 + 2 + 1 - 1)], [3 / 5, 0]])
    assert features.apply_exclusivity(np.array([1.0, 0.0, 0.0]))[0, 0] > 0.99
