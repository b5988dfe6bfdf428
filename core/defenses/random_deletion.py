"""Random deletion: publish a random share of the links."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.context import Context
from core.defenses.link_changes import change_links
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.release import Release
from core.threats import Threats


class RandomDeletion(Defense):
    """Removes round(strength · m) links, chosen uniformly without replacement."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="random_deletion",
        title="Random deletion",
        summary="Publishes the graph without a random share of its links.",
        source="Baseline 'Rand.' of GPS (Yuan et al., KDD 2024, §6)",
        group="empirical",
    )
    strength: float = Field(
        0.3,
        ge=0,
        le=1,
        title="Share of links removed",
        description="0 publishes all links, 1 none.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        removed = round(self.strength * graph.num_edges)
        drop = context.rng("links").choice(graph.num_edges, removed, replace=False)
        return self.build_release(change_links(graph, drop))
