"""Parts of a release's measures, each computed in its own cell."""

from __future__ import annotations

from dataclasses import dataclass

from core.audit.asked.spec import AuditSpec
from core.methods import Cost


@dataclass(frozen=True)
class Part:
    """A group of measures of a release.

    after: the part whose embeddings it reuses on the same worker. is_usual: included by default.
    """

    cost: Cost
    needs_link_threat: bool = False
    after: str = ""
    is_usual: bool = True


PARTS = {
    "homophily": Part("instant"),
    "structure": Part("seconds"),
    "utility": Part("minutes"),
    "pairs": Part("minutes", needs_link_threat=True, after="utility"),
    "queries": Part("seconds", is_usual=False),
}
"""In the order of the results. Expensive parts come after the attacks, since exposure is shown
first."""


def list_parts(spec: AuditSpec) -> dict[str, Part]:
    """Parts of an audit; pair proximity needs withheld links."""
    named = spec.measures
    return {
        name: part
        for name, part in PARTS.items()
        if (part.is_usual if named is None else name in named)
        and (spec.threats.has_links or not part.needs_link_threat)
    }
