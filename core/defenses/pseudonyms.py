"""Pseudonyms only: ids are replaced and everything else is published."""

from __future__ import annotations

from typing import ClassVar

from core.context import Context
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.release import Release
from core.threats import Threats


class Pseudonyms(Defense):
    """The unchanged graph; ids are replaced by numbers in random order when it is written.

    Attacks on identities never use ids, so that this release shows the effect of hiding names
    alone.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="pseudonyms",
        title="Pseudonyms alone",
        summary="Replaces the names and publishes everything else unchanged.",
        source="The baseline of Backstrom, Dwork and Kleinberg, Wherefore art thou R3579X?, "
        "WWW 2007",
        group="empirical",
    )

    changes_graph: ClassVar[bool] = False
    renames_nodes: ClassVar[bool] = True

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        return self.build_release(graph, facts={"links_removed": 0.0, "links_added": 0.0})
