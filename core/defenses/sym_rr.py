"""SymRR: randomised response with each pair reported by one end only."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import Epsilon
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.privacy.budget import Account
from core.privacy.guarantees import LINK_ONCE
from core.privacy.mechanisms import check_release_fits, draw_flips, expect_flipped_links
from core.release import Release
from core.threats import Threats


class SymRR(Defense):
    """Node i perturbs and sends only the bits of the nodes before it."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="sym_rr",
        title="SymRR",
        summary="Each pair is reported once, by one end, with its bit flipped at random.",
        source="Imola, Murakami and Chaudhuri, USENIX Security 2021, as used by Blink §5.1",
        group="link-local DP",
    )
    epsilon: Epsilon = Field(6.0, description="Budget of one link.")

    def expect_links(self, num_nodes: int, num_links: int) -> float:
        return expect_flipped_links(num_nodes, num_links, self.epsilon)

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(LINK_ONCE, self.epsilon, context)
        flip = account.spend_bits().flip
        expected = self.expect_links(graph.num_nodes, graph.num_edges)
        check_release_fits(self.info.title, expected, context, "raise epsilon")
        kept, added = draw_flips(graph, flip, context.rng("flips"))
        published = graph.with_edges(np.concatenate([graph.edges[kept], added]))
        return self.build_release(published, account.make_guarantee())
