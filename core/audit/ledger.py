"""The ledger of a graph, kept in the store: every publishing run, entered before it is handed out.

Keyed by the graph's content hash, so that the app and the command line share it. Entries are
never deleted with an audit: what has left the house stays spent.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from core.audit.access.accounts import LOCAL
from core.audit.store.schema import LedgerRow
from core.errors import InputError
from core.privacy.ledger import Entry, Total, check_budget, compute_totals
from core.release import Release
from core.seeding import Seed

if TYPE_CHECKING:
    from core.audit.store.database import Store

COLUMNS = ("run", "made", "release", "unit", "relation", "epsilon", "delta")


def new_run_id() -> str:
    """A random id of a publishing run."""
    return f"{Seed.from_entropy().root:032x}"[:16]


def list_entries(store: Store, graph_hash: str) -> tuple[Entry, ...]:
    """All publishing runs of a graph, oldest first."""
    with store.read() as connection:
        return _select(connection, graph_hash)


def enter_release(
    store: Store,
    graph_hash: str,
    run: str,
    made: str,
    release: Release,
    budget: float | None,
    person: str = LOCAL.subject,
    signed_by: str = LOCAL.subject,
) -> tuple[Total, ...]:
    """Enter a publishing run and return what all runs of the graph spend with it.

    Entering the same run again changes nothing. Raises InputError where the sum of its unit
    would exceed `budget`; the run is not entered then, and must not be handed out. Of two runs
    at the same time the second sees the first.
    person, signed_by  who prepared it, and who let it be handed out ("": nobody yet)
    """
    new = Entry.of(run, made, _name(release), release.guarantee)
    with store.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("LOCK TABLE ledger IN EXCLUSIVE MODE"))
        known = _select(connection, graph_hash)
        if any(entry.run == run for entry in known):
            return compute_totals(known)
        if budget is not None:
            check_budget(known, new, budget)
        row = {**asdict(new), "graph_hash": graph_hash, "person": person, "signed_by": signed_by}
        connection.execute(sa.insert(LedgerRow).values(row))
    return compute_totals([*known, new])


def describe_ledger(entries: tuple[Entry, ...]) -> dict[str, Any]:
    """Entries and totals as JSON, for `core ledger --json`."""
    return {
        "entries": [asdict(entry) for entry in entries],
        "totals": describe_totals(compute_totals(entries)),
    }


def describe_totals(totals: tuple[Total, ...]) -> list[dict[str, Any]]:
    """Totals as JSON, for provenance."""
    return [asdict(total) for total in totals]


def _select(connection: sa.Connection, graph_hash: str) -> tuple[Entry, ...]:
    columns = [LedgerRow.__table__.columns[name] for name in COLUMNS]
    query = (
        sa.select(*columns)
        .where(LedgerRow.graph_hash == graph_hash)
        .order_by(LedgerRow.made, LedgerRow.run)
    )
    return tuple(Entry(*row) for row in connection.execute(query))


def _name(release: Release) -> str:
    """Its id as specs write it: the defense and the settings that differ."""
    from core.audit.spec import MethodChoice

    try:
        return MethodChoice.model_validate({"key": release.defense, "config": release.config}).id
    except (InputError, ValueError):
        return release.defense
