"""Random rewiring: replaces a random share of the links by random pairs."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.context import Context
from core.defenses.link_changes import change_links, sample_candidates
from core.graph import Graph
from core.methods import Defense, MethodInfo, Strength, Suggestion, UnitInterval
from core.release import Release
from core.threats import Threats


class RandomRewiring(Defense):
    """Removes round(strength · m) random links and adds as many random non-links.

    Added links get weights like those of the links that stay.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="random_rewiring",
        title="Random rewiring",
        summary="Replaces a random share of the links by random pairs.",
        source="Baseline 'Random' of PPGSL (Wu et al., 2025, §V-A4), after Yu et al., TKDE 2019",
        group="empirical",
        version=3,
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        9,
        ("attribute", "links"),
        ("column", "statistics"),
        "replaces a share of the links by random pairs",
    )
    acts_by: ClassVar[Strength | None] = Strength("strength", 0.1, 0.9)
    strength: UnitInterval = Field(
        0.3,
        title="Share of links replaced",
        description="Share of the links that are removed; as many random pairs are added.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        rng = context.rng("links")
        count = round(self.strength * graph.num_edges)
        drop = rng.choice(graph.num_edges, count, replace=False)
        added = sample_candidates(graph, threats, count, rng)
        return self.build_release(change_links(graph, drop, added, rng))
