"""Folds and cross-validated choices stay inside the known nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import sem

from core.context import Context
from core.graph import Graph
from core.models.tuning import (
    PENALTIES,
    compute_log_loss,
    draw_folds,
    fit_logistic,
    hold_out,
    is_gain,
    learn_logistic,
    scale_features,
    smooth_absent,
)
from core.seeding import Seed


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=40), st.integers(2, 6), st.integers(0, 99))
def test_folds_split_the_known_nodes_evenly(codes, num_folds, seed):
    observed = np.array(codes)
    folds = draw_folds(observed, num_folds, np.random.default_rng(seed))
    known = np.flatnonzero(observed >= 0)
    np.testing.assert_array_equal(np.sort(np.concatenate([*folds, np.zeros(0, int)])), known)
    for code in range(4):
        counts = [np.sum(observed[fold] == code) for fold in folds]
        if len(folds) == num_folds:
            assert max(counts) - min(counts) <= 1
    for rest, fold in hold_out(observed, folds):
        assert (rest[fold] == -1).all()
        others = np.setdiff1d(np.arange(len(observed)), fold)
        np.testing.assert_array_equal(rest[others], observed[others])


def test_log_loss_is_the_mean_over_the_given_nodes():
    probabilities = np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]])
    found = compute_log_loss(probabilities, np.array([0, 1, 1]), np.array([1, 2]))
    assert found == pytest.approx(-(np.log(0.1) + np.log(0.8)) / 2)


def test_a_strong_penalty_wins_on_noise_and_a_weak_one_on_a_clear_signal():
    rng = np.random.default_rng(0)
    codes = np.arange(80) % 2
    noise = rng.normal(size=(80, 10))
    observed = np.where(np.arange(80) < 60, codes, -1)
    context = Context(Seed(0))
    _, blind, _ = fit_logistic(noise, observed, 2, context)
    clear = noise.copy()
    clear[:, 0] = 3.0 * (2 * codes - 1)
    values, sharp, said = fit_logistic(clear, observed, 2, context)
    assert blind == min(PENALTIES)
    assert sharp > blind
    assert np.isnan(said).all(axis=1).tolist() == (observed < 0).tolist()
    assert (said[:60].argmax(axis=1) == codes[:60]).all()
    assert (values[60:].argmax(axis=1) == codes[60:]).all()


def test_absent_classes_weigh_one_observation_each():
    values = np.array([[0.7, 0.3, 0.0, 0.0]])
    found = smooth_absent(values, np.array([4, 4, 0, 0]))
    np.testing.assert_allclose(found, [[0.56, 0.24, 0.1, 0.1]])
    np.testing.assert_array_equal(smooth_absent(values[:, :2], np.array([4, 4])), values[:, :2])


def test_scaling_is_the_same_for_constant_columns_and_keeps_sparse_zeros():
    features = np.array([[1.0, 2.0, 0.0], [1.0, 4.0, -8.0]], np.float32)
    dense = Graph.from_pairs(np.array([[0, 1]]), 2, features=features)
    np.testing.assert_allclose(scale_features(dense), [[0, -1, 1], [0, 1, -1]])
    # A constant that no float holds: its mean is rounded, and its deviation not 0.
    same = np.full((7, 1), 0.1)
    assert same.std(axis=0) > 0
    constant = Graph.from_pairs(np.array([[0, 1]]), 7, features=same)
    np.testing.assert_array_equal(scale_features(constant), np.zeros((7, 1)))
    thin = Graph.from_pairs(np.array([[0, 1]]), 2, features=sparse.csr_array(features))
    np.testing.assert_allclose(scale_features(thin).toarray(), [[1, 0.5, 0], [1, 1, -1]])


def test_few_known_values_of_many_classes_are_learned_without_a_word(recwarn):
    observed = np.concatenate([np.arange(21), np.arange(9), np.full(5, -1)])
    predict = learn_logistic(np.random.default_rng(0).normal(size=(35, 3)), observed, 21, 0.1)
    assert predict(slice(None)).shape == (35, 21)
    assert not [w for w in recwarn if "unique classes" in str(w.message)]


@pytest.mark.parametrize(("enough", "rows"), [(None, 50), (10, 10), (11, 20), (1000, 50)])
def test_folds_beyond_enough_known_nodes_are_not_run(enough, rows):
    observed = np.where(np.arange(80) < 50, np.arange(80) % 2, -1)
    table = np.random.default_rng(0).normal(size=(80, 3)) + observed[:, None]
    _, _, held_out = fit_logistic(table, observed, 2, Context(Seed(0)), (1.0,), enough)
    assert (~np.isnan(held_out[:, 0])).sum() == rows


def test_a_gain_exceeds_its_standard_error() -> None:
    noise = np.random.default_rng(0).normal(size=50)
    noise -= noise.mean()
    for share in (0.9, 1.1):
        assert is_gain(noise + share * sem(noise)) is (share > 1)
    assert not is_gain(np.ones(1))
