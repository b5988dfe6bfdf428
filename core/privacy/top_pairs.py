"""Pairs with the largest values after Laplace noise on every pair, without a number per pair."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from core.algorithms.pairs import sample_candidates
from core.graph import Graph
from core.privacy.mechanisms import compute_laplace_tail, draw_laplace_above


def draw_top_pairs(
    num_links: int, num_pairs: int, wanted: int, scale: float, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """The `wanted` largest of A_ij + Laplace(scale).

    Returns a mask (m,) over the links and the number of non-links; given it, their positions are
    uniform. Equivalent to noise on all pairs, in O(m + wanted): non-links are drawn in layers from
    the top, each layer a Binomial count of values between two thresholds, until enough values are
    known.
    """
    links = 1.0 + rng.laplace(0.0, scale, num_links)
    remaining = num_pairs - num_links
    layers: list[np.ndarray] = []
    high, tail_high, found = np.inf, 0.0, 0
    while True:
        # The threshold below which a further `missing` non-links are expected, with a margin.
        missing = max(wanted - found, 0) + 3.0 * np.sqrt(wanted + 1.0) + 16
        share = min(missing / max(remaining, 1), 1.0)
        tail = tail_high + (1.0 - tail_high) * share
        low = _invert_tail(tail, scale)
        tail = compute_laplace_tail(low, scale)
        chance = min(max((tail - tail_high) / max(1.0 - tail_high, 1e-300), 0.0), 1.0)
        count = remaining if low == -np.inf else int(rng.binomial(remaining, chance))
        layers.append(draw_laplace_above(low, scale, count, rng, high))
        remaining -= count
        high, tail_high, found = low, tail, found + count
        if found + (links > low).sum() >= wanted or remaining == 0:
            break
    values = np.concatenate([links, *layers])
    order = np.arange(min(wanted, len(values)))
    if 0 < wanted < len(values):
        order = np.argpartition(-values, wanted - 1)[:wanted]
    kept = np.zeros(num_links, bool)
    kept[order[order < num_links]] = True
    return kept, int((order >= num_links).sum())


def draw_pairs_above(
    graph: Graph, threshold: float, scale: float, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """Pairs with A_ij + Laplace(scale) above a data-independent threshold.

    Returns a mask (m,) over the links and the number of non-links; given it, their positions are
    uniform. Pairs pass independently, so that number is Binomial; O(m) time.
    """
    kept = rng.random(graph.num_edges) < compute_laplace_tail(threshold - 1.0, scale)
    others = graph.num_candidates - graph.num_edges
    return kept, int(rng.binomial(others, compute_laplace_tail(threshold, scale)))


def find_threshold(
    wanted: int,
    num_pairs: int,
    scale: float,
    tail: Callable[[float, float], float] = compute_laplace_tail,
    gap: float = 1.0,
) -> float:
    """θ exceeded by `wanted` of `num_pairs` pairs in expectation, `wanted` of them being links:
    (N − m̃) P(noise > θ) + m̃ P(gap + noise > θ) = m̃, with noise of this tail and scale."""
    from scipy.optimize import brentq

    if wanted <= 0:
        return np.inf
    if wanted >= num_pairs:
        return -np.inf

    def exceed(threshold: float) -> float:
        others = (num_pairs - wanted) * tail(threshold, scale)
        return others + wanted * tail(threshold - gap, scale) - wanted

    reach = gap * (1.0 + scale * (np.log(num_pairs) + 2.0))
    threshold: float = brentq(exceed, -reach, reach, xtol=1e-12)
    return threshold


def _invert_tail(tail: float, scale: float) -> float:
    """The threshold that Laplace(0, scale) exceeds with probability `tail`."""
    if tail >= 1.0:
        return -np.inf
    quantile: float = -scale * np.log(2 * tail) if tail <= 0.5 else scale * np.log(2 * (1 - tail))
    return quantile


def compute_laplace_sum_tail(threshold: float, scale: float) -> float:
    """P(X + Y > threshold) for independent X, Y ~ Laplace(0, scale)."""
    if threshold < 0:
        return 1.0 - compute_laplace_sum_tail(-threshold, scale)
    ratio = min(threshold / scale, 700.0)
    return 0.5 * math.exp(-ratio) * (1.0 + 0.5 * ratio)


def find_laplace_sum_cut(share: float, scale: float) -> float:
    """The threshold ≥ 0 that such a sum exceeds with probability `share`; −∞ beyond one half."""
    from scipy.optimize import brentq

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


def draw_total_degree(graph: Graph, scale: float, rng: np.random.Generator) -> float:
    """Sum of all degrees, each with Laplace noise.

    The sum of n Laplace variables is the difference of two Gamma(n) ones.
    """
    n = graph.num_nodes
    return 2.0 * graph.num_edges + scale * float(rng.standard_gamma(n) - rng.standard_gamma(n))


def draw_top_sums(graph: Graph, wanted: int, scale: float, rng: np.random.Generator) -> np.ndarray:
    """(wanted, 2) pairs with the largest ã_ij + ã_ji, each entry with Laplace noise.

    Of the pairs that are no link only those above a cut can be among them: their number is
    Binomial, and they are drawn above the cut, which lies eight standard deviations low.
    """
    on_links = 2.0 + draw_laplace_sums(-math.inf, scale, graph.num_edges, rng)
    others = graph.num_candidates - graph.num_edges
    share = min(1.0, (wanted + 8.0 * math.sqrt(wanted + 1.0) + 8.0) / max(others, 1))
    threshold = find_laplace_sum_cut(share, scale)
    count = int(rng.binomial(others, compute_laplace_sum_tail(threshold, scale))) if others else 0
    noise = draw_laplace_sums(threshold, scale, count, rng)
    pairs = np.concatenate([graph.edges, sample_candidates(graph, count, rng)])
    top = np.argsort(-np.concatenate([on_links, noise]), kind="stable")[:wanted]
    return pairs[top]
