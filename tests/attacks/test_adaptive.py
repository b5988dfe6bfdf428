"""Attacks that know the defense: what they learn from a replay, and what they must not see."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from core.attacks import adaptive
from core.attacks.adaptive import (
    compute_expected_auc,
    fit_calibration,
    fit_correction,
    infer_adaptive,
    is_corrected_better,
    learn_adaptive,
)
from core.attacks.link import denoising
from core.attacks.link.denoising import share_denoised
from core.attacks.shadow_release import MAX_SHADOW_LINKS, ShadowRelease, make_shadow_release
from core.audit.asked.scenarios import Scenario
from core.audit.computing.attacking import attack_release
from core.context import Context, SharedWork
from core.data.splits import draw_attribute_threat, draw_released_threat
from core.errors import UnsupportedError
from core.graph import Graph
from core.measures.ranking import compute_auc, measure_class_probabilities
from core.methods import Defense, MethodInfo
from core.privacy.real_links import estimate_link_probabilities
from core.registry import make_method
from core.release import Release
from core.results import ClassProbabilities, PairScores
from core.seeding import Seed
from core.threats import LinkThreat, Threats
from tests.oracles.graphs import make_threats, plant_blocks, two_communities


class Overdone(Defense):
    """Deletes every path of two links between the ends of a secret: it leaks by inversion."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="overdone", title="Overdone", summary="For tests.", source="none", group="empirical"
    )

    def supports(self, graph, threats):
        return None if threats.link is not None else "needs sensitive links"

    def publish(self, graph, threats, context):
        near, doomed = graph.adjacency != 0, []
        for i, j in threats.link.hidden:
            shared = near[[i]].multiply(near[[j]]).nonzero()[-1]
            doomed += [(i, z) for z in shared] + [(j, z) for z in shared]
        pairs = np.array(doomed, np.int64).reshape(-1, 2)
        return Release(graph.without_edges(pairs), "overdone", self.config)


