"""The parts in which a release is measured, each a cell of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.audit.spec import AuditSpec


@dataclass(frozen=True)
class Part:
    """A group of measures of a release; `cost` as in `MethodInfo`.

    after: the part whose embeddings it uses, so that it follows on the same worker.
    is_usual: whether audits have it that do not name what they measure.
    """

    cost: Literal["instant", "seconds", "minutes"]
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
"""In the order of the results. The dear ones come after the attacks: they say what a release is
good for, not who is exposed."""


def list_parts(spec: AuditSpec) -> dict[str, Part]:
    """The parts that an audit has; nearness of pairs needs withheld links."""
    named = spec.measures
    return {
        name: part
        for name, part in PARTS.items()
        if (part.is_usual if named is None else name in named)
        and (spec.threats.has_links or not part.needs_link_threat)
    }
