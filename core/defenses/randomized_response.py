"""Randomised response (RR): every node flips every bit of its own list."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.context import Context
from core.defenses.budgeted import LinkLocalDefense
from core.graph import Graph
from core.methods import MethodInfo
from core.privacy.budget import Account
from core.privacy.guarantees import LINK_TWICE
from core.privacy.link_local import draw_noisy_rows, merge_reports
from core.privacy.mechanisms import check_release_fits, expect_flipped_links
from core.release import Release
from core.threats import Threats


class RandomizedResponse(LinkLocalDefense):
    """Publishes the reports received by the server; a pair's weight is the share of its ends
    that reported a link."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="randomized_response",
        title="Randomised response",
        summary="Every node flips each bit of its own list; both ends report each link.",
        source="Warner, JASA 1965; baseline RR of Blink (Zhu et al., CCS 2023, §5.1)",
        group="link-local DP",
    )

    def expect_links(self, num_nodes: int, num_links: int) -> float:
        return expect_flipped_links(num_nodes, num_links, self.epsilon, 2)

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(LINK_TWICE, self.epsilon, context)
        flip = account.spend_bits().flip
        expected = 2.0 * (graph.num_edges + graph.num_candidates * flip)
        check_release_fits("randomised response", expected, context, "raise epsilon")
        everywhere = np.ones(graph.num_nodes)
        ones = draw_noisy_rows(
            graph, (1.0 - flip) * everywhere, flip * everywhere, context.rng("rows")
        )
        published = merge_reports(graph, ones)
        return self.build_release(published, account.make_guarantee())
