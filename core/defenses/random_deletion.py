"""Random deletion: publishes a random share of the links."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.context import Context
from core.defenses.deletion import Deletion
from core.graph import Graph
from core.methods import MethodInfo, Suggestion
from core.partitioned.graph import PartitionedGraph, make_scratch
from core.partitioned.links import Inline
from core.partitioned.releases import delete_at_random
from core.release import Release
from core.threats import Threats


class RandomDeletion(Deletion):
    """Links chosen uniformly without replacement."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="random_deletion",
        title="Random deletion",
        summary="Publishes the graph without a random share of its links.",
        source="Baseline 'Rand.' of GPS (Yuan et al., KDD 2024, §6)",
        group="empirical",
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        10,
        ("links", "attribute"),
        ("links", "column", "statistics"),
        "removes a share of the links and adds none",
        recipients=("partner", "internal"),
    )

    partitioned: ClassVar[bool] = True

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        if not isinstance(graph, PartitionedGraph):
            return super().publish(graph, threats, context)
        folder, inline = make_scratch(graph.links, "release"), Inline(context.progress)
        left = delete_at_random(inline, graph.links, folder, self.strength, context.seed)
        return self.build_release(graph.with_links(left))

    def _choose(self, graph: Graph, count: int, context: Context) -> np.ndarray:
        return context.rng("links").choice(graph.num_edges, count, replace=False)
