"""Which links of a release are real: Bayes by hand, what ε allows, and links without themselves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attacks.composition import join_releases, merge_releases
from core.attacks.link.mechanism_posterior import compute_prior_logits, estimate_degrees
from core.attacks.link.released_links import CERTAIN, compute_evidence
from core.audit.computing.making import make_release
from core.context import Context
from core.data.splits import draw_released_threat
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.measures.released_links import measure_released
from core.privacy.real_links import RULES, estimate_link_probabilities
from core.registry import make_method
from core.release import Release
from core.results import PairScores
from core.seeding import Seed
from core.threats import ReleasedThreat, Threats
from tests.attacks.link.test_l3_index import make_modes
from tests.oracles.graphs import GRAPHS, two_communities


def publish(graph, key="edge_rand", seed=0, **config):
    return make_method(key, config).publish(graph, Threats(graph), Context(Seed(seed)))


def every_pair(graph: Graph) -> np.ndarray:
    return np.stack(np.triu_indices(graph.num_nodes, 1), 1)


@settings(max_examples=25)
@given(st.floats(0.05, 12), st.integers(0, 1000), st.sampled_from(["edge_rand", "blink"]))
def test_the_release_moves_no_odds_by_more_than_the_recipients_epsilon(epsilon, seed, key):
    """The e^ε of the definition, for every pair of every release (2ε where both ends report)."""
    graph = two_communities(30, seed % 7)
    release = publish(graph, key, seed, epsilon=epsilon)
    guarantee = release.guarantee
    allowed = max(guarantee.epsilon, guarantee.epsilon_transcript or 0)
    threat = draw_released_threat(graph, release.graph, np.random.default_rng(0))
    scores = make_method("mechanism_posterior").score(release, threat, Context(Seed(0))).scores
    prior = compute_prior_logits(release, threat.pairs, Context(Seed(0)))
    gain = np.abs(scores - prior)
    assert gain.max() <= allowed + 1e-9
    assert gain.max() > 0


def test_evidence_is_bayes_on_flips_drawn_many_times():
    """P(in release | link) / P(in release | no link) by counting, against e^ε."""
    graph, epsilon = GRAPHS["two_communities"](), 1.5
    real, times = graph.contains_pairs(every_pair(graph)), 400
    seen = np.zeros(len(real))
    for seed in range(times):
        seen += publish(graph, seed=seed, epsilon=epsilon).graph.contains_pairs(every_pair(graph))
    ratio = math.log((seen[real].mean() / times) / (seen[~real].mean() / times))
    assert ratio == pytest.approx(epsilon, abs=0.03)
    release = publish(graph, epsilon=epsilon)
    evidence = compute_evidence(release, every_pair(graph))
    inside = release.graph.contains_pairs(every_pair(graph))
    np.testing.assert_allclose(evidence, np.where(inside, epsilon, -epsilon))


def test_degrees_are_freed_of_flips_on_average():
    graph = two_communities(80)
    found = [estimate_degrees(publish(graph, seed=s, epsilon=2.0)).mean() for s in range(20)]
    assert np.mean(found) == pytest.approx(graph.degrees.mean(), rel=0.05)


def release_modes(graph: Graph, seed: int, epsilon: float) -> Release:
    defense = make_method("edge_rand", {"epsilon": epsilon})
    return make_release(defense, Threats(graph), Context(Seed(seed)))


def test_degrees_in_two_modes_are_freed_of_flips_across_them_on_average():
    graph = make_modes(80, 20)[0]
    found = np.mean([estimate_degrees(release_modes(graph, s, 2.0)) for s in range(20)], axis=0)
    for code in (0, 1):
        side = graph.modes.codes == code
        assert found[side].mean() == pytest.approx(graph.degrees[side].mean(), rel=0.05)


@pytest.mark.parametrize("epsilon", [3.0, None])
def test_expected_links_in_two_modes_are_all_links(epsilon):
    """Σ P over the candidates = m, as for d(u) d(i) / m of the configuration model."""
    graph, _ = make_modes(80, 20)
    graph = graph.select_edges(np.arange(graph.num_edges) % 4 == 0)  # no P near 1
    pairs = every_pair(graph)
    pairs, found = pairs[graph.may_link(pairs)], []
    for seed in range(10 if epsilon else 1):
        release = release_modes(graph, seed, epsilon) if epsilon else Release(graph)
        prior = compute_prior_logits(release, pairs, Context(Seed(0)))
        found.append((1 / (1 + np.exp(-prior))).sum())
    assert np.mean(found) == pytest.approx(graph.num_edges, rel=0.1)


@pytest.mark.parametrize("key", sorted({*RULES} - {"blink"}))
def test_the_share_of_real_links_in_two_modes_is_that_of_the_candidates(key):
    """Of some size: on 100 nodes DPRR's noisy degrees, clipped at 0, hide a tenth of the links."""
    graph, alike = make_modes(160, 120)
    assert alike.size == graph.num_candidates
    config = {} if key == "random_rewiring" else {"epsilon": 2.0}
    shares, densities = [], []
    for seed in range(20):
        threats = Threats(graph)
        release = make_release(make_method(key, config), threats, Context(Seed(seed)))
        density, links, chances = estimate_link_probabilities(release)
        shares.append(graph.contains_pairs(links).mean() - chances.mean())
        densities.append(density)
    assert np.mean(densities) == pytest.approx(graph.density, rel=0.1)
    assert abs(np.mean(shares)) < 0.03


