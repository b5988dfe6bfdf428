"""Logarithmic pooling of several models' probabilities with signed weights."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

FLOOR = 1e-3
"""Lower bound of probabilities, so that no single model excludes a class."""
EVENNESS = (1.0, 10.0, 100.0)
"""Penalties towards equal weights tried by `choose_evenness`."""
FEWEST = 10
"""Fewest held-out nodes for choosing the penalty."""


def combine(
    values: np.ndarray, held_out: np.ndarray, truth: np.ndarray, evenness: float
) -> tuple[np.ndarray, np.ndarray]:
    """Pool (n, C) and weights (K,) of K models.

    values    (K, n, C) probabilities to pool
    held_out  (K, h, C) out-of-fold predictions for h known nodes
    truth     (h,) their classes
    """
    weights = fit_weights(held_out, truth, evenness)
    return pool(values, weights), weights


def pool(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n, C): Π_k p_k^w_k of (K, n, C), normalised (Genest and Zidek, 1986, §3.3)."""
    logs = np.einsum("k,knc->nc", weights, np.log(np.maximum(values, FLOOR)))
    return np.asarray(softmax(logs, axis=1))


def choose_evenness(held_out: np.ndarray, truth: np.ndarray) -> float:
    """The penalty with the lowest five-fold cross-validated log-loss; a middle one for few
    nodes."""
    if len(truth) < FEWEST:
        return EVENNESS[len(EVENNESS) // 2]
    fold, losses = np.arange(len(truth)) % 5, []
    for evenness in EVENNESS:
        loss = 0.0
        for number in range(5):
            test = fold == number
            weights = fit_weights(held_out[:, ~test], truth[~test], evenness)
            pooled = pool(held_out[:, test], weights)
            loss -= float(np.log(pooled[np.arange(int(test.sum())), truth[test]]).sum())
        losses.append(loss)
    return EVENNESS[int(np.argmin(losses))]


def fit_weights(
    held_out: np.ndarray, truth: np.ndarray, evenness: float, least: float | None = None
) -> np.ndarray:
    """(K,) weights, of either sign or at least `least`: those of the smallest
    −Σ_i log pool_i(truth_i) + evenness Σ_k (w_k − 1/K)².

    A convex problem; equal weights without held-out nodes.
    """
    from scipy.optimize import minimize

    equal = np.full(len(held_out), 1.0 / len(held_out))
    if len(truth) == 0:
        return equal
    logs = np.log(np.maximum(held_out, FLOOR))
    rows = np.arange(len(truth))

    def compute_loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        pooled = pool(held_out, weights)
        loss = -np.log(pooled[rows, truth]).sum() + evenness * ((weights - equal) ** 2).sum()
        expected = np.einsum("hc,khc->k", pooled, logs)
        gradient = expected - logs[:, rows, truth].sum(axis=1)
        return float(loss), gradient + 2.0 * evenness * (weights - equal)

    bounds = [(least, None)] * len(equal)
    found = minimize(compute_loss, equal, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x)
