"""A defense as a class: keeps each link with a chance. A template; pyproject.toml names it."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.context import Context
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.release import Release
from core.threats import Threats


class RandomLinks(Defense):
    """Keeps each link of the graph with chance `kept`, independently."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="random_links",
        title="Random links",
        summary="Keeps each link with a chance, independently of the others.",
        source="An example",
        group="empirical",
    )
    kept: float = Field(0.8, gt=0, le=1, title="Kept", description="Chance of a link to stay.")

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        context.progress.update(0, 1, "drawing links")
        stays = context.rng("links").random(graph.num_edges) < self.kept
        return self.build_release(graph.without_edges(graph.edges[~stays]))