class Swapped(Defense):
    """Moves the features of the two private classes to each other: the attack inverts."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="swapped", title="Swapped", summary="For tests.", source="none", group="empirical"
    )

    def publish(self, graph, threats, context):
        secret = np.flatnonzero(threats.attribute.hidden)
        features = np.array(graph.features)
        features[secret] = 1 - features[secret]  # the classes lie at 0 and 1
        return Release(graph.update_columns(features=features), "swapped", self.config)


def make_audit(n=120, seed=4, share=0.1):
    graph = two_communities(n, seed=seed)
    rng = np.random.default_rng(seed)
    count = round(share * graph.num_edges)
    hidden = graph.edges[rng.permutation(graph.num_edges)[:count]]
    i, j = np.triu_indices(n, 1)
    absent = np.stack([i, j], 1)
    absent = absent[~graph.contains_pairs(absent)]
    link = LinkThreat(hidden, absent[rng.permutation(len(absent))[:count]], 0.1)
    return replace(make_threats(graph), visible=graph.without_edges(hidden), link=link)


def test_an_attack_that_knows_the_defense_reads_what_was_overdone():
    threats = make_audit()
    release = Overdone().publish(threats.visible, threats, Context(Seed(0)))
    attack = make_method("common_neighbors")
    blind = attack.score(release, threats.link, Context(Seed(0))).scores
    found = learn_adaptive(attack, Overdone(), release, threats.link, threats, Context(Seed(0)))(
        threats.link
    )
    auc = compute_auc(blind, threats.link.truth)[0]
    assert auc < 0.4
    assert compute_auc(found.scores, threats.link.truth)[0] > max(auc + 0.2, 0.55)
    assert found.facts["shadow_links"] < release.graph.num_edges


def test_a_replay_reads_nothing_that_is_hidden_from_the_attacker():
    """Other secrets in the threats, same replay: withheld links and hidden values do not enter."""
    threats = make_audit(60)
    release = Release(threats.visible)
    values = threats.attribute.attribute
    codes = np.where(threats.attribute.hidden, 1 - values.codes, values.codes)
    other = replace(
        threats,
        link=LinkThreat(threats.link.absent, threats.link.hidden, 0.5),
        attribute=replace(threats.attribute, attribute=replace(values, codes=codes)),
        visible=threats.visible.without_edges(threats.visible.edges[:10]),
    )
    plays = [
        make_shadow_release(make_method("edge_rand"), release, t, Context(Seed(1)))
        for t in (threats, other)
    ]
    np.testing.assert_array_equal(plays[0].hidden, plays[1].hidden)
    np.testing.assert_array_equal(plays[0].release.graph.edges, plays[1].release.graph.edges)
    for play in plays:
        own = play.attribute
        assert (own.attribute.codes[threats.attribute.hidden] == -1).all()
        assert not (own.known & own.hidden).any()
        assert (own.known | own.hidden).sum() == threats.attribute.known.sum()


def test_own_secrets_are_links_of_the_release_and_withheld_from_the_replay():
    threats = make_audit(60)
    played = make_shadow_release(Overdone(), Release(threats.visible), threats, Context(Seed(1)))
    assert threats.visible.contains_pairs(played.hidden).all()
    assert not played.before.contains_pairs(played.hidden).any()
    assert not threats.visible.contains_pairs(played.absent).any()
    assert len(played.hidden) > 0


def test_one_classifier_scores_all_pairs_of_a_cell(monkeypatch):
    """Those of the threat and further ones, which an instant attack scores apart."""
    threats, fits, asked = make_audit(60), [], []
    made = make_method("random_deletion")
    release = made.publish(threats.visible, threats, Context(Seed(0)))
    fit, score = adaptive.fit_pair_classifier, adaptive.PooledClassifier.compute_logits
    monkeypatch.setattr(adaptive, "fit_pair_classifier", lambda *a: fits.append(1) or fit(*a))
    monkeypatch.setattr(
        adaptive.PooledClassifier,
        "compute_logits",
        lambda self, columns: asked.append(len(columns)) or score(self, columns),
    )
    monkeypatch.setattr(adaptive, "_is_better", lambda *given: True)
    attack, scenario = make_method("common_neighbors"), Scenario.parse("common_neighbors@adaptive")
    attack_release(attack, scenario, release, threats, Context(Seed(0)))
    assert len(fits) == 1
    assert len(asked) == 2


def test_one_replay_serves_all_attacks_on_a_release(monkeypatch):
    threats, calls = make_audit(60), []
    release, publish = Release(threats.visible), Overdone.publish
    monkeypatch.setattr(Overdone, "publish", lambda *args: calls.append(1) or publish(*args))
    shared = SharedWork(limit=20)
    for key in ("common_neighbors", "adamic_adar", "degree_product"):
        context = Context(Seed(0).child(key), shared_seed=Seed(0), shared=shared)
        attack = make_method(key)
        learn_adaptive(attack, Overdone(), release, threats.link, threats, context)(threats.link)
    assert len(calls) == 1


def test_a_shadow_release_of_a_large_one_is_of_a_part_and_says_so():
    rng = np.random.default_rng(0)
    graph = Graph.from_pairs(rng.integers(0, 12_000, (40_000, 2)), 12_000)
    threats = replace(make_audit(60), visible=graph, attribute=None, utility=None)
    costly = make_method("random_rewiring")
    kind = type(
        "Costly",
        (type(costly),),
        {"info": replace(costly.info, cost="minutes"), "__module__": __name__},
    )
    played = make_shadow_release(kind(), Release(graph), threats, Context(Seed(0)))
    links = played.before.num_edges + len(played.hidden)
    assert MAX_SHADOW_LINKS / 4 < links <= MAX_SHADOW_LINKS * 1.1
    assert "sample" in played.note
    assert f"{links:,}" in played.note
    assert graph.contains_pairs(played.nodes[played.hidden]).all()
    assert not graph.contains_pairs(played.nodes[played.absent]).any()
    assert not make_shadow_release(costly, Release(graph), threats, Context(Seed(0))).note


def test_a_defense_that_declines_its_own_release_is_unsupported():
    threats = make_audit(60)
    release = Release(threats.visible)
    without = replace(threats, link=None)
    with pytest.raises(UnsupportedError, match="own release"):
        make_shadow_release(Overdone(), release, without, Context(Seed(0)))


def test_swapped_classes_are_swapped_back():
    threats = make_audit(120)
    known = np.arange(120) % 2 == 0
    attribute = replace(threats.attribute, known=known, hidden=~known)
    threats = replace(threats, attribute=attribute)
    release = Swapped().publish(threats.visible, threats, Context(Seed(0)))
    attack, truth = make_method("feature_regression"), attribute.attribute.codes[~known]
    blind = attack.infer(release, attribute, Context(Seed(0))).probabilities[~known]
    found = infer_adaptive(attack, Swapped(), release, attribute, threats, Context(Seed(0)))
    assert (blind.argmax(1) == truth).mean() < 0.35
    assert (found.probabilities[~known].argmax(1) == truth).mean() > 0.65


def test_the_correction_leaves_alone_what_it_has_no_reason_to_change():
    rng = np.random.default_rng(0)
    values = rng.dirichlet(np.ones(3), 50)
    few = fit_correction(values[:0], np.zeros(0, np.int64))
    np.testing.assert_allclose(few(values), np.maximum(values, adaptive.FLOOR), atol=1e-3)
    truth = np.array([rng.choice(3, p=row) for row in np.repeat(values, 200, axis=0)])
    fitted = fit_correction(np.repeat(values, 200, axis=0), truth)
    np.testing.assert_allclose(fitted(values), values, atol=0.05)


def test_expected_auc_equals_a_naive_mean_over_pairs():
    rng = np.random.default_rng(0)
    scores, chances = rng.integers(0, 8, 40).astype(float), rng.random(40)
    wins = (scores[:, None] > scores[None]) + 0.5 * (scores[:, None] == scores[None])
    naive = np.average(wins, weights=np.outer(chances, 1 - chances))
    auc, influence = compute_expected_auc(scores, chances)
    assert auc == pytest.approx(naive)
    assert influence.sum() == pytest.approx(0, abs=1e-12)
    truth = chances > 0.5
    certain, exact = compute_expected_auc(scores, truth.astype(float)), compute_auc(scores, truth)
    assert certain[0] == pytest.approx(exact[0])
    assert np.linalg.norm(certain[1]) == pytest.approx(np.linalg.norm(exact[1]), rel=0.05)


@pytest.mark.parametrize(("noise", "is_learned"), [(0.05, False), (1.0, True)])
def test_a_form_that_finds_noise_is_no_better(noise, is_learned, monkeypatch):
    """The attack finds 80 of the attacker's own 400 links, which are real; its second column
    marks the other 320, which are worth learning only if they are real too."""
    rng = np.random.default_rng(0)
    is_real, is_link = np.arange(800) < 80, np.arange(800) < 400
    plain = is_real + rng.normal(0, 0.2, 800)
    columns = np.column_stack([plain, (is_link & ~is_real) + rng.normal(0, 0.2, 800)])
    graph = two_communities(60)
    i, j = np.triu_indices(60, 1)
    pairs = np.stack([i, j], axis=1)[:800]
    own = LinkThreat(pairs[:400], pairs[400:], 0.1)
    chances = np.where(is_real, 0.95, noise)[:400]
    played = ShadowRelease(
        graph, np.arange(60), Release(graph), own.hidden, own.absent, chances, None
    )
    attack = make_method("common_neighbors")
    monkeypatch.setattr(type(attack), "describe", lambda *given: columns)
    monkeypatch.setattr(adaptive, "_append_link_weights", lambda columns, release, threat: columns)
    found = adaptive._fit_form(attack, Release(graph), played, own, Context(Seed(0)))
    assert found.weight == is_learned


@pytest.mark.parametrize("first", [0, 20])
@pytest.mark.parametrize(
    ("plain_there", "learned_there", "is_learned"),
    [(0.0, 1.0, True), (1.0, 1.0, False), (0.0, 0.0, False), (0.0, -1.0, False)],
)
def test_both_forms_are_tried_on_the_release_itself(
    first, plain_there, learned_there, is_learned, monkeypatch
):
    """On the shadow release only the learned form knows the secrets; on the release itself either
    form may know them, or the learned one may be inverted. The shadow release is of the release's
    nodes from `first` on."""
    rng = np.random.default_rng(0)
    graph, empty = two_communities(60 + first), Graph.from_pairs(np.zeros((0, 2), int), 60)
    i, j = np.triu_indices(60, 1)
    pairs, is_link = np.stack([i, j], axis=1)[:800], np.arange(800) < 400
    own = LinkThreat(pairs[:400], pairs[400:], 0.1)
    nodes = np.arange(60) + first
    played = ShadowRelease(
        *(empty, nodes, Release(empty), own.hidden, own.absent, np.full(400, 0.9), None),
        note="made of a sample" if first else "",
    )
    attack = make_method("common_neighbors")
    noise = rng.normal(0, 1, (2, 800))

    def is_release(release, threat):
        found = release.graph.num_edges > 0
        np.testing.assert_array_equal(threat.pairs, pairs + first * found)
        assert not release.graph.adjacency[threat.hidden[:, 0], threat.hidden[:, 1]].any()
        return found

    def score(self, release, threat, context):
        return PairScores(noise[0] + 4 * plain_there * is_release(release, threat) * is_link)

    def describe(self, release, threat, context):
        strength = learned_there if is_release(release, threat) else 1.0
        return (noise[1] + strength * is_link)[:, None]

    monkeypatch.setattr(type(attack), "describes_score", False)
    monkeypatch.setattr(type(attack), "score", score)
    monkeypatch.setattr(type(attack), "describe", describe)
    monkeypatch.setattr(adaptive, "_append_link_weights", lambda columns, release, threat: columns)
    found = adaptive._fit_form(attack, Release(graph), played, own, Context(Seed(0)))
    assert found.weight == is_learned


@pytest.mark.parametrize(
    ("plain", "learned", "weight"), [(0.0, 2.0, 1.0), (2.0, 0.0, 0.0), (1.0, 1.0, 0.5)]
)
def test_forms_that_find_own_secrets_equally_well_are_averaged(plain, learned, weight, monkeypatch):
    """Each form's score is a shift of this size for links, and noise of its own."""
    rng = np.random.default_rng(0)
    threats = make_audit(60)
    graph, truth = threats.visible, np.arange(800) < 400
    i, j = np.triu_indices(60, 1)
    pairs = np.stack([i, j], axis=1)[:800]
    own = LinkThreat(pairs[:400], pairs[400:], 0.1)
    played = ShadowRelease(
        graph, np.arange(60), Release(graph), own.hidden, own.absent, np.ones(400), None
    )
    attack, noise = make_method("common_neighbors"), rng.normal(0, 1, (2, 800))
    scores, columns = noise + np.array([[plain], [learned]]) * truth
    monkeypatch.setattr(type(attack), "describes_score", False)
    monkeypatch.setattr(type(attack), "score", lambda *given: PairScores(scores))
    monkeypatch.setattr(type(attack), "describe", lambda *given: columns[:, None])
    monkeypatch.setattr(adaptive, "share_shadow_release", lambda *given: played)
    monkeypatch.setattr(adaptive, "_append_link_weights", lambda columns, release, threat: columns)
    context = Context(Seed(0))
    form = adaptive._fit_form(attack, Release(graph), played, own, context)
    assert form.weight == weight
    found = learn_adaptive(attack, Overdone(), Release(graph), own, threats, context)(own)
    if weight == 0:
        np.testing.assert_array_equal(found.scores, scores)
        return
    odds = form.classifier.compute_logits(columns[:, None])
    if weight < 1:
        odds = (odds + form.calibrate(scores)) / 2
        alone = max(compute_auc(scores, truth)[0], compute_auc(columns, truth)[0])
        assert compute_auc(found.scores, truth)[0] > alone + 0.05
    np.testing.assert_allclose(found.scores, odds)


