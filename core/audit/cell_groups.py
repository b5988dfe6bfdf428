"""The cells of an audit by what they compute."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Row

from core.audit.spec import AuditSpec
from core.audit.states import State
from core.release import ORIGINAL
from core.results import RELEASE

Groups = dict[tuple[str, str], list[Row[Any]]]
"""(release, method) → its cells, repeat by repeat."""


def format_part(part: str) -> str:
    """The key in `Groups` of a part of the measures of a release."""
    return f"{RELEASE}:{part}"


def list_releases(spec: AuditSpec) -> list[str]:
    """Ids of the releases of an audit: the original, then the defended ones."""
    return [ORIGINAL, *(choice.id for choice in spec.defenses)]


def list_done(groups: Groups, release: str, method: str) -> list[Row[Any]]:
    """The finished cells of a method on a release; '' is the one that made it."""
    return [cell for cell in groups.get((release, method), []) if cell.state is State.DONE]