def test_several_releases_add_up_their_evidence():
    graph = two_communities(60)
    releases = [publish(graph, seed=s, epsilon=2.0) for s in range(5)]
    merged = merge_releases(releases)
    pairs = every_pair(graph)
    counts = np.sum([r.graph.contains_pairs(pairs) for r in releases], axis=0)
    np.testing.assert_allclose(
        merged.graph.adjacency.toarray()[pairs[:, 0], pairs[:, 1]], counts / 5, atol=1e-6
    )
    np.testing.assert_allclose(
        compute_evidence(merged, pairs), 2.0 * (counts - (5 - counts)), atol=1e-5
    )
    assert merged.graph.num_edges == (counts > 0).sum()
    real = graph.contains_pairs(pairs)
    aucs = [
        compute_auc(compute_evidence(release, pairs), real)[0] for release in (releases[0], merged)
    ]
    assert aucs[1] > aucs[0] + 0.05


def test_releases_of_different_defenses_add_up_their_evidence():
    """ε = 1, ε = 3, and one without a guarantee: what each says of a pair is added."""
    graph = two_communities(60, seed=1)
    pairs = every_pair(graph)
    releases = [publish(graph, seed=1, epsilon=1.0), publish(graph, seed=2, epsilon=3.0)]
    releases.append(Release(graph.with_edges(graph.edges[::2]), "random_deletion"))
    joined = join_releases(releases)
    expected = sum(
        epsilon * np.where(release.graph.contains_pairs(pairs), 1.0, -1.0)
        for epsilon, release in zip((1.0, 3.0, CERTAIN), releases, strict=True)
    )
    np.testing.assert_allclose(compute_evidence(joined, pairs), expected, atol=1e-4)
    union = np.any([release.graph.contains_pairs(pairs) for release in releases], axis=0)
    np.testing.assert_array_equal(joined.graph.contains_pairs(pairs), union)


def test_eight_releases_at_epsilon_three_give_the_graph_away():
    """A sparse graph of 2,000 people: eight times ε = 3 names 95 % of its links for certain."""
    rng = np.random.default_rng(0)
    graph = Graph.from_pairs(rng.integers(0, 2000, (4000, 2)), 2000)
    merged = merge_releases([publish(graph, seed=s, epsilon=3.0) for s in range(8)])
    threat = draw_released_threat(graph, merged.graph, rng)
    scores = make_method("mechanism_posterior").score(merged, threat, Context(Seed(0)))
    found = {m.metric: m.value for m in measure_released(scores, threat)}
    assert found["recovered_at_precision_0.99"] > 0.95
    single = publish(graph, epsilon=3.0)
    one = draw_released_threat(graph, single.graph, rng)
    alone = measure_released(
        make_method("mechanism_posterior").score(single, one, Context(Seed(0))), one
    )
    assert {m.metric: m.value for m in alone}["recovered_at_precision_0.9"] < 0.2


def test_plausibility_tells_real_links_from_false_ones_of_the_same_release():
    graph = two_communities(120, seed=5)
    rng = np.random.default_rng(0)
    pairs = every_pair(graph)
    false = pairs[~graph.contains_pairs(pairs)]
    false = false[rng.permutation(len(false))[: graph.num_edges]]
    release = Release(graph.with_edges(np.concatenate([graph.edges, false])))
    threat = draw_released_threat(graph, release.graph, rng)
    attack = make_method("plausibility", {"embedding": False})
    scores = attack.score(release, threat, Context(Seed(0))).scores
    inside = threat.released
    assert compute_auc(scores[inside], threat.truth[inside])[0] > 0.65


