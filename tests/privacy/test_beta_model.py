"""The β-model fit against its own likelihood equations, evaluated pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.defenses.blink import fit_beta_model


def compute_degrees_naively(beta: np.ndarray) -> np.ndarray:
    degrees = np.zeros(len(beta))
    for i in range(len(beta)):
        for j in range(len(beta)):
            if i != j:
                degrees[i] += 1.0 / (1.0 + np.exp(-(beta[i] + beta[j])))
    return degrees


@settings(max_examples=25)
@given(st.integers(5, 40), st.integers(0, 2**32 - 1))
def test_the_fit_solves_the_likelihood_equations(n, seed):
    # Degrees that a β-model can have: those of a true β (Blink Eq. 6).
    truth = np.random.default_rng(seed).normal(-1.0, 1.0, n)
    degrees = compute_degrees_naively(truth)
    beta = fit_beta_model(degrees, tolerance=1e-11)
    np.testing.assert_allclose(compute_degrees_naively(beta), degrees, rtol=1e-7)


def test_regular_degrees_have_the_closed_form():
    beta = fit_beta_model(np.full(9, 2.0))
    np.testing.assert_allclose(beta, 0.5 * np.log(0.25 / 0.75), atol=1e-8)


def test_a_wide_range_of_degrees_is_interpolated_exactly():
    truth = np.concatenate([np.full(300, -6.0), np.linspace(-6.0, 4.0, 100)])
    odds = 1.0 / (1.0 + np.exp(-(truth[:, None] + truth)))
    np.fill_diagonal(odds, 0.0)
    beta = fit_beta_model(odds.sum(axis=1), max_rounds=3000)
    np.testing.assert_allclose(beta, truth, atol=1e-5)


def test_degrees_of_no_graph_give_finite_bounded_values():
    degrees = np.concatenate([np.full(40, 1.0), np.full(10, 45.0)])
    assert np.abs(fit_beta_model(degrees)).max() <= 25.0


def test_degrees_outside_the_open_range_are_refused():
    with pytest.raises(ValueError, match="strictly between"):
        fit_beta_model(np.array([0.0, 1.0, 1.0]))
