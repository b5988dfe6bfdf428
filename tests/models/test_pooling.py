"""Pooling weights against a general optimiser, and worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from core.models.pooling import FLOOR, choose_evenness, combine, fit_weights, pool


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


def test_weights_of_one_sign_leave_a_misleading_member_out():
    truth = np.arange(60) % 2
    right = np.where(truth[:, None] == [0, 1], 0.7, 0.3)
    members = np.array([1.0 - right, right])
    assert fit_weights(members, truth, 0.1)[0] < 0
    weights = fit_weights(members, truth, 0.1, 0.0)
    assert weights[0] == 0
    np.testing.assert_allclose(pool(members, weights), pool(right[None], weights[1:]))


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


def test_trust_is_uneven_only_where_nodes_held_out_speak_for_it():
    members, truth = draw_members(8, 60, 2)
    assert choose_evenness(members, truth) == 100.0  # noise: weights fitted to it mislead
    members[0] = np.where(np.eye(2)[truth] == 1, 0.7, 0.3)
    assert choose_evenness(members, truth) == 1.0
    assert choose_evenness(members[:, :9], truth[:9]) == 10.0  # too few to choose on
