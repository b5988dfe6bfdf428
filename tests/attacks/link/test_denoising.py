"""Released links are told from noise of known probability, and links are learned from real ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.attacks.link import denoising
from core.attacks.link.denoising import describe_obstacle, share_denoised
from core.attacks.shadow_release import make_shadow_release
from core.context import Context, SharedWork
from core.data.splits import draw_released_threat, draw_threats
from core.data.synthetic import generate_social
from core.measures.ranking import compute_auc
from core.measures.released_links import measure_released
from core.methods import THIS_SIZE
from core.privacy.real_links import estimate_link_probabilities
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities


def publish(graph, key, epsilon, **config):
    defense = make_method(key, {"epsilon": epsilon, **config}, "defense")
    return defense.publish(graph, Threats(graph), Context(Seed(1)))


@pytest.mark.parametrize("key", ["edge_rand", "sym_rr", "rabv", "randomized_response", "dprr"])
@pytest.mark.parametrize("epsilon", [1.0, 2.5])
def test_the_share_of_real_links_follows_from_the_flip_probability(key, epsilon):
    """Against the truth, by each weight that links of the release have."""
    graph = two_communities(200)
    release = publish(graph, key, epsilon)
    density, links, chances = estimate_link_probabilities(release)
    assert density == pytest.approx(graph.density, rel=0.25)
    weights = release.graph.weights
    weights = np.ones(len(links)) if weights is None else weights[weights > 0]
    real = graph.contains_pairs(links)
    for weight in np.unique(weights):
        same = weights == weight
        assert chances[same].mean() == pytest.approx(real[same].mean(), abs=0.08)


def test_blink_publishes_posteriors():
    release = publish(two_communities(80), "blink", 4.0, variant="soft")
    _, links, chances = estimate_link_probabilities(release)
    np.testing.assert_allclose(chances, np.clip(release.graph.weights, 0.002, 0.998))
    assert len(links) == release.graph.num_edges


@pytest.fixture(scope="module")
def noisy():
    threats = draw_threats(two_communities(240, 3), Seed(0), hide_links=0.1)
    return threats, publish(threats.visible, "edge_rand", 2.0)


@pytest.fixture(scope="module")
def context():
    """One for all tests: the release is denoised once."""
    return Context(Seed(0), shared=SharedWork())


def test_real_links_get_higher_probabilities_and_these_are_calibrated(noisy, context):
    threats, release = noisy
    found = share_denoised(release, context)
    real = threats.visible.contains_pairs(found.links)
    assert 0.4 < real.mean() < 0.8
    assert compute_auc(found.probabilities, real)[0] > 0.72
    assert found.probabilities.mean() == pytest.approx(real.mean(), abs=0.08)
    likely = found.probabilities > np.median(found.probabilities)
    for half in (likely, ~likely):
        assert found.probabilities[half].mean() == pytest.approx(real[half].mean(), abs=0.12)


def test_the_same_links_with_less_noise_are_weighed_anew(noisy, context):
    """Two settings of a defense may publish the same graph."""
    _, release = noisy
    likelier = replace(release, config={**release.config, "epsilon": 6.0})
    first, second, again = (
        share_denoised(each, context, folds=2, rounds=0) for each in (release, likelier, release)
    )
    assert second is not first
    assert again is first


def test_released_links_are_ranked_better_than_by_the_mechanism_alone(noisy, context):
    threats, release = noisy
    threat = draw_released_threat(threats.visible, release.graph, np.random.default_rng(0))
    found = {
        key: measure_released(make_method(key).score(release, threat, context), threat)
        for key in ("denoising", "mechanism_posterior")
    }
    aucs = {key: measured[0].value for key, measured in found.items()}
    assert aucs["denoising"] > aucs["mechanism_posterior"] - 0.005
    assert aucs["denoising"] > 0.9


def test_withheld_links_are_found_through_the_noise(noisy, context):
    threats, release = noisy
    scores = make_method("denoising").score(release, threats.link, context).scores
    assert compute_auc(scores, threats.link.truth)[0] > 0.7


def test_only_releases_of_known_noise_are_denoised():
    graph = two_communities(40)
    assert describe_obstacle(Release(graph))
    assert describe_obstacle(publish(graph, "dgg", 2.0))
    for key in ("edge_rand", "lap_graph"):
        assert describe_obstacle(publish(graph, key, 2.0)) is None


def test_a_release_of_too_many_links_says_so(monkeypatch):
    graph = two_communities(40)
    release = publish(graph, "edge_rand", 2.0)
    monkeypatch.setattr(denoising, "MAX_LINKS", release.graph.num_edges - 1)
    assert THIS_SIZE in describe_obstacle(release)
    assert THIS_SIZE not in describe_obstacle(Release(graph))


def test_an_adaptive_attacker_takes_likely_links_for_its_secrets(noisy, context):
    threats, release = noisy
    defense = make_method("edge_rand", {"epsilon": 2.0}, "defense")
    secrets = replace(threats, attribute=None, utility=None)
    played = [
        make_shadow_release(defense, release, secrets, context.child(number)) for number in range(3)
    ]
    share = threats.visible.contains_pairs(release.graph.edges).mean()
    taken = np.concatenate([one.hidden for one in played])
    assert threats.visible.contains_pairs(taken).mean() > share + 0.05
    # rehearsed on a graph of about as many links as the defended one, not on the noisy release
    links = [one.before.num_edges for one in played]
    assert max(links) < 0.5 * (threats.visible.num_edges + release.graph.num_edges)


@pytest.mark.parametrize("key", ["denoising", "pair_classifier", "adamic_adar"])
def test_an_empty_weighted_release_is_scored(key):
    """Blink may publish no link at all; sums over no links are numbers, not counts."""
    graph = generate_social(200, seed=0)
    threats = draw_threats(graph, Seed(0), hide_links=0.1)
    defense = make_method("blink", {"epsilon": 1.0}, "defense")
    release = defense.publish(threats.visible, threats, Context(Seed(0)))
    empty = threats.visible.with_edges(np.empty((0, 2), np.int64), np.empty(0))
    release = replace(release, graph=empty)
    attack = make_method(key, {}, "link_attack")
    found = attack.score(release, threats.link, Context(Seed(0)))
    assert np.isfinite(found.scores).all()
    assert empty.strengths.dtype == np.float64
