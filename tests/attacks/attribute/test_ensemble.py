"""Weights of the ensemble against a general optimiser, and its behaviour on members."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from core.attacks.attribute.ensemble import (
    Ensemble,
    choose_sharpness,
    combine,
    fit_weights,
    sharpen,
)
from core.context import Context
from core.errors import InputError
from core.methods import make_method
from core.progress import RecordingProgress
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats


@pytest.mark.parametrize("evenness", [0.5, 3.0])
def test_weights_maximise_the_posterior(evenness):
    likelihood = np.random.default_rng(0).random((3, 50))
    found = fit_weights(likelihood, evenness, rounds=2000)

    def loss(logits):
        w = np.exp(logits) / np.exp(logits).sum()
        return -np.log(w @ likelihood).sum() - evenness * np.log(w).sum()

    best = minimize(loss, np.zeros(3)).x
    np.testing.assert_allclose(found, np.exp(best) / np.exp(best).sum(), atol=1e-3)


def test_the_member_that_was_right_leads_and_the_mixture_is_a_distribution():
    truth = np.arange(30) % 2
    right = np.where(truth[:, None] == [0, 1], 0.9, 0.1)
    guess = np.full((30, 2), 0.5)
    members = np.array([guess, right])
    mixed, weights = combine(members, members, truth, evenness=1.0)
    assert weights[1] > 0.85
    np.testing.assert_allclose(mixed.sum(axis=1), 1.0)
    assert (mixed.argmax(axis=1) == truth).all()


def test_without_held_out_nodes_all_count_alike():
    values = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    mixed, weights = combine(values, np.zeros((2, 0, 2)), np.zeros(0, int), 1.0)
    np.testing.assert_allclose(mixed, [[0.5, 0.5]])
    np.testing.assert_allclose(weights, 0.5)


def test_overconfident_members_are_softened():
    truth = np.array([0] * 7 + [1] * 3)
    loud = np.tile([0.999, 0.001], (10, 1))
    assert choose_sharpness(loud, truth) < 0.3
    np.testing.assert_allclose(sharpen(np.array([[0.8, 0.2]]), 1.0), [[0.8, 0.2]])


@pytest.mark.parametrize("members", ["ensemble", "gcn+gcn", "nothing", ""])
def test_members_must_be_distinct_attacks(members):
    with pytest.raises(InputError, match="members"):
        make_method("ensemble", {"members": members})


def test_progress_grows_over_all_members_and_weights_are_recorded():
    graph = GRAPHS["two_communities"]()
    progress = RecordingProgress()
    attack = Ensemble(members="label_propagation+com_infer", folds=2)
    result = attack.infer(
        Release(graph), make_threats(graph).attribute, Context(Seed(0), progress=progress)
    )
    shares = [done / total for done, total, _ in progress.updates]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx((6 - 1 + 0.5) / 6)
    assert sum(result.facts.values()) == pytest.approx(1.0, abs=0.01)


def test_members_that_cannot_run_stay_out():
    graph = GRAPHS["star"]()
    threat = make_threats(graph).attribute
    attack = Ensemble(members="mlp+label_propagation", folds=2)
    facts = attack.infer(Release(graph), threat, Context(Seed(0))).facts
    assert list(facts) == ["weight of label_propagation"]
    assert Ensemble(members="mlp").supports(Release(graph), threat)
