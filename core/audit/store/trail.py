"""Append-only audit trail: who did what to which object, and when.

The database refuses changes, replacements and deletions (core.audit.store.schema). Each row
contains a digest of itself and its predecessor, so that `doctor` detects manual changes; storing
the latest digest elsewhere also detects truncation.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from core.audit.store.accounts import Person
from core.audit.store.liveness import make_timestamp
from core.audit.store.retry import keep_trying
from core.audit.store.schema import TrailRow

if TYPE_CHECKING:
    from core.audit.store.database import Store

MAX_TARGET, MAX_DETAIL = 200, 500


@dataclass(frozen=True)
class TrailEntry:
    """person, name: identifier and display name; target: id of the audit, run or graph; detail:
    further text, such as the person shared with."""

    number: int
    made: str
    person: str
    name: str
    event: str
    target: str
    detail: str
    digest: str = ""

    def compute_digest(self, before: str) -> str:
        """SHA-256 of the previous digest and the row's contents."""
        fields = [before, *(value for name, value in asdict(self).items() if name != "digest")]
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


class Trail:
    """The trail of one store; thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def record(self, who: Person, event: str, target: str = "", detail: str = "") -> None:
        """Append a row durably."""
        target, detail = target[:MAX_TARGET], detail[:MAX_DETAIL]

        def insert() -> None:
            with self._store.write(is_durable=True) as connection:
                if connection.dialect.name == "postgresql":
                    connection.execute(sa.text("LOCK TABLE trail IN EXCLUSIVE MODE"))
                last = _list_entries(connection, 1)
                number, before = (last[0].number + 1, last[0].digest) if last else (1, "")
                entry = TrailEntry(
                    number, make_timestamp(), who.subject, who.name, event, target, detail
                )
                values = {**asdict(entry), "digest": entry.compute_digest(before)}
                connection.execute(sa.insert(TrailRow).values(values))

        keep_trying(insert, self._store.notify)

    def list_trail(self, limit: int | None = None, target: str = "") -> list[TrailEntry]:
        """The newest `limit` rows, newest first; optionally of one `target`."""
        with self._store.read() as connection:
            return _list_entries(connection, limit, target)


def find_break(store: Store) -> int | None:
    """Number of the first changed or missing row; None if the chain is intact."""
    before = ""
    for number, entry in enumerate(reversed(Trail(store).list_trail()), 1):
        if entry.number != number or entry.digest != entry.compute_digest(before):
            return number
        before = entry.digest
    return None


def _list_entries(
    connection: sa.Connection, limit: int | None = None, target: str = ""
) -> list[TrailEntry]:
    columns = [TrailRow.__table__.columns[name] for name in TrailEntry.__dataclass_fields__]
    query = sa.select(*columns).order_by(TrailRow.number.desc()).limit(limit)
    if target:
        query = query.where(TrailRow.target == target)
    return [TrailEntry(*row) for row in connection.execute(query)]
