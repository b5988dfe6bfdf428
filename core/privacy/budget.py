"""Privacy budget of one release: mechanisms draw their noise from an account.

A defense opens an `Account` with its ε (and δ), spends shares of it, and gets a noise scale, a flip
probability or noise. The guarantee is built from what the account recorded, so that claim and
spending cannot differ. Accounting is pure: `compute_gaussian_epsilon` for
Gaussians, basic composition otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.special import log_ndtr

from core.context import Context
from core.privacy.guarantees import Kind
from core.privacy.mechanisms import Bits, add_discrete_laplace, add_laplace
from core.release import Guarantee

if TYPE_CHECKING:
    import torch

_ROUNDING = 1e-9
"""Tolerance for shares that sum to 1 in floating point."""

Share = float | Fraction

Values = TypeVar("Values", np.ndarray, "torch.Tensor")

NUMBER_OF_LINKS = "number of links"


@dataclass(frozen=True)
class Spending:
    """One entry of an account.

    label    purpose of the spending
    share    part of the whole budget;  epsilon, delta  its value
    naive    ε of the same noise under naive composition
    """

    label: str
    share: Share
    epsilon: float
    delta: float = 0.0
    naive: float | None = None


class GaussianNoise:
    """Noise of standard deviation `multiplier` times the sensitivity, one stream for all steps."""

    def __init__(self, multiplier: float, context: Context) -> None:
        self.multiplier = multiplier
        self._context = context
        self._stream: Any = None

    def draw_for(self, values: Values, sensitivity: float) -> Values:
        """Noise for sums that one unit changes by ≤ `sensitivity` in ℓ₂ norm.

        Has the shape and type of `values`: an array, or a tensor on the same device.
        """
        if isinstance(values, np.ndarray):
            return self._draw(values.shape) * self.multiplier * sensitivity
        import torch

        device = self._context.device.torch_name
        if self._context.is_publishing:
            # torch's generator keeps only 32 bits of its seed, few enough for a search.
            drawn = torch.from_numpy(self._draw(tuple(values.shape)).astype(np.float32))
            return drawn.to(device) * (self.multiplier * sensitivity)
        if self._stream is None:
            self._stream = self._context.seed.torch("noise", device=device)
        noise = torch.randn(values.shape, generator=self._stream, device=device)
        return noise * (self.multiplier * sensitivity)

    def _draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Standard normal numbers. Noisy values are never published, only links, so that
        low-order bits cannot leak (Mironov, 2012)."""
        if self._stream is None:
            self._stream = self._context.rng("noise")
        return np.asarray(self._stream.standard_normal(shape))


