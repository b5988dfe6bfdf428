"""DICE adapted to link privacy: disconnects sensitive nodes and connects others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import sample_non_links
from core.context import Context
from core.defenses.link_changes import change_links
from core.graph import Graph
from core.methods import Defense, MethodInfo, Strength, Suggestion, UnitInterval
from core.release import Release
from core.threats import Threats


class Dice(Defense):
    """Removes up to round(strength · m) links at nodes with a sensitive link, and adds as many
    pairs between nodes without one.

    Added links get weights like those of the links that stay.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dice",
        title="DICE",
        summary="Removes links at nodes with sensitive links, adds links between other nodes.",
        source="Zügner and Günnemann, ICLR 2019, as used by PPGSL (Wu et al., 2025, §V-A4)",
        group="empirical",
        version=2,
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        12,
        ("links",),
        ("column", "links"),
        "removes links around sensitive links and adds others elsewhere",
        recipients=("partner", "internal"),
    )
    acts_by: ClassVar[Strength | None] = Strength("strength", 0.1, 0.9)
    strength: UnitInterval = Field(
        0.3,
        title="Share of links replaced",
        description="Share of the links that are removed; as many pairs are added elsewhere.",
    )

    @property
    def needs_links(self) -> bool:
        return True

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        assert threats.link is not None
        rng = context.rng("links")
        is_sensitive = np.zeros(graph.num_nodes, bool)
        is_sensitive[threats.link.hidden] = True
        exposed = np.flatnonzero(is_sensitive[graph.edges].any(axis=1))
        count = min(round(self.strength * graph.num_edges), len(exposed))
        drop = rng.choice(exposed, count, replace=False)
        added = _sample_among(graph, np.flatnonzero(~is_sensitive), count, rng)
        return self.build_release(change_links(graph, drop, added, rng))


def _sample_among(
    graph: Graph, nodes: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Up to `count` uniform pairs of the given nodes that the graph does not link."""
    if len(nodes) < 2 or count == 0:
        return np.empty((0, 2), np.int64)
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    inside = place[graph.edges]
    among = Graph.from_pairs(inside[(inside >= 0).all(axis=1)], len(nodes))
    return np.asarray(
        nodes[sample_non_links(among, min(count, among.num_pairs - among.num_edges), rng)]
    )
