"""L-DpGCN: Laplace noise on every entry of every list, the pairs with the largest sums are kept."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import sample_non_links
from core.context import Context
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.privacy.budget import Account
from core.privacy.guarantees import LINK_TWICE
from core.privacy.laplace_sums import (
    compute_laplace_sum_tail,
    draw_laplace_sums,
    draw_total,
    find_laplace_sum_cut,
)
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
        account, m = Account(LINK_TWICE, self.epsilon, context), graph.num_edges
        scale = account.spend(what="entries")
        rng = context.rng("rows")
        on_links = 2.0 + draw_laplace_sums(-math.inf, scale, m, rng)
        num_others = graph.num_pairs - m
        # First the noisy total, which says how many pairs are kept.
        rest = draw_total(num_others, scale, rng)
        wanted = int(np.clip(round((on_links.sum() + rest) / 2.0), 0, graph.num_pairs))
        check_release_fits("L-DpGCN", wanted, context, "raise epsilon or use a smaller graph")
        share = min(1.0, (wanted + 8.0 * math.sqrt(wanted + 1.0) + 8.0) / max(num_others, 1))
        cut = find_laplace_sum_cut(share, scale)
        tail = compute_laplace_sum_tail(cut, scale)
        count = int(rng.binomial(num_others, tail)) if num_others else 0
        noise = draw_laplace_sums(cut, scale, count, rng)
        pairs = np.concatenate([graph.edges, sample_non_links(graph, count, rng)])
        top = np.argsort(-np.concatenate([on_links, noise]), kind="stable")[:wanted]
        published = graph.with_edges(pairs[top])
        return Release(published, self.info.key, self.config, account.make_guarantee())
