"""The store: graphs, audits and cells in a database, arrays in files.

SQLite (WAL) in AUDIT_HOME by default, PostgreSQL by AUDIT_DATABASE. Several processes write
concurrently: the app, its workers, the command line.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from core.audit.asked.spec import AuditSpec
from core.audit.computing.cell import Cell
from core.audit.store import files
from core.audit.store.accounts import LOCAL
from core.audit.store.connect import open_engine
from core.audit.store.liveness import DatabaseTime, describe_owner, find_state, make_timestamp
from core.audit.store.retry import Notify, keep_trying
from core.audit.store.schema import AuditCellRow, AuditRow, GrantRow, GraphRow, HolderRow, JobRow
from core.audit.store.statements import (
    delete_orphans,
    insert_missing,
    insert_plan,
    list_graphs,
    release_graph,
    select_running,
)
from core.audit.store.states import ACTIVE, FINAL, KEPT, State
from core.errors import AuditError, InputError
from core.graph import Graph
from core.home import DATABASE, find_home, open_private

log = logging.getLogger(__name__)

Method = TypeVar("Method", bound=Callable[..., Any])


class LeaseLostError(AuditError):
    """Another process took over the audit; this one may no longer write to it."""


@dataclass(frozen=True)
class Lease:
    """Right to coordinate an audit until another process holds a higher number."""

    audit_id: str
    number: int


def _retried(method: Method) -> Method:
    """Retry a transaction while the database or the disk is unavailable."""

    @wraps(method)
    def call(store: Store, *args: Any, **kwargs: Any) -> Any:
        return keep_trying(lambda: method(store, *args, **kwargs), store.notify)

    return cast(Method, call)


class Store:
    """An open database and its folder; safe for several threads and processes.

    notify  called with one line while waiting for database or disk
    """

    def __init__(self, home: str | Path | None = None, url: str | None = None) -> None:
        self.home = find_home(home)
        default = f"sqlite:///{self.home / DATABASE}"
        self.notify: Notify = log.warning
        self.url = url or os.environ.get("AUDIT_DATABASE") or default
        for name in files.FOLDERS:  # private, whatever the mode of a home that was there already
            (self.home / name).mkdir(mode=0o700, exist_ok=True)
        if self.url == default and not (self.home / DATABASE).exists():
            open_private(self.home / DATABASE, "ab").close()
        self._engine = open_engine(self.url)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    # -- graphs -----------------------------------------------------------------------------

    @_retried
    def save_graph(self, graph: Graph, person: str | None = LOCAL.subject) -> str:
        """Store the graph under its content hash, which is returned; `person` becomes a holder."""
        graph_hash = files.save_graph(self.home, graph)
        row = {
            "hash": graph_hash,
            "name": graph.name,
            "num_nodes": graph.num_nodes,
            "num_edges": graph.num_edges,
            "created": make_timestamp(),
        }
        with self.write() as connection:
            insert_missing(connection, GraphRow, [row])
            holders = [] if person is None else [{"graph_hash": graph_hash, "person": person}]
            insert_missing(connection, HolderRow, holders)
        return graph_hash

    def load_graph(self, graph_hash: str) -> Graph:
        """The graph of this content hash; raises InputError if it is not stored."""
        return files.load_graph(self.home, graph_hash)

    @_retried
    def save_choice(self, graph_hash: str, choice: dict[str, Any], person: str) -> None:
        """Keep what a holder chose for a graph; others have nothing kept."""
        mine = (HolderRow.graph_hash == graph_hash) & (HolderRow.person == person)
        with self.write() as connection:
            connection.execute(sa.update(HolderRow).where(mine).values(choice=choice))

    @_retried
    def find_choice(self, graph_hash: str, person: str) -> dict[str, Any] | None:
        """What a holder chose for a graph, None if nothing was kept."""
        mine = (HolderRow.graph_hash == graph_hash) & (HolderRow.person == person)
        with self.read() as connection:
            choice: dict[str, Any] | None = connection.scalar(
                sa.select(HolderRow.choice).where(mine)
            )
        return choice

    # -- audits -----------------------------------------------------------------------------

    @_retried
    def add_audit(
        self,
        audit_id: str,
        name: str,
        spec: AuditSpec,
        cells: Sequence[Cell],
        provenance: dict[str, Any],
        person: str = LOCAL.subject,
    ) -> None:
        """Record an audit of `person` and its plan; existing cells keep their state."""
        with self.write(is_durable=True) as connection:
            connection.execute(
                sa.insert(AuditRow).values(
                    id=audit_id,
                    name=name,
                    spec=spec.model_dump(mode="json"),
                    graph_hash=spec.graph_hash,
                    state=State.QUEUED,
                    created=make_timestamp(),
                    seconds=0.0,
                    owner=describe_owner(),
                    heartbeat=DatabaseTime(),
                    note="",
                    provenance=provenance,
                    person=person,
                )
            )
            insert_plan(connection, audit_id, cells)

    def find_audit(self, audit_id: str) -> Row[Any]:
        """The audit's row with its graph's size; raises InputError for an unknown id."""
        rows = self._list_audits(AuditRow.id == audit_id)
        if not rows:
            raise InputError(
                "audit", "must be a known id", audit_id, "choose one of the stored audits"
            )
        return rows[0]

    def list_audits(self) -> list[Row[Any]]:
        """All audits, newest first."""
        return self._list_audits(sa.true())

    def _list_audits(self, condition: Any) -> list[Row[Any]]:
        now = DatabaseTime().label("now")
        columns = [*AuditRow.__table__.columns, GraphRow.num_nodes, GraphRow.num_edges, now]
        query = (
            sa.select(*columns)
            .join(GraphRow, GraphRow.hash == AuditRow.graph_hash)
            .where(condition)
            .order_by(AuditRow.created.desc(), AuditRow.id)
        )
        return self._fetch(query)

    def find_same_audit(self, spec: AuditSpec, person: str = LOCAL.subject) -> str | None:
        """Id of the newest audit of this person with exactly this spec."""
        same = (AuditRow.graph_hash == spec.graph_hash) & (AuditRow.person == person)
        rows = self._list_audits(same)
        return next((row.id for row in rows if _read_spec(row.spec) == spec), None)

    def find_identity_audit(self, graph_hash: str) -> str | None:
        """Id of the newest audit of a graph that looks for people behind pseudonyms."""
        for row in self._list_audits(AuditRow.graph_hash == graph_hash):
            spec = _read_spec(row.spec)
            if spec is not None and spec.threats.identity is not None:
                return str(row.id)
        return None

    @_retried
    def update_audit(self, audit_id: str, **values: Any) -> None:
        """Set columns of an audit's row."""
        with self.write(is_durable="state" in values) as connection:
            connection.execute(sa.update(AuditRow).where(AuditRow.id == audit_id).values(values))

    @_retried
    def move_audit(self, audit_id: str, person: str) -> None:
        """Transfer an audit to another person, who becomes a holder of its graphs."""
        row = self.find_audit(audit_id)
        graphs = list_graphs(row.graph_hash, row.spec)
        with self.write(is_durable=True) as connection:
            move = sa.update(AuditRow).where(AuditRow.id == audit_id).values(person=person)
            connection.execute(move)
            for graph_hash in graphs:
                holder = {"graph_hash": graph_hash, "person": person}
                insert_missing(connection, HolderRow, [holder])
                release_graph(connection, graph_hash, row.person)

    @_retried
    def claim_audit(self, audit_id: str) -> Lease | None:
        """Become the coordinator; None if another living process computes this audit."""
        me, this = describe_owner(), AuditRow.id == audit_id
        columns = (AuditRow.owner, AuditRow.heartbeat, AuditRow.state, AuditRow.lease)
        query = sa.select(*columns, DatabaseTime().label("now")).where(this).with_for_update()
        with self.write(is_durable=True) as connection:
            row = connection.execute(query).one()
            if row.owner != me and find_state(row) is State.RUNNING:
                return None
            lease = Lease(audit_id, row.lease + 1)
            values = {
                "lease": lease.number,
                "owner": me,
                "heartbeat": DatabaseTime(),
                "state": State.RUNNING,
                "note": "",
            }
            connection.execute(sa.update(AuditRow).where(this).values(values))
        return lease

    @contextmanager
    def write_by(self, lease: Lease) -> Iterator[Connection]:
        """Transaction of a coordinator; raises LeaseLostError if its lease was taken over."""
        held = sa.select(AuditRow.id).where(
            AuditRow.id == lease.audit_id, AuditRow.lease == lease.number
        )
        with self.write(is_durable=True) as connection:
            if connection.execute(held.with_for_update()).first() is None:
                raise LeaseLostError(f"another process has taken over the audit {lease.audit_id}")
            yield connection

    def beat(self, lease: Lease, seconds: float) -> None:
        """Write a heartbeat, without retries."""
        with self.write_by(lease) as connection:
            values = {"heartbeat": DatabaseTime(), "seconds": seconds}
            connection.execute(
                sa.update(AuditRow).where(AuditRow.id == lease.audit_id).values(values)
            )

    @_retried
    def end_audit(self, lease: Lease, state: State, note: str, seconds: float) -> None:
        """Set the audit's final state and, unless done, that of its unfinished cells which no
        other running audit needs."""
        values = {"state": state, "note": note, "seconds": seconds, "owner": ""}
        settled = State.CANCELLED if state is State.CANCELLED else State.INTERRUPTED
        mine = sa.select(AuditCellRow.cell_key).where(AuditCellRow.audit_id == lease.audit_id)
        unfinished = sa.and_(
            JobRow.key.in_(mine),
            JobRow.key.not_in(select_running(lease.audit_id)),
            JobRow.state.in_(ACTIVE),
        )
        with self.write_by(lease) as connection:
            if state is not State.DONE:
                ended = sa.update(JobRow).where(unfinished).values(state=settled, reason=note)
                connection.execute(ended)
            row = sa.update(AuditRow).where(AuditRow.id == lease.audit_id)
            connection.execute(row.values(values))

    @_retried
    def fail_cells(self, lease: Lease, keys: Sequence[str], reason: str) -> None:
        """Mark unfinished cells as failed."""
        lost = JobRow.key.in_(keys) & JobRow.state.not_in(FINAL)
        with self.write_by(lease) as connection:
            values = {"state": State.FAILED, "reason": reason[:300]}
            connection.execute(sa.update(JobRow).where(lost).values(values))

    @_retried
    def drop_cells(self, lease: Lease, keys: Sequence[str]) -> None:
        """Remove cells from the audit's plan."""
        dropped = AuditCellRow.cell_key.in_(keys) & (AuditCellRow.audit_id == lease.audit_id)
        with self.write_by(lease) as connection:
            connection.execute(sa.delete(AuditCellRow).where(dropped))
            orphans = delete_orphans(connection)
        self._delete_files(orphans)

    @_retried
    def replace_plan(self, lease: Lease, cells: Sequence[Cell]) -> None:
        """Replace the audit's plan; unfinished and failed cells are queued again.

        The plan differs from the recorded one only after an update that renewed results.
        """
        audit_id = lease.audit_id
        with self.write_by(lease) as connection:
            connection.execute(sa.delete(AuditCellRow).where(AuditCellRow.audit_id == audit_id))
            insert_plan(connection, audit_id, cells)
            due = sa.select(AuditCellRow.cell_key).where(AuditCellRow.audit_id == audit_id)
            connection.execute(
                sa.update(JobRow)
                .where(
                    JobRow.key.in_(due),
                    JobRow.state.not_in(KEPT),
                    JobRow.key.not_in(select_running(audit_id)),
                )
                .values(state=State.QUEUED, reason="", progress=0.0)
            )
            orphans = delete_orphans(connection)
        self._delete_files(orphans)

    @_retried
    def delete_audit(self, audit_id: str) -> list[str]:
        """Delete an audit and everything only it needs: cells, jobs, files, graphs.

        Returns the hashes of deleted graphs: its own, and auxiliary ones, unless others hold or
        need them.
        """
        audit = self.find_audit(audit_id)
        graphs = list_graphs(audit.graph_hash, audit.spec)
        with self.write() as connection:
            own = list(connection.scalars(sa.select(JobRow.key).where(JobRow.audit_id == audit_id)))
            for table in (AuditCellRow, JobRow, GrantRow):
                connection.execute(sa.delete(table).where(table.audit_id == audit_id))
            connection.execute(sa.delete(AuditRow).where(AuditRow.id == audit_id))
            orphans = own + delete_orphans(connection)
            unneeded = [h for h in graphs if release_graph(connection, h, audit.person)]
            connection.execute(sa.delete(GraphRow).where(GraphRow.hash.in_(unneeded)))
        self._delete_files(orphans)
        for graph_hash in unneeded:
            files.delete_graph(self.home, graph_hash)
        files.clear_flag(self.home, audit_id)
        files.delete_shared(self.home, audit_id)
        return unneeded

    def _delete_files(self, keys: Sequence[str]) -> None:
        for key in keys:
            files.delete_cell(self.home, key)
            files.clear_flag(self.home, key)

    # -- cells ------------------------------------------------------------------------------

    def list_cells(self, audit_id: str, *columns: str) -> list[Row[Any]]:
        """Cells of the audit in plan order, with the named columns (default all)."""
        return self._fetch(_select_cells(audit_id, *columns))

    def list_running(self, audit_id: str) -> list[Row[Any]]:
        """Running cells of the audit, with their curves so far."""
        return self._fetch(_select_cells(audit_id).where(JobRow.state == State.RUNNING))

    def count_cells(self, audit_id: str | None = None) -> dict[str, dict[str, int]]:
        """Audit id → state → number of cells; of one audit or of all."""
        query = (
            sa.select(AuditCellRow.audit_id, JobRow.state, sa.func.count())
            .join(JobRow, JobRow.key == AuditCellRow.cell_key)
            .where(sa.true() if audit_id is None else AuditCellRow.audit_id == audit_id)
            .group_by(AuditCellRow.audit_id, JobRow.state)
        )
        counts: dict[str, dict[str, int]] = {}
        for found, state, number in self._fetch(query):
            counts.setdefault(found, {})[state] = number
        return counts

    # -- jobs -------------------------------------------------------------------------------

    @_retried
    def add_job(self, key: str, kind: str, **values: Any) -> None:
        """Insert a new row, replacing a finished one."""
        row = {"key": key, "kind": kind, "state": State.QUEUED, "created": make_timestamp()}
        with self.write() as connection:
            connection.execute(sa.delete(JobRow).where(JobRow.key == key))
            connection.execute(
                sa.insert(JobRow).values(
                    **row, owner=describe_owner(), heartbeat=DatabaseTime(), **values
                )
            )
        files.clear_flag(self.home, key)

    def find_job(self, key: str) -> Row[Any] | None:
        """Row of a cell or another job."""
        rows = self.list_jobs(JobRow.key == key)
        return rows[0] if rows else None

    def list_jobs(self, *conditions: Any) -> list[Row[Any]]:
        """Rows that meet all conditions on the columns of `JobRow`, oldest first."""
        table = JobRow.__table__
        query = sa.select(table, DatabaseTime().label("now")).where(*conditions)
        query = query.order_by(JobRow.created, JobRow.key)
        return self._fetch(query)

    @_retried
    def update_job(self, key: str, **values: Any) -> None:
        """Set columns of a row in any state."""
        with self.write() as connection:
            connection.execute(sa.update(JobRow).where(JobRow.key == key).values(values))

    @_retried
    def update_open_job(self, key: str, **values: Any) -> bool:
        """Update a job that is not final; the first ending counts. False if it was final."""
        is_open = (JobRow.key == key) & JobRow.state.not_in(FINAL)
        with self.write(is_durable=True) as connection:
            result = connection.execute(sa.update(JobRow).where(is_open).values(values))
            return result.rowcount == 1

    @_retried
    def delete_jobs(self, keys: Sequence[str]) -> None:
        """Delete jobs other than cells, and their files."""
        with self.write() as connection:
            connection.execute(sa.delete(JobRow).where(JobRow.key.in_(keys)))
        self._delete_files(keys)

    # -- damage -----------------------------------------------------------------------------

    def requeue_damaged_cells(self, audit_id: str) -> int:
        """Set aside damaged or missing finished cells of an audit and queue them again; returns
        their number.

        A cell's result is determined by its key, so that results computed from it stay valid.
        """
        done = [
            row.key for row in self.list_cells(audit_id, "key", "state") if row.state is State.DONE
        ]
        damaged = [key for key in done if not files.is_whole(self.home, key)]
        for key in damaged:
            files.quarantine(self.home, key)
            self.update_job(
                key, state=State.QUEUED, progress=0.0, note="stored arrays were damaged"
            )
        return len(damaged)

    @_retried
    def _fetch(self, query: Any) -> list[Any]:
        with self.read() as connection:
            return list(connection.execute(query))

    # -- connections ------------------------------------------------------------------------

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A read-only transaction."""
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, is_durable: bool = False) -> Iterator[Connection]:
        """A transaction that is committed on success.

        is_durable  written to disk before returning, to survive a power cut
        """
        with self._engine.connect() as connection:
            connection = connection.execution_options(is_writing=True, is_durable=is_durable)
            with connection.begin():
                yield connection


def _read_spec(stored: object) -> AuditSpec | None:
    """A stored spec, in which options that it lacks have their defaults; None if it has others."""
    try:
        return AuditSpec.model_validate(stored)
    except ValueError:
        return None


def _select_cells(audit_id: str, *columns: str) -> sa.Select[Any]:
    """Cells of an audit in plan order, with the named columns (default all)."""
    table = JobRow.__table__
    return (
        sa.select(*([table.c[name] for name in columns] or table.columns))
        .join(AuditCellRow, AuditCellRow.cell_key == table.c.key)
        .where(AuditCellRow.audit_id == audit_id)
        .order_by(AuditCellRow.position)
    )


@lru_cache(maxsize=8)
def open_store(home: str, url: str) -> Store:
    """The store of this process, opened once per worker."""
    return Store(home, url)
