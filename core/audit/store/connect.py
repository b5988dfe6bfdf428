"""Opens the database, SQLite or PostgreSQL, with the tables of this version."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from core.audit.store.retry import DAMAGE
from core.errors import InputError

HEAD = "0005"
"""Latest migration; see migrations/versions."""

OLDER = ("0001", "0002", "0003", "0004")
"""Migrations before it."""

MIGRATION_S = 30.0
"""Seconds a process waits for another one that migrates the tables."""

BUSY_MS = 5000
"""Milliseconds SQLite waits for a lock before the user is informed."""

_LOCK = 7_134_905_211
"""Advisory lock of PostgreSQL: one process migrates, the others wait."""


def open_engine(url: str) -> Engine:
    """Database engine with the tables of this version; raises InputError if that fails."""
    try:
        engine = sa.create_engine(url, pool_pre_ping=not url.startswith("sqlite"))
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
        f"busy_timeout={BUSY_MS}",
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    """Writers take the lock at once, since upgrading a read transaction may deadlock."""
    options = connection.get_execution_options()
    is_writing = options.get("is_writing")
    if is_writing:
        mode = "FULL" if options.get("is_durable") else "NORMAL"
        connection.exec_driver_sql(f"PRAGMA synchronous={mode}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


def _migrate(engine: Engine) -> None:
    """Migrate the tables to HEAD; an existing database is only inspected.

    Of several processes starting at once on one SQLite file one migrates and the others wait.
    """
    deadline = time.monotonic() + MIGRATION_S
    while True:
        try:
            _bring_to_head(engine)
            return
        except sa.exc.OperationalError as error:
            if "locked" in str(error.orig) and time.monotonic() < deadline:
                time.sleep(0.2)
                continue
            raise _describe(engine, error) from None
        except sa.exc.DBAPIError as error:
            raise _describe(engine, error) from None


def _bring_to_head(engine: Engine) -> None:
    with engine.connect() as connection:
        version = _read_version(connection)
    if version == HEAD:
        return
    if version is not None and version not in OLDER:
        raise InputError("database", f"must be of version {HEAD}", version, "update the program")
    from alembic import command  # takes a second, for which nobody should wait
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    with engine.connect() as connection:
        connection = connection.execution_options(is_writing=True)
        with connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            if _read_version(connection) != HEAD:
                config.attributes["connection"] = connection
                command.upgrade(config, "head")


def _describe(engine: Engine, error: sa.exc.DBAPIError) -> InputError:
    reason = " ".join(str(error.orig).split())[:200]
    if any(word in reason for word in DAMAGE):
        reason += "; python -m core doctor says what can be saved"
    return InputError(
        "database", "must be reachable, writable and whole", engine.url.database, reason
    )


def _read_version(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return version
