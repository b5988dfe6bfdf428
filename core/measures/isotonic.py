"""Isotonic regression of few points, without what a library's estimator checks first."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression


def fit_isotonic(
    places: np.ndarray, values: np.ndarray, weights: np.ndarray, asked: np.ndarray
) -> np.ndarray:
    """(m,) the rising function of `places` (k,) nearest to `values` (k,) in weighted squares,
    between its steps a straight line and beyond the ends constant, at `asked` (m,).

    As scikit-learn's IsotonicRegression does; an audit fits it thousands of times on few points,
    where most of that estimator's time goes into checks of its input.
    """
    levels, of_level = np.unique(places, return_inverse=True)
    total = np.bincount(of_level, weights)
    means = np.bincount(of_level, weights * values) / total
    found: np.ndarray = np.interp(asked, levels, isotonic_regression(means, weights=total).x)
    return found
