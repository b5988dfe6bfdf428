"""What was asked and what is known: graphs, audits and cells in a database, arrays beside it.

SQLite (WAL) in AUDIT_HOME by default, PostgreSQL by AUDIT_DATABASE. Several processes write at
the same time: the app, its workers, the command line.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import psutil
import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine, Row

from core.audit.plan import Cell
from core.audit.spec import AuditSpec
from core.audit.store import files
from core.audit.store.schema import AuditCellRow, AuditRow, Base, CellRow, ClaimRow, GraphRow
from core.errors import InputError
from core.graph import Graph
from core.home import find_home

HEAD = "0002"
"""Latest migration."""

FINAL = ("done", "skipped", "failed", "cancelled")
"""States in which nothing more happens to a cell."""

KEPT = ("done", "skipped")
"""States that a resumed or repeated audit takes as they are; others are computed again."""

HEARTBEAT_S = 2.0
_DEAD_S = 15.0


class Store:
    """One open database and its folder; safe to use from several threads and processes."""

    def __init__(self, home: str | Path | None = None, url: str | None = None) -> None:
        self.home = find_home(home)
        default = f"sqlite:///{self.home / 'audit.db'}"
        self.url = url or os.environ.get("AUDIT_DATABASE") or default
        self._engine = _open_engine(self.url)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    # -- graphs -----------------------------------------------------------------------------

    def save_graph(self, graph: Graph) -> str:
        """Keep the graph under its content hash, which is returned."""
        graph_hash = files.save_graph(self.home, graph)
        row = {
            "hash": graph_hash,
            "name": graph.name,
            "num_nodes": graph.num_nodes,
            "num_edges": graph.num_edges,
            "created": make_timestamp(),
        }
        with self.write() as connection:
            _insert_missing(connection, GraphRow, [row])
        return graph_hash

    def load_graph(self, graph_hash: str) -> Graph:
        """The graph of this content hash; raises InputError where it is not kept."""
        return files.load_graph(self.home, graph_hash)

    # -- audits -----------------------------------------------------------------------------

    def add_audit(
        self,
        audit_id: str,
        name: str,
        spec: AuditSpec,
        cells: Sequence[Cell],
        provenance: dict[str, Any],
    ) -> None:
        """Record an audit and its plan; cells known from other audits keep what they have."""
        with self.write() as connection:
            connection.execute(
                sa.insert(AuditRow).values(
                    id=audit_id,
                    name=name,
                    spec=spec.model_dump(mode="json"),
                    graph_hash=spec.graph_hash,
                    state="queued",
                    created=make_timestamp(),
                    seconds=0.0,
                    owner=describe_owner(),
                    heartbeat=time.time(),
                    note="",
                    provenance=provenance,
                )
            )
            _insert_plan(connection, audit_id, cells)

    def find_audit(self, audit_id: str) -> Row[Any]:
        """The audit joined with its graph's size; InputError for an unknown id."""
        rows = self._list_audits(AuditRow.id == audit_id)
        if not rows:
            raise InputError("audit", "must be a known id", audit_id, "choose one of the history")
        return rows[0]

    def list_audits(self) -> list[Row[Any]]:
        """Newest first."""
        return self._list_audits(sa.true())

    def _list_audits(self, condition: Any) -> list[Row[Any]]:
        columns = [*AuditRow.__table__.columns, GraphRow.num_nodes, GraphRow.num_edges]
        query = (
            sa.select(*columns)
            .join(GraphRow, GraphRow.hash == AuditRow.graph_hash)
            .where(condition)
            .order_by(AuditRow.created.desc(), AuditRow.id)
        )
        with self.read() as connection:
            return list(connection.execute(query))

    def find_same_audit(self, spec: AuditSpec) -> str | None:
        """Id of the newest audit with exactly this spec."""
        wanted = spec.model_dump(mode="json")
        query = (
            sa.select(AuditRow.id, AuditRow.spec)
            .where(AuditRow.graph_hash == spec.graph_hash)
            .order_by(AuditRow.created.desc())
        )
        with self.read() as connection:
            rows = connection.execute(query)
            return next((row.id for row in rows if _complete(row.spec) == wanted), None)

    def update_audit(self, audit_id: str, **values: Any) -> None:
        """Set columns of an audit's row."""
        with self.write() as connection:
            connection.execute(sa.update(AuditRow).where(AuditRow.id == audit_id).values(values))

    def claim_audit(self, audit_id: str) -> bool:
        """Become the owner; False if another living process computes this audit."""
        me = describe_owner()
        with self.write() as connection:
            row = connection.execute(
                sa.select(AuditRow.owner, AuditRow.heartbeat, AuditRow.state).where(
                    AuditRow.id == audit_id
                )
            ).one()
            is_running = row.state == "running" and row.owner != me
            if is_running and is_owner_alive(row.owner, row.heartbeat):
                return False
            connection.execute(
                sa.update(AuditRow)
                .where(AuditRow.id == audit_id)
                .values(
                    owner=me,
                    heartbeat=time.time(),
                    state="running",
                    note="",
                )
            )
        return True

    def replace_plan(self, audit_id: str, cells: Sequence[Cell]) -> None:
        """Make the audit's cells those of a new plan; unfinished and failed ones are due again.

        The plan differs from the recorded one only after an update that renewed results.
        """
        with self.write() as connection:
            connection.execute(sa.delete(AuditCellRow).where(AuditCellRow.audit_id == audit_id))
            _insert_plan(connection, audit_id, cells)
            due = sa.select(AuditCellRow.cell_key).where(AuditCellRow.audit_id == audit_id)
            connection.execute(
                sa.update(CellRow)
                .where(
                    CellRow.key.in_(due),
                    CellRow.state.not_in(KEPT),
                    CellRow.key.not_in(_select_running(audit_id)),
                )
                .values(state="queued", reason="", progress=0.0)
            )
            orphans = _delete_orphans(connection)
        self._delete_files(orphans)

    def delete_audit(self, audit_id: str) -> None:
        """Forget an audit and all that only it needs: cells, their files, its graph."""
        graph_hash = self.find_audit(audit_id).graph_hash
        with self.write() as connection:
            for table in (AuditCellRow, ClaimRow):
                connection.execute(sa.delete(table).where(table.audit_id == audit_id))
            connection.execute(sa.delete(AuditRow).where(AuditRow.id == audit_id))
            orphans = _delete_orphans(connection)
            others = sa.select(sa.func.count()).where(AuditRow.graph_hash == graph_hash)
            is_last = connection.scalar(others) == 0
            if is_last:
                connection.execute(sa.delete(GraphRow).where(GraphRow.hash == graph_hash))
        self._delete_files(orphans)
        if is_last:
            files.graph_path(self.home, graph_hash).unlink(missing_ok=True)
        shutil.rmtree(files.cancel_path(self.home, audit_id).parent, ignore_errors=True)

    def _delete_files(self, keys: Sequence[str]) -> None:
        for key in keys:
            files.delete_cell(self.home, key)

    # -- cells ------------------------------------------------------------------------------

    def list_cells(self, audit_id: str, *columns: str) -> list[Row[Any]]:
        """The audit's cells in the order of its plan, with the named columns (default all)."""
        table = CellRow.__table__
        chosen = [table.c[name] for name in columns] if columns else list(table.columns)
        query = (
            sa.select(*chosen)
            .join(AuditCellRow, AuditCellRow.cell_key == table.c.key)
            .where(AuditCellRow.audit_id == audit_id)
            .order_by(AuditCellRow.position)
        )
        with self.read() as connection:
            return list(connection.execute(query))

    def list_running(self, audit_id: str) -> list[Row[Any]]:
        """The audit's cells that are being computed, with their curves so far."""
        query = (
            sa.select(CellRow.__table__)
            .join(AuditCellRow, AuditCellRow.cell_key == CellRow.key)
            .where(AuditCellRow.audit_id == audit_id, CellRow.state == "running")
            .order_by(AuditCellRow.position)
        )
        with self.read() as connection:
            return list(connection.execute(query))

    def count_cells(self, audit_id: str | None = None) -> dict[str, dict[str, int]]:
        """Audit id → state → number of cells; of one audit or of all."""
        condition = sa.true() if audit_id is None else AuditCellRow.audit_id == audit_id
        query = (
            sa.select(AuditCellRow.audit_id, CellRow.state, sa.func.count())
            .join(CellRow, CellRow.key == AuditCellRow.cell_key)
            .where(condition)
            .group_by(AuditCellRow.audit_id, CellRow.state)
        )
        counts: dict[str, dict[str, int]] = {}
        with self.read() as connection:
            for audit_id, state, number in connection.execute(query):
                counts.setdefault(audit_id, {})[state] = number
        return counts

    def find_cell(self, key: str) -> Row[Any] | None:
        """The row of a cell, None where it was never planned."""
        with self.read() as connection:
            table = CellRow.__table__
            return connection.execute(sa.select(table).where(table.c.key == key)).one_or_none()

    def update_cell(self, key: str, **values: Any) -> None:
        """Set columns of a cell's row."""
        with self.write() as connection:
            connection.execute(sa.update(CellRow).where(CellRow.key == key).values(values))

    def settle_cells(self, audit_id: str, state: str, reason: str) -> None:
        """Set the state of the audit's unfinished cells that no other running audit needs."""
        running = _select_running(audit_id)
        mine = sa.select(AuditCellRow.cell_key).where(AuditCellRow.audit_id == audit_id)
        with self.write() as connection:
            connection.execute(
                sa.update(CellRow)
                .where(
                    CellRow.key.in_(mine),
                    CellRow.key.not_in(running),
                    CellRow.state.in_(("queued", "running")),
                )
                .values(state=state, reason=reason)
            )

    # -- connections ------------------------------------------------------------------------

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is committed when the block ends well."""
        with self._engine.connect() as connection:
            connection = connection.execution_options(is_writing=True)
            with connection.begin():
                yield connection


@lru_cache(maxsize=8)
def open_store(home: str, url: str) -> Store:
    """The store of this process: workers open it once."""
    return Store(home, url)


def describe_owner() -> str:
    """Host, process and its start: tells whether the owner of a job still lives."""
    process = psutil.Process()
    return json.dumps([socket.gethostname(), process.pid, process.create_time()])


def is_owner_alive(owner: str, heartbeat: float) -> bool:
    """On this host the process must exist; elsewhere its heartbeat must be recent."""
    if not owner:
        return False
    host, pid, started = json.loads(owner)
    if host != socket.gethostname():
        return time.time() - heartbeat < _DEAD_S
    try:
        process = psutil.Process(pid)
        is_same = abs(process.create_time() - started) < 1
        is_alive: bool = is_same and process.status() != psutil.STATUS_ZOMBIE
        return is_alive
    except psutil.Error:
        return False


def _open_engine(url: str) -> Engine:
    try:
        engine = sa.create_engine(url)
    except (sa.exc.ArgumentError, ModuleNotFoundError) as error:
        raise InputError(
            "AUDIT_DATABASE",
            "must be a database URL with an installed driver",
            url.partition("@")[2] or url,
            str(error).splitlines()[0],
        ) from None
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    _migrate(engine)
    return engine


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin in _begin_sqlite
    for pragma in (
        "busy_timeout=30000",
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes the lock at once: a reader that turns writer later may not wait for it."""
    is_writing = connection.get_execution_options().get("is_writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


def _migrate(engine: Engine) -> None:
    """Bring the tables to HEAD; a database that is there already is only asked."""
    try:
        with engine.connect() as connection:
            if _read_version(connection) == HEAD:
                return
            if engine.dialect.name == "sqlite":
                connection.rollback()
                connection = connection.execution_options(is_writing=True)
            with connection.begin() if not connection.in_transaction() else connection:
                upgrade(connection, _read_version(connection))
    except sa.exc.OperationalError as error:
        raise InputError(
            "database", "must be reachable and writable", engine.url.database, str(error.orig)
        ) from None


def upgrade(connection: Connection, version: str | None) -> None:
    """Run the migrations after `version` inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    if version == HEAD:
        return
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _read_version(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return version


def _insert_missing(connection: Connection, table: type[Base], rows: list[dict[str, Any]]) -> None:
    """Insert the rows whose primary key is new."""
    insert: Any = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    if rows:
        connection.execute(insert(table).on_conflict_do_nothing(), rows)


def _insert_plan(connection: Connection, audit_id: str, cells: Sequence[Cell]) -> None:
    """The cells that are new, and the audit's list of cells in the order of its plan."""
    _insert_missing(
        connection,
        CellRow,
        [
            {
                "key": c.key,
                "kind": c.kind,
                "release": c.release,
                "method": c.method,
                "repeat": c.repeat,
                "state": "skipped" if c.skip else "queued",
                "progress": 0.0,
                "message": "",
                "reason": c.skip,
                "note": "",
                "device": "",
                "seconds": 0.0,
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


def _select_running(besides: str) -> Any:
    """Keys of the cells that other running audits need."""
    return (
        sa.select(AuditCellRow.cell_key)
        .join(AuditRow, AuditRow.id == AuditCellRow.audit_id)
        .where(AuditRow.state == "running", AuditRow.id != besides)
    )


def _delete_orphans(connection: Connection) -> list[str]:
    """Delete cells that no audit has; returns their keys."""
    orphan = CellRow.key.not_in(sa.select(AuditCellRow.cell_key))
    keys = list(connection.scalars(sa.select(CellRow.key).where(orphan)))
    connection.execute(sa.delete(CellRow).where(orphan))
    return keys


def make_timestamp() -> str:
    """Now in UTC, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _complete(fields: dict[str, Any]) -> dict[str, Any]:
    """A stored spec with the names and defaults of today; as it is where it cannot be read."""
    try:
        return AuditSpec.model_validate(fields).model_dump(mode="json")
    except ValidationError:
        return fields