def test_calibrated_scores_are_log_odds():
    """Of normal scores with equal spread they are linear: the shift by the variance."""
    rng = np.random.default_rng(0)
    truth = np.arange(20_000) < 10_000
    scores = 100 + 5 * (rng.normal(size=20_000) + 1.5 * truth)
    found = fit_calibration(scores, truth)(np.array([100.0, 103.75, 107.5]))
    np.testing.assert_allclose(found, [-1.125, 0, 1.125], atol=0.06)
    assert not fit_calibration(np.ones(40), truth[9_980:10_020])(np.ones(3)).any()


@pytest.mark.parametrize("is_released", [False, True])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_release_with_too_few_links_to_hide_gets_the_plain_scores(count, is_released):
    """With one link none can be hidden; with four, too few for a classifier to be trained."""
    threats = make_audit(60)
    links = threats.visible.edges
    release = Release(threats.visible.without_edges(links[count:]))
    attack, threat = make_method("feature_cosine"), threats.link
    if is_released:
        threat = draw_released_threat(
            threats.visible, release.graph, Context(Seed(0)).rng("included")
        )
    plain = attack.score(release, threat, Context(Seed(0))).scores
    assert np.ptp(plain) > 0
    found = learn_adaptive(attack, Overdone(), release, threat, threats, Context(Seed(0)))(threat)
    np.testing.assert_array_equal(found.scores, plain)
    assert found.facts == adaptive.NO_SECRETS


