"""Deletion of the links with the highest score."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.link_changes import change_links
from core.graph import Graph
from core.methods import Defense
from core.release import Release
from core.threats import Threats


class RankedDeletion(Defense):
    """Removes the round(strength · m) links of highest score; ties in random order."""

    strength: float = Field(
        0.3,
        ge=0,
        le=1,
        title="Share of links removed",
        description="0 publishes all links, 1 none.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        scores = self._score_links(graph, context)
        order = np.lexsort((context.rng("ties").random(graph.num_edges), -scores))
        removed = round(self.strength * graph.num_edges)
        return self.build_release(change_links(graph, order[:removed]))

    @abstractmethod
    def _score_links(self, graph: Graph, context: Context) -> np.ndarray:
        """(m,) scores."""