def test_a_link_does_not_speak_for_itself():
    """One link more or less in the release changes what the release says of it, nothing else."""
    graph = two_communities(60, seed=1)
    other = every_pair(graph)[~graph.contains_pairs(every_pair(graph))][:1]
    more = graph.with_edges(np.concatenate([graph.edges, other]))
    attack = make_method("mechanism_posterior")
    scores = []
    for released in (graph, more):
        threat = draw_released_threat(graph, released, np.random.default_rng(0))
        threat = replace(threat, absent=other, hidden=graph.edges[:0])
        release = publish(graph, epsilon=1.0)
        scores.append(attack.score(replace(release, graph=released), threat, Context(Seed(0))))
    assert 1.5 < scores[1].scores[0] - scores[0].scores[0] < 2.6  # 2ε and a little by the degrees


@pytest.mark.parametrize("name", ["two_communities", "weighted", "isolated_node"])
def test_judged_pairs_are_all_links_all_lies_and_others_with_their_weight(name):
    graph = GRAPHS[name]()
    released = publish(graph, epsilon=1.0).graph
    threat = draw_released_threat(graph, released, np.random.default_rng(0))
    assert {tuple(p) for p in threat.hidden} == {tuple(p) for p in graph.edges}
    assert not graph.contains_pairs(threat.absent).any()
    np.testing.assert_array_equal(threat.released, released.contains_pairs(threat.pairs))
    assert threat.weights.sum() == pytest.approx(graph.num_pairs)
    lies = ~threat.truth & threat.released
    assert lies.sum() == (~graph.contains_pairs(released.edges)).sum()


@pytest.mark.parametrize("digits", [1, 0])
def test_measures_equal_a_loop_over_every_pair_of_the_graph(digits):
    """Weight 3 for a pair means three such pairs; without digits most scores are tied."""
    rng = np.random.default_rng(0)
    truth = np.arange(60) < 20
    weights = np.where(truth, 1, rng.integers(1, 4, 60)).astype(float)
    scores = np.round(rng.normal(size=60) + truth, digits)
    released = rng.random(60) < 0.5
    pairs = np.stack([np.arange(60), np.arange(60) + 60], 1)
    threat = ReleasedThreat(pairs[:20], pairs[20:], 0.1, weights=weights, released=released)
    found = {m.metric: m for m in measure_released(PairScores(scores), threat)}
    many = np.repeat(np.arange(60), weights.astype(int))
    all_scores, all_truth = scores[many], truth[many]
    assert found["released_auc"].value == pytest.approx(compute_auc(all_scores, all_truth)[0])
    inside = released[many]
    assert found["released_precision"].value == pytest.approx(all_truth[inside].mean())
    best = 0.0
    for limit in np.unique(all_scores):
        named = all_scores >= limit
        if all_truth[named].mean() >= 0.9:
            best = max(best, all_truth[named].sum() / 20)
    assert found["recovered_at_precision_0.9"].value == pytest.approx(best)
    ranked = np.sort(np.unique(all_scores[inside]))[::-1]
    room, hits = 0.1 * inside.sum(), 0.0
    for score in ranked:
        group = inside & (all_scores == score)
        taken = min(room, group.sum())
        hits += taken * all_truth[group].mean()
        room -= taken
    expected = hits / (0.1 * inside.sum())
    assert found["released_precision_top_tenth"].value == pytest.approx(expected)
    for item in found.values():
        assert item.variance > 0


def test_nothing_inside_is_said_so():
    threat = draw_released_threat(
        GRAPHS["star"](), Graph.from_pairs([[0, 1]], 21), np.random.default_rng(0)
    )
    empty = replace(threat, released=np.zeros(len(threat.released), bool))
    found = {m.metric: m for m in measure_released(PairScores(np.zeros(len(empty.pairs))), empty)}
    assert "no links" in found["released_precision"].reason


@pytest.mark.parametrize("count", [0, 5])
def test_cases_of_one_kind_alone_have_no_measure(count):
    """A complete graph has no pair that is no link, an empty one none that is."""
    pairs = np.stack([np.arange(5), np.arange(5) + 5], 1)
    threat = ReleasedThreat(
        pairs[:count], pairs[count:], 0.5, weights=np.ones(5), released=np.ones(5, bool)
    )
    found = measure_released(PairScores(np.arange(5.0)), threat)
    assert len(found) == 6
    assert {item.reason for item in found} == {"needs cases of both kinds"}