@pytest.mark.parametrize("key", ["edge_rand", "lap_graph"])
def test_own_secrets_have_the_chances_of_the_denoising(key):
    threats = make_audit(60)
    defense = make_method(key, {"epsilon": 2.0}, "defense")
    release, context = defense.publish(threats.visible, threats, Context(Seed(0))), Context(Seed(1))
    played = make_shadow_release(defense, release, threats, context)
    found = share_denoised(release, context)
    by_link = dict(zip(map(tuple, found.links.tolist()), found.probabilities, strict=True))
    assert len(played.probabilities) == len(played.hidden) > 0
    np.testing.assert_array_equal(played.probabilities, [by_link[tuple(p)] for p in played.hidden])
    noiseless = make_shadow_release(Overdone(), Release(threats.visible), threats, context)
    assert (noiseless.probabilities == 1).all()


@pytest.mark.parametrize("key", ["edge_rand", "randomized_response", "lap_graph"])
def test_secrets_of_a_release_too_large_to_denoise_have_the_chances_of_the_rule(key, monkeypatch):
    """Counted as real they would reward what finds noise."""
    threats = make_audit(60)
    defense = make_method(key, {"epsilon": 2.0}, "defense")
    release, context = defense.publish(threats.visible, threats, Context(Seed(0))), Context(Seed(1))
    monkeypatch.setattr(denoising, "MAX_LINKS", release.graph.num_edges - 1)
    played = make_shadow_release(defense, release, threats, context)
    _, links, chances = estimate_link_probabilities(release)
    by_link = dict(zip(map(tuple, links.tolist()), chances, strict=True))
    assert len(played.hidden) > 0
    assert (played.probabilities < 1).all()
    np.testing.assert_array_equal(played.probabilities, [by_link[tuple(p)] for p in played.hidden])


