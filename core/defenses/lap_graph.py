"""LapGraph, TmF and L-DpGCN: Laplace noise on every pair, the largest values become the release."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.optimize import brentq

from core.algorithms.pairs import sample_non_links
from core.context import Context
from core.defenses.budgeted import EdgePrivateDefense, LinkLocalDefense
from core.graph import Graph
from core.methods import MethodInfo
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE, LINK_TWICE
from core.privacy.mechanisms import check_release_fits, compute_laplace_tail
from core.privacy.top_pairs import (
    draw_pairs_above,
    draw_top_pairs,
    draw_top_sums,
    draw_total_degree,
)
from core.release import Release
from core.threats import Threats

REMEDY = "raise epsilon or use a smaller graph"


class NoisyPairs(EdgePrivateDefense):
    """Spends `count_share` of ε on a noisy number m̃ of links, the rest on the pairs themselves."""

    count_share: float = Field(
        0.01,
        gt=0,
        lt=1,
        title="Share of ε for the number of links",
        description="The rest of the budget protects the pairs themselves.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(EDGE, self.epsilon, context)
        links = np.array([graph.num_edges])
        noisy = account.add_count_noise(links, self.count_share, 1.0, "count")[0]
        wanted = int(np.clip(noisy, 0, graph.num_pairs))
        check_release_fits(self.info.title, wanted, context, REMEDY)
        scale = account.spend(account.share_left, what="pairs")
        kept, num_added = self._draw(graph, wanted, scale, context)
        added = sample_non_links(graph, num_added, context.rng("positions"))
        published = graph.with_edges(np.concatenate([graph.edges[kept], added]))
        return self.build_release(published, account.make_guarantee())

    @abstractmethod
    def _draw(
        self, graph: Graph, wanted: int, scale: float, context: Context
    ) -> tuple[np.ndarray, int]:
        """A mask (m,) over the links, and how many other pairs are published."""


class LapGraph(NoisyPairs):
    """The m̃ largest values. Like EdgeRand it does not look at the threats, and publishes no
    weights."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="lap_graph",
        title="LapGraph",
        summary="Adds Laplace noise to every pair and publishes as many top pairs as links.",
        source="Wu et al., LinkTeller, IEEE S&P 2022, §V (LapGraph)",
        group="edge DP",
    )

    def _draw(
        self, graph: Graph, wanted: int, scale: float, context: Context
    ) -> tuple[np.ndarray, int]:
        rng = context.rng("pairs")
        return draw_top_pairs(graph.num_edges, graph.num_pairs, wanted, scale, rng)


class Tmf(NoisyPairs):
    """The top-m filter: a noisy number m̃ of links, then A_ij + Laplace above a threshold.

    The threshold is that which m̃ pairs are expected to exceed. The authors then fill up with
    exactly m̃ less the surviving links from the other pairs. That number depends on how many links
    survived, and the ratio of the chances of a release under two neighbouring graphs is not
    bounded by e^ε. Here every pair passes on its own, as the noise on it has it: the number of
    links is m̃ in expectation. Non-links that pass are drawn as a Binomial count and positions,
    so that time and memory are linear in m + m̃.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="tmf",
        title="TmF",
        summary="Adds Laplace noise to every pair and publishes the pairs above a threshold.",
        source="Nguyen, Imine and Rusinowitch, Differentially private publication of social "
        "graphs at linear cost, ASONAM 2015, Algorithm 1",
        group="edge DP",
    )
    count_share: float = Field(
        0.1,
        gt=0,
        lt=1,
        title="Share of ε for the number of links",
        description="The rest of the budget protects the pairs themselves.",
    )

    def _draw(
        self, graph: Graph, wanted: int, scale: float, context: Context
    ) -> tuple[np.ndarray, int]:
        threshold = find_threshold(wanted, graph.num_pairs, scale)
        kept, count = draw_pairs_above(graph, threshold, scale, context.rng("pairs"))
        context.progress.update(1, 2, "drawing links")
        check_release_fits(self.info.title, count, context, REMEDY)
        return kept, count


def find_threshold(wanted: int, num_pairs: int, scale: float) -> float:
    """θ that `wanted` of `num_pairs` pairs are expected to exceed, `wanted` of them being links:
    (N − m̃) P(noise > θ) + m̃ P(1 + noise > θ) = m̃, with Laplace noise of this scale."""
    if wanted <= 0:
        return np.inf
    if wanted >= num_pairs:
        return -np.inf

    def exceed(threshold: float) -> float:
        others = (num_pairs - wanted) * compute_laplace_tail(threshold, scale)
        return others + wanted * compute_laplace_tail(threshold - 1.0, scale) - wanted

    reach = 1.0 + scale * (np.log(num_pairs) + 2.0)
    threshold: float = brentq(exceed, -reach, reach, xtol=1e-12)
    return threshold


class LocalDpGcn(LinkLocalDefense):
    """Every node sends its noisy degree and its list with Laplace noise on each entry.

    The server keeps as many pairs as the noisy degrees say, half their sum: those with the
    largest ã_ij + ã_ji. As in DpGCN a small share of ε pays for that number. The sum of all
    entries, which would be free, cannot be drawn together with the largest ones without drawing
    all n² of them.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="l_dpgcn",
        title="L-DpGCN",
        summary="Noisy lists of numbers; the server keeps the pairs with the largest sums.",
        source="Wu et al., LinkTeller, IEEE S&P 2022 (DpGCN); local form of Blink §5.1",
        group="link-local DP",
        version=2,
    )
    count_share: float = Field(
        0.05,
        gt=0,
        lt=1,
        title="Share of ε for degrees",
        description="The rest of the budget protects the entries of the lists.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(LINK_TWICE, self.epsilon, context)
        scale = account.spend(self.count_share, what="degrees")
        total = draw_total_degree(graph, scale, context.rng("degrees"))
        wanted = int(np.clip(round(total / 2.0), 0, graph.num_pairs))
        check_release_fits("L-DpGCN", wanted, context, "raise epsilon or use a smaller graph")
        scale = account.spend(account.share_left, what="entries")
        pairs = draw_top_sums(graph, wanted, scale, context.rng("rows"))
        guarantee = account.make_guarantee("basic composition, lists + degrees")
        return self.build_release(graph.with_edges(pairs), guarantee)
