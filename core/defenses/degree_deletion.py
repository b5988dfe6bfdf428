"""Degree deletion: publish without the links between the best-connected nodes."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.context import Context
from core.defenses.ranked_deletion import make_ranked_release
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.release import Release
from core.threats import Threats


class DegreeDeletion(Defense):
    """Removes links in descending order of the sum of both ends' degrees."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="degree_deletion",
        title="Deletion by degree",
        summary="Publishes the graph without the links between the best-connected nodes.",
        source="Bojchevski and Günnemann, ICML 2019; baseline 'Deg.' of GPS (KDD 2024, §6.3)",
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
        scores = graph.degrees[graph.edges].sum(axis=1)
        return make_ranked_release(self, graph, scores, self.strength, context)
