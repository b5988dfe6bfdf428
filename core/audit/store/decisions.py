"""Append-only history of decisions on releases: who, what, when, and on which evidence.

A later choice on the same audit supersedes an earlier one; the database refuses changes and
deletions. Decisions belong to the graph by its content hash and outlive their audit.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa

from core.audit.asked.release_info import ReleaseInfo, parse_release
from core.audit.store.accounts import LOCAL
from core.audit.store.schema import DecisionRow
from core.errors import InputError

if TYPE_CHECKING:
    from core.audit.store.database import Store

DecisionKind = Literal["chosen", "withdrawn", "published"]
KINDS: tuple[DecisionKind, ...] = ("chosen", "withdrawn", "published")
MAX_PERSON, MAX_REASON = 120, 2_000
HASH_LENGTH = 64


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One entry of the history.

    release    its id in the audit
    person     name as entered
    subject    identifier of the sign-in, set by `record_decision`
    evidence   policy with version, verdict on the release, and its limits as measured then
    file_hash  SHA-256 of the published file, for "published"
    """

    graph_hash: str
    audit_id: str
    kind: DecisionKind
    release: str
    person: str
    reason: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)
    file_hash: str = ""
    subject: str = LOCAL.subject
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    made: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="milliseconds"))

    @property
    def released(self) -> ReleaseInfo:
        """What the release is; shown by its id if this version does not know its defense."""
        return parse_release(self.release)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError("decision", "must be one of " + ", ".join(KINDS), self.kind)
        if not self.person.strip() or len(self.person) > MAX_PERSON:
            rule = f"must be 1 to {MAX_PERSON} characters"
            raise InputError("name of who decides", rule, self.person[:20], "say who decides")
        if len(self.reason) > MAX_REASON:
            rule = f"must be {MAX_REASON:,} characters at most"
            raise InputError("reason of a decision", rule, len(self.reason))
        if (self.kind == "published") != (len(self.file_hash) == HASH_LENGTH):
            raise InputError(
                "hash of the published file", "must be a SHA-256, of published files", self.kind
            )


def record_decision(store: Store, decision: Decision) -> None:
    """Append a decision durably."""
    with store.write(is_durable=True) as connection:
        connection.execute(sa.insert(DecisionRow).values(asdict(decision)))


def list_decisions(store: Store, graph_hash: str) -> tuple[Decision, ...]:
    """All decisions on releases of a graph, oldest first."""
    table = DecisionRow.__table__
    query = (
        sa.select(*(table.columns[f.name] for f in fields(Decision)))
        .where(DecisionRow.graph_hash == graph_hash)
        .order_by(DecisionRow.made, DecisionRow.id)
    )
    with store.read() as connection:
        return tuple(Decision(**row._mapping) for row in connection.execute(query))


def find_current(decisions: Sequence[Decision], audit_id: str) -> Decision | None:
    """The current choice of an audit: the last one unless withdrawn."""
    last = [d for d in decisions if d.audit_id == audit_id and d.kind != "published"][-1:]
    return last[0] if last and last[0].kind == "chosen" else None


def find_superseded(decisions: Sequence[Decision]) -> set[str]:
    """Ids of choices superseded by a later choice or withdrawal on the same audit."""
    latest = {d.audit_id: d.id for d in decisions if d.kind != "published"}
    return {d.id for d in decisions if d.kind == "chosen" and latest[d.audit_id] != d.id}