def test_odds_of_unreleased_pairs_do_not_depend_on_how_many_are_drawn(monkeypatch):
    """A classifier that saw one of 20 pairs without a link finds each 20 times as likely one."""
    threats, odds = make_audit(50), {}
    release = Release(threats.visible.with_edges(threats.visible.edges[10:]))
    asked = draw_released_threat(threats.visible, release.graph, np.random.default_rng(0))
    attack = make_method("common_neighbors")

    def fit(attack, release, shadow, threat, context):
        """Log odds of a pair that is not released, as counted in the training sample."""
        is_link = threat.truth[~threat.released]
        counted = np.log((is_link.sum() + 1) / (~is_link).sum())
        classifier = SimpleNamespace(
            name="counts", loss=0.0, compute_logits=lambda columns: np.full(len(columns), counted)
        )
        return adaptive.AdaptiveForm(classifier, 1.0, lambda scores: scores)

    monkeypatch.setattr(adaptive, "_fit_form", fit)
    for drawn in (60, 2000):
        monkeypatch.setattr("core.data.splits.NUM_OTHERS", drawn)
        found = learn_adaptive(attack, Overdone(), release, asked, threats, Context(Seed(0)))(asked)
        odds[drawn] = found.scores[~asked.released]
    np.testing.assert_allclose(odds[60], odds[2000], atol=0.05)


