"""Noise mechanisms: randomised response on pairs, Laplace on numbers.

Audit runs are seeded and reproducible. In publishing runs (`context.is_publishing`) the root seed
comes from the operating system and additive noise on counts is OpenDP's, whose samplers are free of
floating-point artefacts. Flipped pairs are published as sets, so that no low-order bits of a noisy
number leak.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.algorithms.pairs import sample_candidates
from core.context import Context
from core.errors import ResourceError
from core.graph import Graph

BYTES_PER_LINK = 128
"""Peak memory per link while a release is drawn, sorted and checked."""


def compute_flip_probability(epsilon: float) -> float:
    """1/(1+e^ε): the flip probability of ε-DP binary randomised response (Warner, 1965)."""
    return 1.0 / (1.0 + math.exp(epsilon)) if epsilon < 700 else 0.0


@dataclass(frozen=True)
class Bits:
    """Randomised response on bits: flip probability, and ε = ln((1 − flip) / flip)."""

    flip: float
    epsilon: float

    @staticmethod
    def of(epsilon: float) -> Bits:
        """The flip that spends this ε on a bit."""
        return Bits(compute_flip_probability(epsilon), epsilon)


def check_release_fits(method: str, expected_links: float, context: Context, remedy: str) -> None:
    """Raise ResourceError before allocating a release that would not fit."""
    limit = context.memory_budget // BYTES_PER_LINK
    if expected_links > limit:
        raise ResourceError(
            method,
            f"would publish more links than fit the memory (at most {limit:,})",
            f"about {expected_links:,.0f} links expected",
            remedy,
        )


def expect_flipped_links(
    num_nodes: int, num_links: int, epsilon: float, num_reports: int = 1
) -> float:
    """Expected number of pairs with a link in any report, each flipped with probability
    1/(1+e^ε)."""
    flip = compute_flip_probability(epsilon)
    num_others = num_nodes * (num_nodes - 1) // 2 - num_links
    return num_links * (1 - flip**num_reports) + num_others * (1 - (1 - flip) ** num_reports)


def draw_flips(
    graph: Graph, flip: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Flip each candidate (of one mode each of the n(n−1)/2 pairs) with probability `flip`,
    independently.

    Returns `kept`, a mask (m,) over the links, and `added` (a, 2), the pairs that became links.
    The number of flips among the non-links is Binomial and, given it, their positions are
    uniform without replacement: the same distribution as one coin a pair, in O(m + a).
    """
    kept = rng.random(graph.num_edges) >= flip
    count = int(rng.binomial(graph.num_candidates - graph.num_edges, flip))
    added = sample_candidates(graph, count, rng) if count else np.empty((0, 2), np.int64)
    return kept, added


def add_discrete_laplace(
    values: np.ndarray, scale: float, context: Context, purpose: str
) -> np.ndarray:
    """Integers (k,) plus two-sided geometric noise, P(z) ∝ e^(−|z|/scale).

    ε-DP with ε = sensitivity / scale (Ghosh, Roughgarden and Sundararajan, 2009).
    """
    values = np.asarray(values, dtype=np.int64)
    if context.is_publishing:
        return _add_noise_by_opendp(values, scale, "i64")
    rng = context.rng(purpose)
    success = -math.expm1(-1.0 / scale)
    if success < 1e-12:  # below the resolution of the geometric sampler; rounding is accurate here
        return values + np.rint(rng.laplace(0.0, scale, values.shape)).astype(np.int64)
    noise = rng.geometric(success, values.shape) - rng.geometric(success, values.shape)
    return np.asarray(values + noise)


def add_laplace(values: np.ndarray, scale: float, context: Context, purpose: str) -> np.ndarray:
    """Numbers (k,) plus Laplace noise of the given scale (Dwork et al., 2006)."""
    values = np.asarray(values, dtype=np.float64)
    if context.is_publishing:
        return _add_noise_by_opendp(values, scale, "f64")
    return values + context.rng(purpose).laplace(0.0, scale, values.shape)


def draw_by_score(scores: np.ndarray, factor: float, context: Context, purpose: str) -> int:
    """An index of `scores` (k,), drawn ∝ e^(factor · score) (McSherry and Talwar, 2007)."""
    noise = context.rng(purpose).gumbel(size=len(scores))  # the largest sum is such a draw
    return int(np.argmax(factor * scores + noise))


def draw_laplace_above(
    low: float, scale: float, count: int, rng: np.random.Generator, high: float = math.inf
) -> np.ndarray:
    """(count,) draws of Laplace(0, scale), given that they lie in (low, high]."""
    top = compute_laplace_tail(low, scale)
    bottom = compute_laplace_tail(high, scale)
    tail = bottom + (top - bottom) * (1.0 - rng.random(count))
    return np.where(
        tail <= 0.5, -scale * np.log(2.0 * tail), scale * np.log(2.0 * np.maximum(1 - tail, 1e-300))
    )


def compute_laplace_tail(threshold: float, scale: float) -> float:
    """P(Laplace(0, scale) > threshold)."""
    if threshold >= 0:
        return 0.5 * math.exp(-threshold / scale)
    return 1.0 - 0.5 * math.exp(threshold / scale)


def _add_noise_by_opendp(
    values: np.ndarray, scale: float, kind: Literal["i64", "f64"]
) -> np.ndarray:
    """Noise of OpenDP, whose own `int` has 32 bits."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.atom_domain(T=kind, nan=None if kind == "i64" else False)
    space = dp.vector_domain(domain), dp.l1_distance(T=kind)
    mechanism = dp.m.make_laplace(*space, scale=scale)
    return np.asarray(mechanism(values.ravel().tolist())).reshape(values.shape)
