"""Multinomial regression in coordinates of equal curvature, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from core.models import softmax as solver
from core.models.softmax import fit_softmax


def draw_table(classes: int, columns: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """(200, columns) correlated, of scales from 1 to 1/1000, not centred, and codes (200,)."""
    rng = np.random.default_rng(classes)
    mixing = rng.normal(size=(columns, columns)) * np.logspace(0, -3, columns)
    table = rng.normal(size=(200, columns)) @ mixing + 3.0 * rng.normal(size=(200, 1)) + 3.0
    scores = (table - 3.0) @ rng.normal(size=(columns, classes)) + rng.gumbel(size=(200, classes))
    return table, np.unique(scores.argmax(axis=1), return_inverse=True)[1]


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("penalty", [0.01, 1.0, 100.0])
def test_it_finds_the_minimum_of_scikit_learn(classes, penalty):
    table, codes = draw_table(classes)
    weights, intercepts = fit_softmax(table, codes, classes, penalty)
    exact = LogisticRegression(C=penalty, solver="newton-cg", tol=1e-10, max_iter=10_000)
    expected = exact.fit(table, codes).predict_proba(table)
    found = softmax(table @ weights + intercepts, axis=1)
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_it_takes_tens_of_steps_where_scales_differ(monkeypatch):
    table, codes = draw_table(6)
    taken = []
    plain = solver.minimize
    monkeypatch.setattr(
        solver, "minimize", lambda *a, **k: taken.append(plain(*a, **k)) or taken[-1]
    )
    fit_softmax(table, codes, 6, 100.0)
    usual = LogisticRegression(C=100.0, tol=1e-5, max_iter=5_000).fit(table, codes)
    assert taken[0].success
    assert taken[0].nit * 3 < usual.n_iter_[0]


def test_more_columns_than_can_be_rotated_have_the_same_minimum(monkeypatch):
    table, codes = draw_table(3)
    rotated = fit_softmax(table, codes, 3, 1.0)
    monkeypatch.setattr(solver, "MAX_ROTATED", 7)
    scaled = fit_softmax(table, codes, 3, 1.0)
    parts = [softmax(table @ w + b, axis=1) for w, b in (rotated, scaled)]
    np.testing.assert_allclose(*parts, atol=2e-3)


def test_constant_columns_and_one_row_a_class_are_no_error():
    table = np.column_stack([np.ones(3), np.arange(3.0)])
    weights, intercepts = fit_softmax(table, np.arange(3), 3, 1.0)
    assert np.isfinite(weights).all()
    assert np.isfinite(intercepts).all()
