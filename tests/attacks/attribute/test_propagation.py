"""Label propagation's certainty, and attackers whom heterophily does not hide anything from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from core.algorithms.class_propagation import normalize_class_mass, propagate_labels, sharpen
from core.attacks.attribute import attri_infer, label_propagation
from core.attacks.attribute.attri_infer import (
    COUPLINGS,
    PULLS,
    AttriInfer,
    BeliefPropagation,
    choose_coupling,
    list_close,
)
from core.attacks.attribute.ensemble import Ensemble
from core.attacks.attribute.label_propagation import LabelPropagation, choose_power
from core.context import Context
from core.data.splits import draw_attribute_threat
from core.data.synthetic import generate_social
from core.graph import Graph
from core.measures.ranking import measure_class_probabilities
from core.node_column import NodeColumn
from core.release import Release
from core.seeding import Seed


def measure(attack, graph, threat, seed=0):
    found = attack.infer(Release(graph), threat, Context(Seed(seed)))
    return {m.metric: m.value for m in measure_class_probabilities(found, threat)}


def make_unequal(n=400, minority=0.25, seed=0) -> Graph:
    """Every fourth is in the minority; all links but a sprinkle stay within a class."""
    rng = np.random.default_rng(seed)
    codes = (np.arange(n) < minority * n).astype(int)
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < np.where(codes[i] == codes[j], 0.03, 0.008)
    attributes = {"private": NodeColumn("private", codes, ("many", "few"))}
    return Graph.from_pairs(np.stack([i[keep], j[keep]], 1), n, attributes=attributes)


def test_class_mass_is_a_worked_example():
    """Two unknown nodes, classes 3 : 1. Their values huddle at the shares, .75 ± .05; against
    the mass of the class the second leans to the rarer class, and sharpened it is given it."""
    prior = np.array([0.75, 0.25])
    values = np.array([[0.8, 0.2], [0.7, 0.3], [1.0, 0.0]])
    unknown = np.array([True, True, False])
    logits = normalize_class_mass(values, unknown)
    half = np.log([0.8 / 0.7, 0.2 / 0.3]) / 2
    np.testing.assert_allclose(logits[:2], [half, -half])
    once = sharpen(logits, prior, 1.0)[1]
    odds = 3 * np.exp(-half[0] + half[1])
    assert once[0] / once[1] == pytest.approx(odds)
    assert (values.argmax(axis=1)[:2] == 0).all()
    assert sharpen(logits, prior, 8.0)[:2].argmax(axis=1).tolist() == [0, 1]


def test_the_power_is_that_under_which_held_out_truth_is_likeliest():
    prior = np.array([0.5, 0.5])
    logits = np.array([[0.1, -0.1], [-0.1, 0.1]])
    assert choose_power([(logits, np.array([0, 1]))], prior) == 32.0
    assert choose_power([(logits, np.array([1, 0]))], prior) == 0.5
    assert choose_power([], prior) == 1.0


def test_accuracy_is_above_the_class_prior_and_the_ranking_as_it_was():
    graph = make_unequal()
    threat = draw_attribute_threat(graph, "private", 0.1, Seed(1))
    plain = measure(LabelPropagation(folds=0), graph, threat)
    sure = measure(LabelPropagation(), graph, threat)
    assert sure["auc"] == pytest.approx(plain["auc"], abs=1e-9)
    assert plain["accuracy"] == pytest.approx(0.75, abs=0.02)
    assert sure["accuracy"] > 0.78


def test_of_many_known_people_some_are_enough_to_choose_how_sure_to_be(monkeypatch):
    """At a million people five of six passes over the links only chose one of seven numbers."""
    graph = make_unequal()
    threat = draw_attribute_threat(graph, "private", 0.5, Seed(1))
    whole = measure(LabelPropagation(), graph, threat)
    monkeypatch.setattr(label_propagation, "HELD_OUT", 80)
    found = LabelPropagation().infer(Release(graph), threat, Context(Seed(0)))
    is_held_out = ~np.isnan(found.held_out[:, 0])
    assert 80 <= is_held_out.sum() <= 80 + threat.known.sum() / 5 < threat.known.sum()
    assert not is_held_out[~threat.known].any()
    part = measure(LabelPropagation(), graph, threat)
    assert part["auc"] == pytest.approx(whole["auc"], abs=1e-9)
    assert part["accuracy"] == pytest.approx(whole["accuracy"], abs=0.05)


def test_without_evidence_the_auc_is_exactly_one_half():
    graph = make_unequal()
    bare = graph.with_edges(graph.edges[:0])
    threat = draw_attribute_threat(graph, "private", 0.1, Seed(1))
    for attack in (LabelPropagation(), AttriInfer()):
        assert measure(attack, bare, threat)["auc"] == 0.5


def test_differences_of_rounding_rank_nobody():
    from core.measures.ranking import drop_rounding

    values = 0.3 + np.arange(5) * 1e-16
    assert len(set(drop_rounding(values))) == 1
    apart = np.array([1e-9, 2e-9, 0.5, 0.5 + 1e-9])
    assert len(set(drop_rounding(apart))) == 4
    np.testing.assert_allclose(drop_rounding(apart), apart, rtol=1e-11)


@pytest.fixture(scope="module")
def inverted():
    """The generated network after a defense that removed four in five of the links between
    people alike: what leaked by likeness now leaks by unlikeness."""
    graph = generate_social(600, seed=3)
    codes = graph.attributes["seniority"].codes
    alike = codes[graph.edges[:, 0]] == codes[graph.edges[:, 1]]
    keep = ~alike | (np.random.default_rng(0).random(graph.num_edges) < 0.2)
    return graph.with_edges(graph.edges[keep]), draw_attribute_threat(
        graph, "seniority", 0.2, Seed(2)
    )


def test_a_push_is_chosen_beyond_the_noise_of_the_known_nodes_only():
    rng = np.random.default_rng(0)
    pulls = len(PULLS)
    losses = rng.normal(0.6, 0.2, (1, 40)).repeat(len(COUPLINGS), axis=0)
    losses[0] -= 0.01
    losses[pulls] -= 0.011 - rng.normal(0, 0.05, 40)  # hardly better, on some nodes only
    assert choose_coupling(losses) == 0
    losses[pulls] -= 0.1
    assert choose_coupling(losses) == pulls
    losses[1] -= 0.5
    assert choose_coupling(losses) == 1
    assert choose_coupling(np.zeros((len(COUPLINGS), 1))) == 0
    assert choose_coupling(np.zeros((len(COUPLINGS), 0))) == 0


def test_couplings_that_some_nodes_tell_from_the_best_of_their_sign_are_given_up():
    rng = np.random.default_rng(0)
    pulls, losses = len(PULLS), rng.normal(0.6, 0.2, (len(COUPLINGS), 40))
    losses[:] = losses[0]
    losses[2] += 0.3 + rng.normal(0, 0.1, 40)  # far worse
    losses[3] += 0.01 + rng.normal(0, 0.1, 40)  # hardly
    losses[4] = np.inf  # given up before
    losses[pulls:] += 1.0  # pushes are judged among themselves
    losses[-1] += 0.3 + rng.normal(0, 0.1, 40)
    expected = [0, 1, 3, 5, *range(pulls, len(COUPLINGS) - 1)]
    assert list_close(losses).tolist() == expected


def test_giving_couplings_up_keeps_the_choice(inverted, monkeypatch):
    graph, threat = inverted
    runs = []
    compute = BeliefPropagation.compute

    def count(*args, **named):
        runs.append(1)
        return compute(*args, **named)

    monkeypatch.setattr(BeliefPropagation, "compute", count)
    raced = AttriInfer().infer(Release(graph), threat, Context(Seed(0)))
    num_raced = len(runs)
    monkeypatch.setattr(attri_infer, "list_close", lambda losses: np.arange(len(losses)))
    whole = AttriInfer().infer(Release(graph), threat, Context(Seed(0)))
    np.testing.assert_array_equal(raced.probabilities, whole.probabilities)
    np.testing.assert_array_equal(raced.held_out, whole.held_out)
    assert num_raced < 0.9 * (len(runs) - num_raced)


def test_signed_couplings_find_heterophily_and_pulls_alone_do_not(inverted, monkeypatch):
    graph, threat = inverted
    signed = AttriInfer().infer(Release(graph), threat, Context(Seed(0)))
    assert signed.facts["coupling"] < 0
    assert measure(AttriInfer(), graph, threat)["auc"] > 0.75
    monkeypatch.setattr(attri_infer, "COUPLINGS", attri_infer.PULLS)
    assert measure(AttriInfer(), graph, threat)["auc"] < 0.55


def test_signed_weights_find_heterophily_and_weights_above_zero_do_not(inverted, monkeypatch):
    graph, threat = inverted
    attack = Ensemble(members="label_propagation+com_infer", folds=2, evenness=0.01)
    assert measure(attack, graph, threat)["auc"] > 0.7
    free = optimize.minimize

    def bounded(loss, start, **options):
        return free(loss, start, **{**options, "bounds": [(0.0, None)] * len(start)})

    monkeypatch.setattr(optimize, "minimize", bounded)
    assert measure(attack, graph, threat)["auc"] < 0.55


def test_spread_values_alone_are_blind_to_the_rarer_class():
    graph = make_unequal()
    threat = draw_attribute_threat(graph, "private", 0.1, Seed(1))
    (values,) = propagate_labels(graph, [threat.observed], threat.observed_shares)
    assert (values[threat.hidden].argmax(axis=1) == 0).mean() > 0.95
