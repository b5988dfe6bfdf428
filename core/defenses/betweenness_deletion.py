"""Betweenness deletion: publish without the links that most shortest paths use."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.ranked_deletion import RankedDeletion
from core.graph import Graph
from core.methods import MethodInfo


class BetweennessDeletion(RankedDeletion):
    """Removes links in descending order of their betweenness in the original graph."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="betweenness_deletion",
        title="Deletion by betweenness",
        summary="Publishes the graph without the links that most shortest paths use.",
        source="Bojchevski and Günnemann, ICML 2019; baseline 'Betw.' of GPS (KDD 2024, §6.3)",
        group="empirical",
        cost="seconds",
    )
    sources: int = Field(
        2000,
        ge=1,
        le=1_000_000,
        title="Source nodes",
        description="Shortest paths start at so many nodes; exact for graphs up to this size.",
    )

    def _score_links(self, graph: Graph, context: Context) -> np.ndarray:
        from core.algorithms.betweenness import compute_edge_betweenness

        count = min(self.sources, graph.num_nodes)
        sources = context.rng("sources").choice(graph.num_nodes, count, replace=False)
        return compute_edge_betweenness(graph, sources, context.progress)