def test_a_correction_is_kept_only_where_it_predicts_better():
    """Swapped classes need the map; noise, few cases and mere lack of confidence do not."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 400)
    sure = 0.05 + 0.8 * np.eye(4)[codes]
    swapped = sure[:, [1, 2, 3, 0]]
    assert is_corrected_better(swapped, codes, np.random.default_rng(1))
    assert not is_corrected_better(swapped[:15], codes[:15], np.random.default_rng(1))
    noise = rng.dirichlet(np.ones(4), 400)
    assert not is_corrected_better(noise, codes, np.random.default_rng(1))
    right = rng.random(400) < 0.7
    shown = np.where(right, codes, rng.integers(0, 4, 400))
    timid = 0.24 + 0.04 * np.eye(4)[shown]
    assert not is_corrected_better(timid, codes, np.random.default_rng(1))


def make_flipped(key="edge_rand", setting=("epsilon", 1.5)):
    """Four classes, links flipped at random, a tenth of the values known."""
    codes = np.random.default_rng(0).integers(0, 4, 400)
    graph = plant_blocks(codes, np.full((4, 4), 0.03) + 0.17 * np.eye(4), 0)
    threat = draw_attribute_threat(graph, "private", 0.1, Seed(0))
    threats = Threats(graph, None, threat)
    defense = make_method(key, dict([setting]), "defense")
    return defense, defense.publish(graph, threats, Context(Seed(0))), threat, threats


@pytest.mark.parametrize("folds", [5, 0])
def test_a_known_flip_rate_serves_every_attack_on_values(folds):
    """One that predicts known values held out, and one that does not."""
    defense, release, threat, threats = make_flipped(setting=("epsilon", 2.5))
    attack = make_method("label_propagation", {"folds": folds})
    plain = attack.infer(release, threat, Context(Seed(0)))
    assert (plain.held_out is None) == (folds == 0)
    found = infer_adaptive(attack, defense, release, threat, threats, Context(Seed(0)))
    auc, better = (measure_class_probabilities(each, threat)[0].value for each in (plain, found))
    assert better > auc + 0.05
    assert found.facts["form"] == adaptive.DENOISED["form"]
    codes = np.where(threat.hidden, 0, threat.attribute.codes)
    other = replace(threat, attribute=replace(threat.attribute, codes=codes))
    again = infer_adaptive(attack, defense, release, other, threats, Context(Seed(0)))
    np.testing.assert_array_equal(found.probabilities, again.probabilities)


def test_denoised_links_are_left_out_where_they_tell_nothing_new(monkeypatch):
    defense, release, threat, threats = make_flipped(setting=("epsilon", 2.5))
    attack, blind = make_method("label_propagation"), make_method("class_prior")
    plain = attack.infer(release, threat, Context(Seed(0)))

    def guess(self, release, threat, context):
        shares = blind.infer(release, threat, context).probabilities
        held_out = np.where(threat.known[:, None], shares, np.nan)
        return ClassProbabilities(shares, held_out=held_out)

    monkeypatch.setattr(adaptive.DenoisedBlocks, "infer", guess)
    found = infer_adaptive(attack, defense, release, threat, threats, Context(Seed(0)))
    assert found.facts["form"] == adaptive.PLAIN["form"]
    np.testing.assert_array_equal(found.probabilities, plain.probabilities)


def test_an_attack_that_was_wrong_on_known_values_is_not_turned_round():
    """Few known values mislead: its probabilities have no weight, not a negative one."""
    _, release, threat, _ = make_flipped(setting=("epsilon", 2.5))
    wrong = np.where(np.eye(4)[threat.attribute.codes] > 0, 0.1, 0.3)
    held_out = np.where(threat.known[:, None], wrong, np.nan)
    other = np.where(np.roll(wrong, 1, axis=1) < 0.2, 0.001, 0.333)
    result = ClassProbabilities(other, held_out=held_out)
    context = Context(Seed(0))
    attack = make_method("label_propagation")
    pooled = adaptive._pool_with_denoised(attack, result, release, threat, context)
    denoised = make_method("denoised_blocks")
    alone = adaptive._share_prediction(denoised, release, threat, context).probabilities
    assert (pooled.argmax(axis=1) == alone.argmax(axis=1)).all()


def test_an_attack_that_holds_nothing_out_is_judged_by_what_it_was_not_told(monkeypatch):
    """It is asked again with half of the known values, and counts by the other half alone."""
    _, release, threat, _ = make_flipped(setting=("epsilon", 2.5))
    told, judged = [], []
    attack, context = make_method("label_propagation", {"folds": 0}), Context(Seed(0))
    infer, select = type(attack).infer, adaptive.select_held_out
    monkeypatch.setattr(
        type(attack), "infer", lambda *given: told.append(given[2].known) or infer(*given)
    )
    monkeypatch.setattr(
        adaptive, "select_held_out", lambda *given: judged.append(given[0][0]) or select(*given)
    )
    result = attack.infer(release, threat, context)
    assert adaptive._pool_with_denoised(attack, result, release, threat, context) is not None
    rows = ~np.isnan(judged[0][:, 0])
    assert (told[0] == threat.known).all()
    np.testing.assert_array_equal(rows, threat.known & ~told[1])
    assert 0.4 < rows.sum() / threat.known.sum() < 0.6


def test_class_shares_alone_are_no_reason_to_pool(monkeypatch):
    """An attack that does not know them would gain by any other that does."""
    codes = (np.random.default_rng(0).random(400) < 0.15).astype(int)
    graph = plant_blocks(codes, np.full((2, 2), 0.05), 0)
    threat = draw_attribute_threat(graph, "private", 0.2, Seed(0))
    defense = make_method("edge_rand", {"epsilon": 2.5}, "defense")
    release = defense.publish(graph, Threats(graph, None, threat), Context(Seed(0)))
    held = threat.known[:, None]

    def tell_shares(self, release, threat, context):
        shares = np.tile(threat.observed_shares, (400, 1))
        return ClassProbabilities(shares, held_out=np.where(held, shares, np.nan))

    monkeypatch.setattr(adaptive.DenoisedBlocks, "infer", tell_shares)
    uniform = np.full((400, 2), 0.5)
    result = ClassProbabilities(uniform, held_out=np.where(held, uniform, np.nan))
    attack, context = make_method("label_propagation"), Context(Seed(0))
    assert adaptive._pool_with_denoised(attack, result, release, threat, context) is None


def test_a_form_needs_so_many_standard_errors():
    """Gains of 1 and −1/2 by turns: a mean of 1/4, with a standard error of .0754."""
    codes = np.zeros(100, np.int64)
    odd = np.arange(100) % 2

    def tell(told, asked):
        return np.exp(np.where(odd[asked], 0.0, -1.5))[:, None]

    def usual(told, asked):
        return np.full((asked.sum(), 1), np.exp(-1.0))

    for errors, is_better in ((3.3, True), (3.4, False)):
        rng = np.random.default_rng(0)
        assert adaptive._is_form_better(tell, usual, codes, errors, rng) is is_better


@pytest.mark.parametrize(
    ("defense_key", "setting", "key"),
    [
        ("random_deletion", ("strength", 0.3), "label_propagation"),
        ("edge_rand", ("epsilon", 2.5), "denoised_blocks"),
        ("edge_rand", ("epsilon", 2.5), "mlp"),
    ],
)
def test_nothing_is_denoised_for_who_has_no_use_of_it(defense_key, setting, key, monkeypatch):
    _, release, threat, _ = make_flipped(defense_key, setting)
    attack = make_method(key)
    result = ClassProbabilities(np.full((400, 4), 0.25))
    monkeypatch.setattr(adaptive, "_share_prediction", lambda *given: pytest.fail("was denoised"))
    pooled = adaptive._pool_with_denoised(attack, result, release, threat, Context(Seed(0)))
    assert pooled is None
