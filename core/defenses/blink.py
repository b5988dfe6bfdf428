"""Blink: noisy rows and degrees from the nodes, Bayesian denoising at the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.polynomial import chebyshev
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import LinkLocalDefense
from core.graph import Graph
from core.methods import SYMBOLS, MethodInfo, Suggestion
from core.privacy.budget import Account
from core.privacy.guarantees import LINK_TWICE
from core.privacy.link_local import PairBand, draw_link_reports, iterate_pair_tiles, recommend_delta
from core.privacy.mechanisms import BYTES_PER_LINK, Bits, check_release_fits
from core.progress import Progress
from core.release import Release
from core.threats import Threats
from core.words import format_percent

_BINS = 4096
_TILE_PAIRS = 1 << 20


class Blink(LinkLocalDefense):
    """Server's estimate of the graph from ε-link-LDP reports (Zhu, Tan and Xiao, CCS 2023).

    A pair with c received ones has posterior log-odds β_i + β_j + 2ε_a(c − 1), where σ(β_i+β_j)
    is the prior fitted to the noisy degrees and ε_a the rows' budget (Algorithm 3). Hard keeps
    P > ½: one threshold on β_i + β_j for each c. Soft publishes P as weights, as many entries
    as fit, the largest ones; hybrid the ‖P‖₁ largest ones.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="blink",
        title="Blink",
        summary="Nodes report noisy lists and degrees; the server estimates the likeliest graph.",
        source="Zhu, Tan and Xiao, Blink, CCS 2023, Algorithms 1–3, §4.2.3",
        group="link-local DP",
        cost="seconds",
        version=2,
        claim_blind_spot=(
            "Blink publishes an estimate that hides much of what was reported: at small budgets "
            "even half the noise goes unnoticed here. The guarantee covers the reports themselves."
        ),
    )
    symbols: ClassVar[Mapping[str, str]] = {**SYMBOLS, "delta": "degree share"}
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        3,
        ("links",),
        ("column",),
        "each node randomises its own links. Guarantees link-local DP",
        recipients=("public", "partner"),
        limit="epsilon_link",
        is_learned=True,
    )
    variant: Literal["hard", "soft", "hybrid"] = Field(
        "hard",
        title="Variant",
        description="hard: likely links; soft: probabilities as weights; hybrid: the top ones.",
    )
    delta: float | None = Field(
        None,
        gt=0,
        lt=1,
        title="Degree share",
        description="Share of the budget spent on degrees; empty: 0.1 if few false reports are "
        "expected at this ε and number of nodes, else 0.9.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        delta = self.delta or recommend_delta(self.epsilon, graph.num_nodes)
        account = Account(LINK_TWICE, self.epsilon, context)
        noisy = account.add_number_noise(graph.degrees, delta, 1.0, "degrees")
        beta = fit_beta_model(np.clip(noisy, 1.0, graph.num_nodes - 2.0), context.progress)
        bits = account.spend_bits(account.share_left, "rows")
        reports = draw_link_reports(graph, bits.flip, context.rng("reports of links"))
        if self.variant == "hard":
            published = graph.with_edges(draw_likely_pairs(graph, beta, reports, bits, context))
            facts: dict[str, float] = {}
        else:
            published, facts = self._weigh_pairs(graph, beta, reports, bits, context)
        accountant = (
            f"basic composition, {format_percent(1 - delta)} rows + {format_percent(delta)} degrees"
        )
        guarantee = account.make_guarantee(accountant)
        return self.build_release(published, guarantee, facts=facts)

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        return None if graph.num_nodes >= 4 else "needs a graph of at least four nodes"

    def _weigh_pairs(
        self, graph: Graph, beta: np.ndarray, reports: np.ndarray, bits: Bits, context: Context
    ) -> tuple[Graph, dict[str, float]]:
        """The largest posteriors as weighted links, in two passes over the same random bits."""
        scan = _PosteriorScan(graph, beta, reports, bits, context)
        limit = int(context.memory_budget // BYTES_PER_LINK)
        wanted = graph.num_pairs if self.variant == "soft" else round(scan.total)
        if self.variant == "hybrid":
            check_release_fits("Blink hybrid", wanted, context, "raise epsilon")
        pairs, weights = scan.collect_largest(min(wanted, limit))
        facts = {
            "estimated_links": scan.total,
            "mean_absolute_error": 2.0 * scan.error / graph.num_nodes**2,
            "probability_kept": float(weights.sum() / scan.total) if scan.total else 1.0,
        }
        # Tiles are visited in order, so the pairs are sorted already.
        return replace(graph, edges=pairs, weights=weights, link_table=None), facts


def draw_likely_pairs(
    graph: Graph, beta: np.ndarray, reports: np.ndarray, bits: Bits, context: Context
) -> np.ndarray:
    """(k, 2) pairs with posterior above ½ under the protocol (Blink-Hard).

    Given c received ones, P > ½ iff β_i + β_j > 2ε_a(1 − c). So pairs between two thresholds
    are kept for c = 2 only, above for c ≥ 1, above that always.
    """
    flip, budget = bits.flip, bits.epsilon
    sums = beta[graph.edges].sum(axis=1)
    kept = [graph.edges[sums > 2.0 * budget * (1 - reports)]]
    limits = (-2.0 * budget, 0.0, 2.0 * budget, np.inf)
    shares = (flip**2, 1.0 - (1.0 - flip) ** 2, 1.0)
    bands = [PairBand.of(beta, low, high) for low, high in pairwise(limits)]
    expected = sum(band.count * share for band, share in zip(bands, shares, strict=True))
    check_release_fits("Blink hard", expected, context, "change epsilon or delta")
    for number, (band, share) in enumerate(zip(bands, shares, strict=True)):
        inside = int(((sums > limits[number]) & (sums <= limits[number + 1])).sum())
        rng = context.rng("reports of non-links", number)
        kept.append(band.draw_non_links(graph, inside, share, rng))
        context.progress.update(number + 1, len(bands), "denoising")
    return np.concatenate(kept)


class _PosteriorScan:
    """One pass over all pairs in tiles: ‖P‖₁/2, ‖P − A‖₁/2 and a histogram of the log-odds."""

    def __init__(
        self, graph: Graph, beta: np.ndarray, reports: np.ndarray, bits: Bits, context: Context
    ) -> None:
        self.graph, self.beta, self.reports = graph, beta.astype(np.float32), reports
        self.bits, self.context = bits, context
        budget = bits.epsilon
        low, high = float(beta.min()), float(beta.max())
        self.bin_edges = np.linspace(2 * low - 2 * budget, 2 * high + 2 * budget, _BINS + 1)
        self.total = self.error = 0.0
        self.histogram = np.zeros(_BINS, np.int64)
        for odds, _i, _j, links in self._tiles("reading reports"):
            posterior = 1.0 / (1.0 + np.exp(-odds))
            mass, on_links = float(posterior.sum(dtype=np.float64)), posterior[links]
            self.total += mass
            self.error += mass + len(links) - 2.0 * float(on_links.sum(dtype=np.float64))
            self.histogram += np.bincount(self._bin(odds), minlength=_BINS)

    def collect_largest(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """(k, 2) pairs and (k,) posteriors of the `count` largest log-odds."""
        counts_above = np.cumsum(self.histogram[::-1])[::-1]
        sufficient = np.flatnonzero(counts_above >= count)
        lowest = int(sufficient[-1]) if len(sufficient) else 0
        found = []
        for odds, i, j, _links in self._tiles("keeping the likeliest"):
            keep = np.flatnonzero(self._bin(odds) >= lowest)
            found.append((odds[keep], i[keep], j[keep]))
        odds, i, j = (np.concatenate(part) for part in zip(*found, strict=True))
        if len(odds) > count:
            top = np.sort(np.argsort(-odds, kind="stable")[:count])
            odds, i, j = odds[top], i[top], j[top]
        return np.stack([i, j], axis=1), 1.0 / (1.0 + np.exp(-odds))

    def _bin(self, odds: np.ndarray) -> np.ndarray:
        low, high = self.bin_edges[[0, -1]]
        bins = ((odds - low) * (_BINS / (high - low))).astype(np.int64)
        return np.asarray(np.clip(bins, 0, _BINS - 1, out=bins))

    def _tiles(
        self, message: str
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        graph, total = self.graph, self.graph.num_pairs
        tiles = iterate_pair_tiles(
            graph,
            self.bits.flip,
            self.reports,
            lambda row: self.context.rng("reports of non-links", row),
            _TILE_PAIRS,
        )
        done = 0
        for i, j, ones, (positions, _numbers) in tiles:
            evidence = np.float32(2.0 * self.bits.epsilon) * (ones - np.int8(1)).astype(np.float32)
            yield self.beta[i] + self.beta[j] + evidence, i, j, positions
            done += len(i)
            self.context.progress.update(done, total, message)


_CHUNK = 1 << 22
"""Numbers held at once while evaluating the sums."""

_BOUND = 25.0
"""Largest |β|: beyond it a probability is 0 or 1 up to rounding."""


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
