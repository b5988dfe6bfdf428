"""L-DpGCN: Laplace noise on every entry of every list; the pairs with the largest sums are kept."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import LinkLocalDefense
from core.graph import Graph
from core.methods import MethodInfo, OpenUnitInterval
from core.privacy.budget import Account
from core.privacy.guarantees import LINK_TWICE
from core.privacy.mechanisms import check_release_fits
from core.privacy.top_pairs import draw_top_sums, draw_total_degree
from core.release import Release
from core.threats import Threats


class LocalDpGcn(LinkLocalDefense):
    """Every node sends its noisy degree and its adjacency list with Laplace noise on each entry.

    The server keeps as many pairs as half the sum of the noisy degrees: those with the largest ã_ij
    + ã_ji. As in DpGCN a small share of ε is spent on that number. The sum of all entries would be
    free but cannot be sampled together with the largest ones without drawing all n² entries.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="l_dpgcn",
        title="L-DpGCN",
        summary="Noisy lists of numbers; the server keeps the pairs with the largest sums.",
        source="Wu et al., LinkTeller, IEEE S&P 2022 (DpGCN); local form of Blink §5.1",
        group="link-local DP",
        version=3,
    )
    count_share: OpenUnitInterval = Field(
        0.05,
        title="Share of ε for degrees",
        description="The rest of the budget protects the entries of the lists.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(LINK_TWICE, self.epsilon, context)
        scale = account.spend(self.count_share, label="degrees")
        total = draw_total_degree(graph, scale, context.rng("degrees"))
        wanted = int(np.clip(round(total / 2.0), 0, graph.num_candidates))
        check_release_fits("L-DpGCN", wanted, context, "raise epsilon or use a smaller graph")
        scale = account.spend(account.share_left, label="entries")
        pairs = draw_top_sums(graph, wanted, scale, context.rng("rows"))
        guarantee = account.make_guarantee("basic composition, lists + degrees")
        return self.build_release(graph.with_edges(pairs), guarantee)
