"""L-DpGCN: Laplace noise on every entry of every list, the pairs with the largest sums are kept."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.optimize import brentq

from core.algorithms.pairs import sample_non_links
from core.context import Context
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.privacy.link_local import make_local_release
from core.privacy.mechanisms import check_release_fits
from core.release import Release
from core.threats import Threats


class LocalDpGcn(Defense):
    """Every node adds Laplace(1/ε) to each entry of its list; the server keeps ‖Ã‖₁/2 pairs.

    Those are the pairs with the largest ã_ij + ã_ji. Of the pairs that are no link only those
    above a cut can be among them. Their number is Binomial and they are drawn above the cut; the
    sum of all others, needed for ‖Ã‖₁ alone, is drawn from its normal limit.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="l_dpgcn",
        title="L-DpGCN",
        summary="Noisy lists of numbers; the server keeps the pairs with the largest sums.",
        source="Wu et al., LinkTeller, IEEE S&P 2022 (DpGCN); local form of Blink §5.1",
        group="link-local DP",
    )
    epsilon: float = Field(
        6.0,
        gt=0,
        le=100,
        title="Privacy budget ε",
        description="Budget of one entry of a node's list; the link itself spends 2ε.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        scale, m = 1.0 / self.epsilon, graph.num_edges
        rng = context.rng("rows")
        on_links = 2.0 + draw_laplace_sums(-math.inf, scale, m, rng)
        num_others = graph.num_pairs - m
        # First the noisy total, which says how many pairs are kept.
        rest = rng.normal(0.0, 2.0 * scale * math.sqrt(num_others))
        wanted = int(np.clip(round((on_links.sum() + rest) / 2.0), 0, graph.num_pairs))
        check_release_fits("L-DpGCN", wanted, context, "raise epsilon or use a smaller graph")
        share = min(1.0, (wanted + 8.0 * math.sqrt(wanted + 1.0) + 8.0) / max(num_others, 1))
        cut = find_laplace_sum_cut(share, scale)
        tail = compute_laplace_sum_tail(cut, scale)
        count = int(rng.binomial(num_others, tail)) if num_others else 0
        noise = draw_laplace_sums(cut, scale, count, rng)
        pairs = np.concatenate([graph.edges, sample_non_links(graph, count, rng)])
        top = np.argsort(-np.concatenate([on_links, noise]), kind="stable")[:wanted]
        return make_local_release(self, graph, graph.with_edges(pairs[top]), 2, context)


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
