"""EdgeRand: randomised response on every pair of nodes, ε-edge differential privacy."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.context import Context
from core.defenses.budgeted import EdgePrivateDefense
from core.graph import Graph
from core.methods import MethodInfo, Suggestion
from core.partitioned.graph import PartitionedGraph, make_scratch
from core.partitioned.links import Inline
from core.partitioned.releases import publish_edge_rand
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE, Kind
from core.privacy.mechanisms import check_release_fits, draw_flips, expect_flipped_links
from core.release import Release
from core.threats import Threats


class EdgeRand(EdgePrivateDefense):
    """Flips each pair independently with probability 1/(1+e^ε).

    Independent of the threats: a withheld pair may appear by chance like any other. Weights are not
    published.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="edge_rand",
        title="EdgeRand",
        summary="Flips every pair of nodes at random, so that any link can be denied.",
        source="Mülle, Clifton and Böhm, EDBT Workshops 2015; Wu et al., LinkTeller, S&P 2022",
        group="edge DP",
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        7,
        ("links",),
        ("column", "statistics"),
        "adds and removes links at random. Guarantees edge-DP, for single links",
        recipients=("public", "partner"),
        limit="epsilon_edge",
    )

    protected: ClassVar[Kind] = EDGE
    partitioned: ClassVar[bool] = True

    def expect_links(self, num_nodes: int, num_links: int) -> float:
        return expect_flipped_links(num_nodes, num_links, self.epsilon)

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        if isinstance(graph, PartitionedGraph):
            folder, inline = make_scratch(graph.links, "release"), Inline(context.progress)
            links, guarantee = publish_edge_rand(inline, graph.links, folder, self.epsilon, context)
            return self.build_release(graph.with_links(links), guarantee)
        account = Account(self.protected, self.epsilon, context)
        flip = account.spend_bits().flip
        expected = self.expect_links(graph.num_nodes, graph.num_edges)
        check_release_fits(
            self.info.title, expected, context, "raise epsilon or use a smaller graph"
        )
        kept, added = draw_flips(graph, flip, context.rng("flips"))
        published = graph.with_edges(np.concatenate([graph.edges[kept], added]))
        return self.build_release(published, account.make_guarantee())
