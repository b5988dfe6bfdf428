"""SQL statements shared by several transactions of the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from core.audit.computing.cell import Cell, CellKind
from core.audit.store.schema import AuditCellRow, AuditRow, Base, HolderRow, JobRow
from core.audit.store.states import State

CELL_KINDS = get_args(CellKind)
"""Kinds of jobs that are cells, shared by audits and deleted with the last one."""


def insert_missing(connection: Connection, table: type[Base], rows: list[dict[str, Any]]) -> None:
    """Insert rows with a new primary key."""
    insert: Any = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    if rows:
        connection.execute(insert(table).on_conflict_do_nothing(), rows)


def insert_plan(connection: Connection, audit_id: str, cells: Sequence[Cell]) -> None:
    """Insert new cells, and the audit's list of cells in plan order."""
    insert_missing(
        connection,
        JobRow,
        [
            {
                "key": c.key,
                "kind": c.kind,
                "release": c.release,
                "method": c.method,
                "repeat": c.repeat,
                "state": State.SKIPPED if c.skip else State.QUEUED,
                "reason": c.skip,
            }
            for c in cells
        ],
    )
    connection.execute(
        sa.insert(AuditCellRow),
        [
            {"audit_id": audit_id, "cell_key": cell.key, "position": position}
            for position, cell in enumerate(cells)
        ],
    )


def select_running(besides: str) -> Any:
    """Keys of cells needed by other running audits."""
    return (
        sa.select(AuditCellRow.cell_key)
        .join(AuditRow, AuditRow.id == AuditCellRow.audit_id)
        .where(AuditRow.state == State.RUNNING, AuditRow.id != besides)
    )


def uses_graph(graph_hash: str) -> sa.ColumnElement[bool]:
    """Condition on audits that need a graph: as their own, auxiliary, shadow or external one."""
    second = AuditRow.spec[("threats", "identity", "auxiliary_graph")].as_string()
    other = AuditRow.spec[("knowledge", "shadow_graph")].as_string()
    judged = AuditRow.spec["external_release"].as_string()
    held = AuditRow.spec["held_releases"].as_string()
    return sa.or_(
        held.contains(graph_hash, autoescape=True),
        *(column == graph_hash for column in (AuditRow.graph_hash, second, other, judged)),
    )


def list_graphs(graph_hash: str, spec: dict[str, Any]) -> list[str]:
    """Hashes of the graphs that an audit needs: its own, the attackers', and external releases."""
    second = (spec["threats"]["identity"] or {}).get("auxiliary_graph")
    held = (second, spec["knowledge"]["shadow_graph"], spec.get("external_release"))
    judged = spec.get("held_releases", ())
    return list(dict.fromkeys([graph_hash, *filter(None, held), *judged]))


def release_graph(connection: Connection, graph_hash: str, person: str) -> bool:
    """Drop a person's hold on a graph no audit of theirs needs; returns whether nobody needs it."""
    needing = sa.select(sa.func.count()).select_from(AuditRow).where(uses_graph(graph_hash))
    if connection.scalar(needing.where(AuditRow.person == person)) == 0:
        mine = (HolderRow.graph_hash == graph_hash) & (HolderRow.person == person)
        connection.execute(sa.delete(HolderRow).where(mine))
    holders = sa.select(sa.func.count()).where(HolderRow.graph_hash == graph_hash)
    return connection.scalar(needing) == 0 and connection.scalar(holders) == 0


def delete_orphans(connection: Connection) -> list[str]:
    """Delete cells without an audit; returns their keys."""
    orphan = JobRow.kind.in_(CELL_KINDS) & JobRow.key.not_in(sa.select(AuditCellRow.cell_key))
    keys = list(connection.scalars(sa.select(JobRow.key).where(orphan)))
    connection.execute(sa.delete(JobRow).where(orphan))
    return keys
