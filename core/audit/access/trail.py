"""The audit trail: who did what, to what, when. Rows are only ever added.

The database refuses to change or delete them (triggers of migration 0005), so that no fault of
the program rewrites what was done. Whoever owns the database itself can still do so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from core.audit.access.accounts import Person
from core.audit.store.liveness import make_timestamp
from core.audit.store.retry import keep_trying
from core.audit.store.schema import TrailRow

if TYPE_CHECKING:
    from core.audit.store.database import Store


@dataclass(frozen=True)
class TrailEntry:
    """person, name: who, as their sign-in calls them; target: id of the audit, run or graph."""

    number: int
    made: str
    person: str
    name: str
    event: str
    target: str
    detail: str


def record_event(store: Store, who: Person, event: str, target: str = "", detail: str = "") -> None:
    """Add a row; it is on the disk then."""
    values = {
        "made": make_timestamp(),
        "person": who.subject,
        "name": who.name,
        "event": event,
        "target": target[:200],
        "detail": detail[:500],
    }

    def insert() -> None:
        with store.write(is_durable=True) as connection:
            connection.execute(sa.insert(TrailRow).values(values))

    keep_trying(insert, store.tell)


def list_trail(store: Store, limit: int | None = None, target: str = "") -> list[TrailEntry]:
    """The newest `limit` rows, newest first; of one object where `target` names it."""
    columns = [TrailRow.__table__.columns[name] for name in TrailEntry.__dataclass_fields__]
    query = sa.select(*columns).order_by(TrailRow.number.desc()).limit(limit)
    if target:
        query = query.where(TrailRow.target == target)
    with store.read() as connection:
        return [TrailEntry(*row) for row in connection.execute(query)]
