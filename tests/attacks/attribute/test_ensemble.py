"""Weights of the ensemble against a general optimiser, and its behaviour on members."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from core.attacks.attribute.best_single import BestSingle, compute_losses
from core.attacks.attribute.committee import FLOOR
from core.attacks.attribute.ensemble import Ensemble, combine, fit_weights, pool
from core.context import Context
from core.errors import InputError
from core.progress import RecordingProgress
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats


def draw_members(num_members, num_nodes, num_classes, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.dirichlet(np.full(num_classes, 0.5), (num_members, num_nodes))
    return values, rng.integers(0, num_classes, num_nodes)


@pytest.mark.parametrize("evenness", [0.5, 3.0])
def test_weights_minimise_the_penalised_log_loss(evenness):
    members, truth = draw_members(3, 50, 3)
    found = fit_weights(members, truth, evenness)

    def loss(weights):
        total = evenness * ((weights - 1 / 3) ** 2).sum()
        for i, answer in enumerate(truth):
            product = np.prod(np.maximum(members[:, i], FLOOR) ** weights[:, None], axis=0)
            total -= np.log(product[answer] / product.sum())
        return total

    best = minimize(loss, np.full(3, 0.3), method="Nelder-Mead", options={"xatol": 1e-6}).x
    np.testing.assert_allclose(found, best, atol=2e-3)


def test_a_pool_is_the_normalised_geometric_mean():
    members = np.array([[[0.8, 0.2]], [[0.5, 0.5]]])
    np.testing.assert_allclose(pool(members, np.array([1.0, 0.0])), [[0.8, 0.2]])
    np.testing.assert_allclose(pool(members, np.array([0.5, 0.5])), [[2 / 3, 1 / 3]])


def test_the_member_that_was_right_leads_and_the_mixture_is_a_distribution():
    truth = np.arange(30) % 2
    right = np.where(truth[:, None] == [0, 1], 0.9, 0.1)
    guess = np.full((30, 2), 0.5)
    members = np.array([guess, right])
    mixed, weights = combine(members, members, truth, evenness=1.0)
    assert weights[1] > 3 * weights[0]
    np.testing.assert_allclose(mixed.sum(axis=1), 1.0)
    assert (mixed.argmax(axis=1) == truth).all()


def test_without_held_out_nodes_all_count_alike():
    values = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    mixed, weights = combine(values, np.zeros((2, 0, 2)), np.zeros(0, int), 1.0)
    np.testing.assert_allclose(mixed, [[0.5, 0.5]])
    np.testing.assert_allclose(weights, 0.5)


def test_a_member_that_is_wrong_throughout_counts_against_itself():
    truth = np.arange(60) % 2
    wrong = np.where(truth[:, None] == [0, 1], 0.2, 0.8)
    mixed, weights = combine(wrong[None], wrong[None], truth, evenness=1.0)
    assert weights[0] < -0.5
    assert (mixed.argmax(axis=1) == truth).all()


def test_overconfident_members_are_softened():
    truth = np.array([0] * 7 + [1] * 3)
    loud = np.tile([0.999, 0.001], (1, 10, 1))
    mixed, weights = combine(loud, loud, truth, evenness=0.01)
    assert weights[0] < 0.3
    np.testing.assert_allclose(mixed[0], [0.7, 0.3], atol=0.01)


@pytest.mark.parametrize("members", ["ensemble", "best_single", "gcn+gcn", "nothing", ""])
@pytest.mark.parametrize("key", ["ensemble", "best_single"])
def test_members_must_be_distinct_attacks(members, key):
    with pytest.raises(InputError, match="members"):
        make_method(key, {"members": members})


def test_the_best_single_attack_is_that_with_the_lowest_loss_on_known_values_held_out():
    graph = GRAPHS["two_communities"]()
    threat, release = make_threats(graph).attribute, Release(graph)
    attack = BestSingle(members="class_prior+label_propagation", folds=2)
    context = Context(Seed(0))
    found = attack.infer(release, threat, context)
    losses = {key: found.facts[f"log-loss of {key}"] for key in attack.members.split("+")}
    assert found.facts["chosen"] == min(losses, key=losses.get) == "label_propagation"
    alone = make_method("label_propagation").infer(
        release, threat, context.child("label_propagation")
    )
    np.testing.assert_array_equal(found.probabilities, alone.probabilities)


def test_losses_equal_a_loop_over_members_and_nodes():
    members, truth = draw_members(3, 20, 4)
    expected = [
        -sum(np.log(max(member[i, truth[i]], FLOOR)) for i in range(20)) / 20 for member in members
    ]
    np.testing.assert_allclose(compute_losses(members, truth), expected)


def test_progress_grows_over_all_members_and_weights_are_recorded():
    graph = GRAPHS["two_communities"]()
    progress = RecordingProgress()
    attack = Ensemble(members="label_propagation+com_infer", folds=2)
    result = attack.infer(
        Release(graph), make_threats(graph).attribute, Context(Seed(0), progress=progress)
    )
    shares = [done / total for done, total, _ in progress.updates]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0, abs=0.2)
    assert list(result.facts) == ["weight of label_propagation", "weight of com_infer"]


def test_members_that_cannot_run_stay_out():
    graph = GRAPHS["star"]()
    threat = make_threats(graph).attribute
    attack = Ensemble(members="mlp+label_propagation", folds=2)
    facts = attack.infer(Release(graph), threat, Context(Seed(0))).facts
    assert list(facts) == ["weight of label_propagation"]
    assert Ensemble(members="mlp").supports(Release(graph), threat)
