"""Sums of two independent Laplace variables: what a server holds of a pair reported twice."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from core.algorithms.pairs import sample_non_links
from core.graph import Graph


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
    others = graph.num_pairs - graph.num_edges
    share = min(1.0, (wanted + 8.0 * math.sqrt(wanted + 1.0) + 8.0) / max(others, 1))
    cut = find_laplace_sum_cut(share, scale)
    count = int(rng.binomial(others, compute_laplace_sum_tail(cut, scale))) if others else 0
    noise = draw_laplace_sums(cut, scale, count, rng)
    pairs = np.concatenate([graph.edges, sample_non_links(graph, count, rng)])
    top = np.argsort(-np.concatenate([on_links, noise]), kind="stable")[:wanted]
    return pairs[top]
