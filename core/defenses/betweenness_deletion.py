"""Betweenness deletion: publish without the links that most shortest paths use."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.context import Context
from core.defenses.ranked_deletion import make_ranked_release
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.release import Release
from core.threats import Threats


class BetweennessDeletion(Defense):
    """Removes links in descending order of their betweenness in the original graph."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="betweenness_deletion",
        title="Deletion by betweenness",
        summary="Publishes the graph without the links that most shortest paths use.",
        source="Bojchevski and Günnemann, ICML 2019; baseline 'Betw.' of GPS (KDD 2024, §6.3)",
        group="empirical",
        cost="seconds",
    )
    strength: float = Field(
        0.3,
        ge=0,
        le=1,
        title="Share of links removed",
        description="0 publishes all links, 1 none.",
    )
    sources: int = Field(
        2000,
        ge=1,
        le=1_000_000,
        title="Source nodes",
        description="Shortest paths start at so many nodes; exact for graphs up to this size.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        from core.algorithms.betweenness import compute_edge_betweenness

        count = min(self.sources, graph.num_nodes)
        sources = context.rng("sources").choice(graph.num_nodes, count, replace=False)
        scores = compute_edge_betweenness(graph, sources, context.progress)
        return make_ranked_release(self, graph, scores, self.strength, context)
