"""LapGraph: Laplace noise on every pair, the largest m̃ become the release; ε-edge DP."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import sample_non_links
from core.context import Context
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.privacy.guarantees import make_edge_guarantee
from core.privacy.mechanisms import (
    add_discrete_laplace,
    check_release_fits,
    compute_laplace_tail,
    draw_laplace_above,
)
from core.release import Release
from core.threats import Threats


class LapGraph(Defense):
    """Spends `count_share` of ε on the number of links, the rest on the pairs.

    Like EdgeRand it does not look at the threats, and publishes no weights.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="lap_graph",
        title="LapGraph",
        summary="Adds Laplace noise to every pair and publishes as many top pairs as links.",
        source="Wu et al., LinkTeller, IEEE S&P 2022, §V (LapGraph)",
        group="edge DP",
    )
    epsilon: float = Field(
        6.0,
        gt=0,
        le=100,
        title="Privacy budget ε",
        description="Smaller is more private; small values turn the release into noise.",
    )
    count_share: float = Field(
        0.01,
        gt=0,
        lt=1,
        title="Share of ε for the number of links",
        description="The rest of the budget protects the pairs themselves.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        scale = 1.0 / (self.epsilon * self.count_share)
        noisy = add_discrete_laplace(np.array([graph.num_edges]), scale, context, "count")[0]
        wanted = int(np.clip(noisy, 0, graph.num_pairs))
        check_release_fits("LapGraph", wanted, context, "raise epsilon or use a smaller graph")
        pair_scale = 1.0 / (self.epsilon * (1.0 - self.count_share))
        kept, num_added = draw_top_pairs(
            graph.num_edges, graph.num_pairs, wanted, pair_scale, context.rng("pairs")
        )
        added = sample_non_links(graph, num_added, context.rng("positions"))
        facts = (
            {}
            if context.is_publishing
            else {
                "links_removed": float((~kept).sum()),
                "links_added": float(num_added),
            }
        )
        return Release(
            graph.with_edges(np.concatenate([graph.edges[kept], added])),
            self.info.key,
            self.config,
            guarantee=make_edge_guarantee(self.epsilon, "sequential composition"),
            facts=facts,
        )


def draw_top_pairs(
    num_links: int, num_pairs: int, wanted: int, scale: float, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """Which pairs are among the `wanted` largest of A_ij + Laplace(scale).

    Returns a mask (m,) over the links and the number of non-links; given it, their positions
    are uniform. The law is exactly that of noise on all pairs, in O(m + wanted): non-links are
    drawn in layers from the top, each layer a Binomial count of values between two thresholds,
    until enough values are known. Values below the last threshold cannot be among the largest.
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
    order = (
        np.argpartition(-values, wanted - 1)[:wanted]
        if 0 < wanted < len(values)
        else (np.arange(len(values) if wanted else 0))
    )
    kept = np.zeros(num_links, bool)
    kept[order[order < num_links]] = True
    return kept, int((order >= num_links).sum())


def _invert_tail(tail: float, scale: float) -> float:
    """The threshold that Laplace(0, scale) exceeds with probability `tail`."""
    if tail >= 1.0:
        return -np.inf
    quantile: float = -scale * np.log(2 * tail) if tail <= 0.5 else scale * np.log(2 * (1 - tail))
    return quantile
