"""Sums of two independent Laplace variables: what a server holds of a pair reported twice."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq


def compute_laplace_sum_tail(threshold: float, scale: float) -> float:
    """P(X + Y > threshold) for independent X, Y ~ Laplace(0, scale) and a threshold ≥ 0 or −∞."""
    if threshold < 0:
        return 1.0
    ratio = threshold / scale
    return 0.5 * math.exp(-ratio) * (1.0 + 0.5 * ratio)


def find_laplace_sum_cut(share: float, scale: float) -> float:
    """The threshold ≥ 0 that such a sum exceeds with probability `share`; −∞ beyond one half."""
    if share >= 0.5:
        return -math.inf
    quantile: float = scale * brentq(
        lambda ratio: compute_laplace_sum_tail(ratio, 1.0) - share, 0.0, 700.0
    )
    return quantile


def draw_laplace_sums(low: float, scale: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count,) draws of such a sum, given that it exceeds `low` (≥ 0, or −∞ for no condition).

    The density of t > 0 is (1 + t)e^(−t)/4 in units of the scale, so that the excess over the
    threshold is Exp(1), or the sum of two of them with probability 1/(2 + low/scale).
    """
    if low < 0:
        return rng.laplace(0.0, scale, count) + rng.laplace(0.0, scale, count)
    ratio = low / scale
    excess = rng.exponential(1.0, count)
    is_double = rng.random(count) < 1.0 / (2.0 + ratio)
    return scale * (ratio + excess + np.where(is_double, rng.exponential(1.0, count), 0.0))


def draw_total(count: int, scale: float, rng: np.random.Generator) -> float:
    """The sum of `count` such sums, from its normal limit."""
    return rng.normal(0.0, 2.0 * scale * math.sqrt(count))
