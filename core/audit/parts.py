"""The parts in which a release is measured, each a cell of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.audit.spec import AuditSpec


@dataclass(frozen=True)
class Part:
    """A group of measures of a release; `cost` as in `MethodInfo`.

    after: the part whose embeddings it uses, so that it follows on the same worker.
    """

    cost: Literal["instant", "seconds", "minutes"]
    needs_link_threat: bool = False
    after: str = ""


PARTS = {
    "homophily": Part("instant"),
    "structure": Part("seconds"),
    "utility": Part("minutes"),
    "pairs": Part("minutes", needs_link_threat=True, after="utility"),
}
"""In the order of the results. The dear ones come after the attacks: they say what a release is
good for, not who is exposed."""


def list_parts(spec: AuditSpec) -> dict[str, Part]:
    """The parts that an audit has; nearness of pairs needs withheld links."""
    return {
        name: part
        for name, part in PARTS.items()
        if spec.threats.has_links or not part.needs_link_threat
    }
