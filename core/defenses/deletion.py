"""Deletion of links, at random or by score."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.link_changes import change_links
from core.graph import Graph
from core.methods import Defense, Strength, UnitInterval
from core.release import Release
from core.threats import Threats


class Deletion(Defense):
    """Removes round(strength · m) links."""

    acts_by: ClassVar[Strength | None] = Strength("strength", 0.1, 0.9)
    strength: UnitInterval = Field(
        0.3, title="Share of links removed", description="0 publishes all links, 1 none."
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        removed = round(self.strength * graph.num_edges)
        return self.build_release(change_links(graph, self._choose(graph, removed, context)))

    @abstractmethod
    def _choose(self, graph: Graph, count: int, context: Context) -> np.ndarray:
        """(count,) numbers of the links to remove."""


class RankedDeletion(Deletion):
    """Removes the links of highest score; ties at random."""

    def _choose(self, graph: Graph, count: int, context: Context) -> np.ndarray:
        scores = self._score_links(graph, context)
        return np.lexsort((context.rng("ties").random(graph.num_edges), -scores))[:count]

    @abstractmethod
    def _score_links(self, graph: Graph, context: Context) -> np.ndarray:
        """(m,) scores."""
