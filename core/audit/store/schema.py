"""Tables of the store. After the first release, changes need a migration: see migrations."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Enum,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    event,
)
from sqlalchemy.engine import Connection
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from core.audit.store.states import State


class Base(DeclarativeBase):
    """Common base of the tables."""

    pass


STATE = Enum(State, native_enum=False, length=16, values_callable=list)
"""A `State` stored as its text."""


class GraphRow(Base):
    """A stored graph; its arrays are in AUDIT_HOME/graphs."""

    __tablename__ = "graphs"
    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    num_nodes: Mapped[int] = mapped_column(Integer)
    num_edges: Mapped[int] = mapped_column(Integer)
    created: Mapped[str] = mapped_column(String(32))


class HolderRow(Base):
    """A person who loaded a graph; there may be several.

    choice  what the person chose on the Data page, as JSON; NULL if nothing was kept
    """

    __tablename__ = "graph_holders"
    graph_hash: Mapped[str] = mapped_column(ForeignKey("graphs.hash"), primary_key=True)
    person: Mapped[str] = mapped_column(String(400), primary_key=True)
    choice: Mapped[dict[str, Any] | None] = mapped_column(JSON)


class AuditRow(Base):
    """An audit, its owner, and the process that computes it.

    person     subject of the owner (core.audit.store.accounts)
    lease      increases with each takeover; only its holder may write
    owner      host, process id and start time of the coordinating process, as JSON text
    heartbeat  of the coordinating process, seconds since 1970 by the database's clock
    """

    __tablename__ = "audits"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    spec: Mapped[dict[str, Any]] = mapped_column(JSON)
    graph_hash: Mapped[str] = mapped_column(ForeignKey("graphs.hash"), index=True)
    state: Mapped[State] = mapped_column(STATE)
    created: Mapped[str] = mapped_column(String(32))
    seconds: Mapped[float] = mapped_column(Float, default=0.0)
    lease: Mapped[int] = mapped_column(Integer, default=0)
    owner: Mapped[str] = mapped_column(Text, default="")
    heartbeat: Mapped[float] = mapped_column(Float, default=0.0)
    note: Mapped[str] = mapped_column(Text, default="")
    provenance: Mapped[dict[str, Any]] = mapped_column(JSON)
    person: Mapped[str] = mapped_column(Text, default="local")


class JobRow(Base):
    """A cell of audits, or a job of another kind.

    key      for a cell the hash of all that determines its result, shared by audits through
    `AuditCellRow`; for another job its own
    kind     "publish", "attack" or "measure" for a cell; else the name of a kind of job
    release, method, repeat  part of the audit; "" and 0 if not applicable
    audit_id audit that the job belongs to; empty for cells, which audits share
    request  JSON of the request model; empty for cells
    owner, heartbeat  process that watches the job, as in `AuditRow`; empty for cells
    seconds, cpu_seconds  elapsed and processor time of the latest attempt
    result   JSON; arrays are in AUDIT_HOME/cells
    curves   training curves, name → [[step, value], …], written while a cell runs
    finished time of its end
    person   for a publishing run: who prepared it; signed_by: who signed it, "" if nobody
    """

    __tablename__ = "jobs"
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    release: Mapped[str] = mapped_column(Text, default="")
    method: Mapped[str] = mapped_column(Text, default="")
    repeat: Mapped[int] = mapped_column(Integer, default=0)
    state: Mapped[State] = mapped_column(STATE)
    progress: Mapped[float] = mapped_column(Float, default=0.0)
    message: Mapped[str] = mapped_column(Text, default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    note: Mapped[str] = mapped_column(Text, default="")
    device: Mapped[str] = mapped_column(Text, default="")
    seconds: Mapped[float] = mapped_column(Float, default=0.0)
    cpu_seconds: Mapped[float] = mapped_column(Float, default=0.0)
    audit_id: Mapped[str | None] = mapped_column(ForeignKey("audits.id"), index=True)
    request: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    created: Mapped[str] = mapped_column(String(32), default="")
    finished: Mapped[str] = mapped_column(String(32), default="")
    owner: Mapped[str] = mapped_column(Text, default="")
    heartbeat: Mapped[float] = mapped_column(Float, default=0.0)
    result: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    curves: Mapped[dict[str, list[list[float]]] | None] = mapped_column(JSON)
    person: Mapped[str] = mapped_column(Text, default="local")
    signed_by: Mapped[str] = mapped_column(Text, default="")


class AuditCellRow(Base):
    """Cells of an audit in plan order."""

    __tablename__ = "audit_cells"
    audit_id: Mapped[str] = mapped_column(ForeignKey("audits.id"), primary_key=True)
    cell_key: Mapped[str] = mapped_column(ForeignKey("jobs.key"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer)
    __table_args__ = (Index("ix_audit_cells_cell_key", "cell_key"),)


class LedgerRow(Base):
    """A publishing run, entered before its file is handed out; see core.audit.store.ledger.

    identity    of the published graph's original (`Graph.identity_hash`)
    epsilon     as received; NULL without a guarantee
    person, signed_by  as in `JobRow`
    audit_id    as in `core.privacy.ledger.Entry`; its audit and its job may be deleted
    """

    __tablename__ = "ledger"
    run: Mapped[str] = mapped_column(String(64), primary_key=True)
    identity: Mapped[str] = mapped_column(String(64), index=True)
    made: Mapped[str] = mapped_column(String(32))
    release: Mapped[str] = mapped_column(Text)
    unit: Mapped[str] = mapped_column(String(16))
    relation: Mapped[str] = mapped_column(Text)
    epsilon: Mapped[float | None] = mapped_column(Float)
    delta: Mapped[float] = mapped_column(Float)
    person: Mapped[str] = mapped_column(Text, default="local")
    signed_by: Mapped[str] = mapped_column(Text, default="")
    audit_id: Mapped[str] = mapped_column(String(32), default="")


class LineageRow(Base):
    """Graphs of the ledger with the same data, whose runs count together.

    identity  of a published graph; it need not be stored
    sketch    similarity sketch (core.data.lineage)
    person, reason  manual assignment and its reason; "" if assigned by similarity
    """

    __tablename__ = "lineages"
    identity: Mapped[str] = mapped_column(String(64), primary_key=True)
    lineage: Mapped[str] = mapped_column(String(64), index=True)
    made: Mapped[str] = mapped_column(String(32))
    sketch: Mapped[dict[str, Any]] = mapped_column(JSON)
    person: Mapped[str] = mapped_column(Text, default="")
    reason: Mapped[str] = mapped_column(Text, default="")


class PersonRow(Base):
    """A person who signed in, with the latest claims of the provider."""

    __tablename__ = "people"
    subject: Mapped[str] = mapped_column(String(400), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    email: Mapped[str] = mapped_column(Text)
    groups: Mapped[list[str]] = mapped_column(JSON)
    seen: Mapped[str] = mapped_column(String(32))


class GrantRow(Base):
    """Read access to another person's audit."""

    __tablename__ = "grants"
    audit_id: Mapped[str] = mapped_column(ForeignKey("audits.id"), primary_key=True)
    person: Mapped[str] = mapped_column(String(400), primary_key=True)
    given_by: Mapped[str] = mapped_column(Text)
    made: Mapped[str] = mapped_column(String(32))


