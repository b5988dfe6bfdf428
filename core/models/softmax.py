"""Multinomial logistic regression on dense columns, whatever their scales and correlations."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

MAX_ITERATIONS = 500
TOLERANCE = 2e-5
"""Largest slope of the mean loss at which it stops, in the coordinates of `fit_softmax`."""


MAX_ROTATED = 512
"""Columns up to which their correlations are taken out; above it their scales alone are."""


def fit_softmax(
    table: np.ndarray, codes: np.ndarray, num_classes: int, penalty: float
) -> tuple[np.ndarray, np.ndarray]:
    """Weights (d, C) and intercepts (C,) of table (k, d) and codes (k,) of 0 to C − 1, each seen.

    penalty  inverse of the weight of the squared norm, intercepts not counted; for two classes
             that of their difference's, as in scikit-learn

    The minimum is that of scikit-learn's `LogisticRegression`, found in coordinates in which the
    curvature at equal probabilities is 1 in every direction (Böhning, 1992, has its bound): a
    quasi-Newton method takes tens of steps there where correlated columns cost it hundreds.
    """
    count = len(table)
    ridge = (2.0 if num_classes == 2 else 1.0) / penalty
    mean = table.mean(axis=0)
    centred = table - mean
    if centred.shape[1] <= MAX_ROTATED:
        strengths, directions = np.linalg.eigh(centred.T @ centred)
    else:
        strengths, directions = (centred**2).sum(axis=0), None
    spread = (1.0 - 1.0 / num_classes) / num_classes
    curvature = (spread * np.maximum(strengths, 0.0) + ridge) / count
    widths = 1.0 / np.sqrt(curvature)
    scale = sparse.diags_array(widths) if directions is None else directions * widths
    columns = np.column_stack([centred @ scale, np.full(count, 1.0 / np.sqrt(spread))])
    # The intercept, last, has no penalty.
    decay = np.append(ridge / count / curvature, 0.0)[:, None]
    truth = np.arange(count), codes

    def measure(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(-1, num_classes)
        scores = columns @ weights
        scores -= scores.max(axis=1, keepdims=True)
        true_scores = scores[truth]
        np.exp(scores, out=scores)
        totals = scores.sum(axis=1)
        scores /= totals[:, None]
        scores[truth] -= 1.0
        slope = columns.T @ scores / count + decay * weights
        loss = float((np.log(totals) - true_scores).mean() + 0.5 * (decay * weights**2).sum())
        return loss, slope.ravel()

    start = np.zeros(columns.shape[1] * num_classes)
    found = minimize(
        measure,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITERATIONS, "gtol": TOLERANCE, "ftol": 0.0, "maxls": 50},
    )
    weights = found.x.reshape(-1, num_classes)
    slopes = scale @ weights[:-1]
    return slopes, weights[-1] / np.sqrt(spread) - mean @ slopes
