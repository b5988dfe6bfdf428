"""Isotonic regression against the estimator of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from core.measures.isotonic import fit_isotonic


@pytest.mark.parametrize("seed", range(20))
def test_as_scikit_learn_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 120))
    places = rng.integers(0, rng.integers(1, 60), k) / 2  # ties
    values, weights = rng.random(k) < 0.4, rng.choice([0.25, 1.0, 3.0], k)
    asked = rng.uniform(-5, 35, 50)
    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    expected = model.fit(places, values.astype(float), weights).predict(asked)
    np.testing.assert_allclose(fit_isotonic(places, values, weights, asked), expected, atol=1e-12)


def test_nobody_asked() -> None:
    none = np.zeros(0)
    assert fit_isotonic(np.array([1.0]), np.array([1.0]), np.array([1.0]), none).shape == (0,)
