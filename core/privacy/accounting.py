"""Composition of Gaussian mechanisms, and the noise that a budget requires.

A Gaussian step has noise multiplier z = standard deviation / ℓ₂ sensitivity. T such steps are
exactly one Gaussian mechanism with μ = √T / z (Dong, Roth and Su, Gaussian differential privacy,
2022, Corollary 3.3), so that their tight total has a closed form. For steps on random samples of
the links dp-accounting's privacy loss distributions are used, rounded conservatively.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.special import log_ndtr

_PRECISION = 1e-9
"""Relative tolerance of a search; the safe end is returned."""

_INTERVAL = 1e-3
"""Grid of the privacy loss distribution at z = 1, proportional to the losses; rounds upwards."""


def compute_gaussian_delta(epsilon: float, mu: float) -> float:
    """Smallest δ at which a μ-GDP mechanism is (ε, δ)-DP.

    Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle and Wang, ICML 2018, Theorem 8).
    """
    if mu <= 0:
        return 0.0
    first = log_ndtr(mu / 2 - epsilon / mu)
    second = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return math.exp(first) * -math.expm1(min(second - first, 0.0))


def compute_gaussian_epsilon(mu: float, delta: float) -> float:
    """Smallest ε at which a μ-GDP mechanism is (ε, δ)-DP, rounded up."""
    if compute_gaussian_delta(0.0, mu) <= delta:
        return 0.0
    return _find_boundary(lambda epsilon: compute_gaussian_delta(epsilon, mu) <= delta)


def calibrate_gaussian(epsilon: float, delta: float, steps: int = 1) -> float:
    """Smallest noise multiplier of `steps` Gaussian steps for a total (ε, δ); rounded up."""
    multiplier = _find_boundary(lambda z: compute_gaussian_delta(epsilon, 1.0 / z) <= delta)
    return multiplier * math.sqrt(steps)


def compute_naive_epsilon(noise_multiplier: float, steps: int, delta: float) -> float:
    """Total ε if each step is (ε₀, δ/T)-DP and the ε₀ are added up (PrivDPR, Theorem 5.1)."""
    return steps * compute_gaussian_epsilon(1.0 / noise_multiplier, delta / steps)


@lru_cache(maxsize=256)
def compute_sampled_epsilon(
    noise_multiplier: float, sampling_rate: float, steps: int, delta: float
) -> float:
    """Total ε of Gaussian steps, each on a Poisson sample of the records (add or remove one)."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    z = noise_multiplier
    step: dp_accounting.DpEvent = dp_accounting.GaussianDpEvent(z)
    if sampling_rate < 1:
        step = dp_accounting.PoissonSampledDpEvent(sampling_rate, step)
    accountant = PLDAccountant(
        dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
        value_discretization_interval=_INTERVAL / max(z, 1.0) / min(z, 1.0) ** 2,
    )
    return float(accountant.compose(step, steps).get_epsilon(delta))


@lru_cache(maxsize=256)
def calibrate_sampled(epsilon: float, delta: float, sampling_rate: float, steps: int) -> float:
    """Smallest noise multiplier of sampled Gaussian steps for a total (ε, δ); within 1 %."""
    # Without the sampling the same noise is enough: a start from above.
    safe = calibrate_gaussian(epsilon, delta, steps) * (1 + 1e-3)
    return _find_boundary(
        lambda z: z >= safe or compute_sampled_epsilon(z, sampling_rate, steps, delta) <= epsilon,
        high=safe,
        low=safe * min(sampling_rate, 1.0) / 4,
        precision=0.01,
    )


def _find_boundary(
    is_safe: Callable[[float], bool],
    high: float = 1.0,
    low: float = 0.0,
    precision: float = _PRECISION,
) -> float:
    """Smallest x > `low`, to relative precision and rounded up, from which `is_safe` holds."""
    while not is_safe(high):
        low, high = high, 2 * high
    while high - low > precision * high:
        middle = (low + high) / 2
        low, high = (low, middle) if is_safe(middle) else (middle, high)
    return high