class TokenRow(Base):
    """A token by its hash; see core.audit.store.team."""

    __tablename__ = "tokens"
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    id: Mapped[str] = mapped_column(String(16))
    person: Mapped[str] = mapped_column(Text)
    label: Mapped[str] = mapped_column(Text)
    made: Mapped[str] = mapped_column(String(32))
    expires: Mapped[str] = mapped_column(String(32))
    used: Mapped[str] = mapped_column(String(32))
    is_revoked: Mapped[bool] = mapped_column(Boolean)


class TrailRow(Base):
    """An entry of the audit trail; see core.audit.store.trail.

    number  from 1, without gaps
    digest  of this row and the previous digest
    """

    __tablename__ = "trail"
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    made: Mapped[str] = mapped_column(String(32))
    person: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    event: Mapped[str] = mapped_column(Text)
    target: Mapped[str] = mapped_column(Text)
    detail: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(String(64))


class DecisionRow(Base):
    """A decision on a release; see core.audit.store.decisions. Append-only, and kept when its
    audit is deleted.

    kind       "chosen", "withdrawn" or "published"
    person     name as entered
    subject    identifier of the sign-in (`JobRow.person`)
    evidence   the verdict at that time, as JSON
    file_hash  SHA-256 of the published file, for kind "published"
    """

    __tablename__ = "decisions"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    graph_hash: Mapped[str] = mapped_column(String(64), index=True)
    audit_id: Mapped[str] = mapped_column(String(32))
    made: Mapped[str] = mapped_column(String(32))
    person: Mapped[str] = mapped_column(Text)
    subject: Mapped[str] = mapped_column(Text, default="local")
    kind: Mapped[str] = mapped_column(String(16))
    release: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text)
    evidence: Mapped[dict[str, Any]] = mapped_column(JSON)
    file_hash: Mapped[str] = mapped_column(String(64))


def refuse_changes(table: Table, connection: Connection, **_: object) -> None:
    """Make the database itself keep rows of a table unchanged.

    Only a run of the ledger may still be signed. SQLite's REPLACE deletes without firing a trigger
    on DELETE, so existing keys must not be inserted again either.
    """
    name, key = table.name, table.primary_key.columns.keys()[0]
    fixed = ", ".join(column for column in list(table.columns.keys()) if column != "signed_by")
    if connection.dialect.name == "postgresql":
        statements = [
            f"CREATE FUNCTION keep_{name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$BEGIN RAISE EXCEPTION '{name} is append-only'; END$$",
            f"CREATE TRIGGER keep_{name} BEFORE UPDATE OF {fixed} OR DELETE OR TRUNCATE "
            f"ON {name} FOR EACH STATEMENT EXECUTE FUNCTION keep_{name}()",
        ]
    else:
        statements = [
            f"CREATE TRIGGER keep_{name}_{number} BEFORE {change} "
            f"BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END"
            for number, change in enumerate(
                (
                    f"UPDATE OF {fixed} ON {name}",
                    f"DELETE ON {name}",
                    f"INSERT ON {name} WHEN EXISTS (SELECT 1 FROM {name} WHERE {key} = NEW.{key})",
                )
            )
        ]
    for statement in statements:
        connection.exec_driver_sql(statement)


def allow_changes(table: Table, connection: Connection) -> None:
    """Undo `refuse_changes`, for a migration of the table."""
    name = table.name
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"DROP TRIGGER keep_{name} ON {name}")
        connection.exec_driver_sql(f"DROP FUNCTION keep_{name}()")
    else:
        for number in range(3):
            connection.exec_driver_sql(f"DROP TRIGGER keep_{name}_{number}")


for _row in (TrailRow, DecisionRow, LedgerRow):
    event.listen(_row.__table__, "after_create", refuse_changes)
