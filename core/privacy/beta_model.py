"""The β-model of random graphs: P(i~j) = σ(β_i + β_j), fitted to a degree sequence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from core.progress import Progress

_CHUNK = 1 << 22
"""Numbers held at once while the sums are evaluated."""

_BOUND = 25.0
"""Largest |β|: beyond it a probability is 0 or 1 to rounding error."""


def fit_beta_model(
    degrees: np.ndarray,
    progress: Progress | None = None,
    tolerance: float = 1e-9,
    max_rounds: int = 400,
) -> np.ndarray:
    """(n,) β of the maximum-likelihood fit to `degrees` (n,), each inside (0, n−1).

    Iterates the fixed point φ of Chatterjee, Diaconis and Sly (2011), Blink Eq. 7,

        φ(x)_i = log d_i − log Σ_{j≠i} 1 / (e^{−x_j} + e^{x_i}).

    The sum is one smooth function of x_i, so it is evaluated at Chebyshev points and
    interpolated to rounding error: O(n) a round instead of O(n²). Where no fit exists (noisy
    degrees need not be those of any graph) β grows until it is cut off at ±_BOUND.
    """
    progress = progress or Progress()
    degrees = np.asarray(degrees, dtype=np.float64)
    n = len(degrees)
    if n < 3:
        return np.asarray(np.log(np.maximum(degrees, 1e-12)))
    if degrees.min() <= 0 or degrees.max() >= n - 1:
        raise ValueError("degrees must lie strictly between 0 and n − 1")
    log_degrees = np.log(degrees)
    # Good start: the sparse limit d_i ≈ e^{β_i} Σ_j e^{β_j}.
    x: np.ndarray = log_degrees - 0.5 * np.log(degrees.sum())
    for done in range(max_rounds):
        own = 1.0 / (np.exp(-x) + np.exp(x))
        step = log_degrees - np.log(_compute_sums(x) - own)
        change = np.abs(step - x).max()
        # The map alternates around its fixed point; half a step damps that.
        x = np.clip(0.5 * (x + step), -_BOUND, _BOUND)
        progress.update(done + 1, max_rounds, "fitting the β-model")
        if change < tolerance:
            break
    return x


def _compute_sums(x: np.ndarray) -> np.ndarray:
    """(n,) Σ_j 1 / (e^{−x_j} + e^{x_i}), own term included."""
    low, high = float(x.min()), float(x.max())
    if high - low < 1e-12:
        return np.full(len(x), len(x) / (np.exp(-low) + np.exp(low)))
    inverse, order = np.exp(-x), _compute_order(high - low)
    if len(x) <= order:
        return np.asarray((1.0 / (inverse + np.exp(x)[:, None])).sum(axis=1))

    def evaluate(points: Any) -> Any:
        exponentials = np.exp(low + (points + 1.0) * 0.5 * (high - low))
        rows = max(1, _CHUNK // len(x))
        return np.concatenate(
            [
                np.log((1.0 / (inverse + exponentials[i : i + rows, None])).sum(axis=1))
                for i in range(0, len(points), rows)
            ]
        )

    coefficients = chebyshev.chebinterpolate(evaluate, order)
    return np.asarray(np.exp(chebyshev.chebval(2.0 * (x - low) / (high - low) - 1.0, coefficients)))


def _compute_order(length: float) -> int:
    """Polynomial order for an error near 1e-14: the nearest pole lies π off the real axis."""
    height = np.pi / (0.5 * length)
    rate = np.log(height + np.hypot(1.0, height))
    return int(np.clip(np.ceil(33.0 / rate), 8, 400))