class Account:
    """A budget (ε, δ) of one unit, and the spendings recorded so far.

    kind     protected unit: EDGE, NODE, LINK_ONCE, LINK_TWICE
    epsilon  for a local kind the budget of one report; both ends of a link may spend it

    >>> from core.context import Context
    >>> from core.privacy.budget import Account
    >>> from core.privacy.guarantees import EDGE
    >>> from core.seeding import Seed
    >>> account = Account(EDGE, 2.0, Context(Seed(0)))
    >>> account.spend(0.25), account.share_left
    (2.0, 0.75)
    """

    def __init__(self, kind: Kind, epsilon: float, context: Context, delta: float = 0.0) -> None:
        self.kind, self.epsilon, self.delta = kind, epsilon, delta
        self.spendings: list[Spending] = []
        self._context = context

    @property
    def share_left(self) -> Share:
        return 1 - sum(spending.share for spending in self.spendings)

    def spend(self, share: Share = 1, sensitivity: float = 1.0, label: str = "noise") -> float:
        """Scale b of Laplace noise for values that one unit changes by at most `sensitivity` in
        sum: ε = sensitivity / b (Dwork et al., 2006)."""
        return sensitivity / self._take(share, label)

    def spend_bits(self, share: Share = 1, label: str = "bits") -> Bits:
        """Randomised response on bits of which one unit changes one."""
        return Bits.of(self._take(share, label))

    def spend_choice(self, share: Share, sensitivity: float, label: str = "choices") -> float:
        """Factor c of an exponential mechanism that draws ∝ e^(c · score).

        One unit raises scores by at most `sensitivity` in sum over all draws and lowers none: for
        such monotone scores ε = c · sensitivity (McSherry and Talwar, 2007; no factor 2).
        """
        return self._take(share, label) / sensitivity

    def spend_either(
        self, share: Share, sensitivities: tuple[float, ...], label: str
    ) -> tuple[float, ...]:
        """Laplace scales of tables such that any unit affects one of them only; each spends the
        same share (parallel composition, McSherry, 2009)."""
        amount = self._take(share, label)
        return tuple(sensitivity / amount for sensitivity in sensitivities)

    def spend_rest_on_sums(self, steps: int, rate: float | None = None) -> GaussianNoise:
        """Gaussian noise for `steps` sums, for the remaining ε and the whole δ.

        rate  inclusion probability of each record in a step's Poisson sample; None: all
        """
        share = self.share_left
        amount = self.epsilon - sum(spending.epsilon for spending in self.spendings)
        if rate is not None:
            multiplier = calibrate_sampled(amount, self.delta, rate, steps)
            one = compute_sampled_epsilon(multiplier, rate, 1, self.delta / steps)
            naive = steps * one
        else:
            multiplier = calibrate_gaussian(amount, self.delta, steps)
            naive = compute_naive_epsilon(multiplier, steps, self.delta)
        self._record(Spending(f"{steps:,} Gaussian steps", share, amount, self.delta, naive))
        return GaussianNoise(multiplier, self._context)

    def add_count_noise(
        self, values: np.ndarray, share: Share, sensitivity: float, purpose: str, label: str = ""
    ) -> np.ndarray:
        """Integers (k,) with discrete Laplace noise that spends `share`."""
        scale = self.spend(share, sensitivity, label or purpose)
        return add_discrete_laplace(values, scale, self._context, purpose)

    def add_number_noise(
        self, values: np.ndarray, share: Share, sensitivity: float, purpose: str
    ) -> np.ndarray:
        """Numbers (k,) with Laplace noise that spends `share`."""
        scale = self.spend(share, sensitivity, purpose)
        return add_laplace(values, scale, self._context, purpose)

    def add_smooth_noise(
        self, value: float, local: float, limit: float, share: Share, label: str
    ) -> float:
        """A number with Laplace noise of its smooth sensitivity S, for `share` of ε and the whole
        δ.

        local  local sensitivity at this graph, at most `limit`; one unit changes it by at most 1
        With β = ε / (2 ln(2/δ)), S = max over s of e^(−βs) min(local + s, limit) and the scale is
        2S/ε (Nissim, Raskhodnikova and Smith, STOC 2007, Corollary 2.4).
        """
        amount = self._take(share, label)
        self.spendings[-1] = replace(self.spendings[-1], delta=self.delta)
        beta = amount / (2.0 * math.log(2.0 / self.delta))
        distance = min(max(1.0 / beta - local, 0.0), max(limit - local, 0.0))
        smooth = math.exp(-beta * distance) * min(local + distance, limit)
        scale = 2.0 * max(smooth, 1e-12) / amount
        return float(add_laplace(np.array([value]), scale, self._context, label)[0])

    def find_test_threshold(self, share: Share) -> int:
        """Smallest t that discrete Laplace noise of `share` reaches with probability at most δ:
        P(Z ≥ t) = e^(−t/b) / (1 + e^(−1/b)) for its scale b."""
        scale = 1.0 / (self.epsilon * float(share))
        bound = scale * -math.log(self.delta * (1.0 + math.exp(-1.0 / scale)))
        return max(math.ceil(bound), 1)

    def test_distance(self, distance: int, share: Share, label: str) -> bool:
        """Whether a distance ≥ 0 of sensitivity 1 is above 0, with false-positive probability δ
        (propose-test-release, Dwork and Lei, STOC 2009)."""
        noisy = self.add_count_noise(np.array([distance]), share, 1.0, label)[0]
        self.spendings[-1] = replace(self.spendings[-1], delta=self.delta)
        return bool(noisy >= self.find_test_threshold(share))

    def make_guarantee(self, accountant: str = "", note: str = "") -> Guarantee:
        """Guarantee of the spent budget: basic composition, exact total for Gaussians.

        accountant  name of the accounting; by default derived from the number of mechanisms
        """
        spendings = self.spendings
        # Shares are summed because fractions add exactly; their ε would round.
        total = self.epsilon * float(sum(spending.share for spending in spendings))
        naive = None
        if any(spending.naive is not None for spending in spendings):
            naive = sum(s.epsilon if s.naive is None else s.naive for s in spendings)
            for spending in spendings:
                if spending.naive is None:
                    accountant += f" + Laplace for the {spending.label} (ε = {spending.epsilon:g})"
        if not accountant:
            accountant = "single mechanism" if len(spendings) == 1 else "sequential composition"
        delta = sum(spending.delta for spending in spendings)
        return self.kind.make_guarantee(total, accountant, delta, naive, note)

    def _take(self, share: Share, label: str) -> float:
        amount = self.epsilon * share
        if isinstance(share, Fraction):
            amount = self.epsilon * share.numerator / share.denominator
        self._record(Spending(label, share, amount))
        return amount

    def _record(self, spending: Spending) -> None:
        if not 0 < spending.share <= self.share_left + _ROUNDING:
            raise ValueError(
                f"'{spending.label}' asks for {float(spending.share):g} of a budget of which "
                f"{float(self.share_left):g} is left"
            )
        self.spendings.append(spending)


# A Gaussian step has noise multiplier z = standard deviation / ℓ₂ sensitivity. T such steps are
# exactly one Gaussian mechanism with μ = √T / z (Dong, Roth and Su, Gaussian differential privacy,
# 2022, Corollary 3.3), so that their tight total has a closed form. For steps on random samples of
# the links dp-accounting's privacy loss distributions are used, rounded conservatively.

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
