"""A release made outside this program, attacked like one of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from core.context import Context
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.release import Guarantee, Release
from core.threats import Threats

EXTERNAL = "external"
"""Key of the defense, and id of its release."""

EXTERNAL_FIELDS: dict[str, Any] = {
    "defenses": [{"key": EXTERNAL}],
    "num_repeats": 1,
    "test_links": 0.0,
    "control": None,
    "adaptive": False,
    "hold_every_defense": False,
}
"""Fields of an AuditSpec fixed by an external release."""

NOT_TESTED = (
    "The guarantee of a release made elsewhere is not known: no claim of it was tested, and "
    "attackers who reckon with its ε did without",
    "Adaptive attackers were not tested: a defense that is not known cannot be rehearsed",
)
"""Limitations of an audit of a release made elsewhere."""


def list_not_tested(match: str) -> tuple[str, ...]:
    """`NOT_TESTED`, and how nodes were matched if their identity is unknown."""
    return (*NOT_TESTED, match) if match else NOT_TESTED


ONE_RELEASE = (
    "There is one release and so one repeat: intervals do not cover what another release or "
    "another split would change"
)


class External(Defense):
    """Returns the first of `threats.external`, the release given to the audit.

    Not in the list of defenses, since it needs a release.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key=EXTERNAL,
        title="Release made elsewhere",
        summary="Returns a release that was brought to the audit, as it is.",
        source="Whoever made the release",
        group="empirical",
    )

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        if not threats.external:
            return "needs a release made elsewhere; audit its file from the Overview page"
        if any(external.node_ids != graph.node_ids for external in threats.external):
            return "needs a release of the same nodes as the graph; choose another file"
        return None

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        context.progress.update(0, 1, "reading the release")
        return self._build(graph, threats.external[0])

    def publish_more(self, threats: Threats, count: int, context: Context) -> list[Release]:
        """Further releases that the adversary holds."""
        return [
            self._build(threats.visible, external) for external in threats.external[1 : count + 1]
        ]

    def _build(self, graph: Graph, external: Graph) -> Release:
        released = replace(
            graph,
            edges=external.edges,
            weights=external.weights,
            link_table=external.link_table,
            columns=external.columns.update(attributes={**graph.attributes, **external.attributes}),
        )
        return self.build_release(
            released, Guarantee(is_known=False, note=" ".join(f"{text}." for text in NOT_TESTED))
        )
