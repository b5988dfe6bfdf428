"""Owners of running audits and jobs, and whether they are alive.

Heartbeats use the database's clock only, so that clocks of machines need not agree. Declaring a
live process dead is harmless: its successor holds a higher lease, and only the highest may write
(core.audit.store.database).
"""

from __future__ import annotations

import json
import os
import socket
from datetime import UTC, datetime
from typing import Any

import psutil
import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles

from core.audit.store.states import State

HEARTBEAT_S = 2.0
SILENCE_S = 15.0
"""Seconds without a heartbeat after which an owner counts as dead."""


class DatabaseTime(sa.FunctionElement[float]):
    """Seconds since 1970 by the database's clock."""

    type = sa.Float()
    inherit_cache = True


@compiles(DatabaseTime, "sqlite")
def _compile_sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(DatabaseTime, "postgresql")
def _compile_postgresql(*_: Any, **__: Any) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS double precision)"


def describe_owner() -> str:
    """Host, process and its start time, which identify the owner of a job."""
    return json.dumps([socket.gethostname(), os.getpid(), _find_start(os.getpid())])


def _find_start(pid: int) -> float:
    """Seconds from the machine's boot to the process's start, unaffected by clock changes."""
    booted = psutil.boot_time()
    process = psutil.Process(pid)
    if process.status() == psutil.STATUS_ZOMBIE:
        raise psutil.ZombieProcess(pid)
    return float(process.create_time() - booted)


def is_owner_alive(owner: str, silent_s: float) -> bool:
    """Whether the owner of a job is alive, last heard of `silent_s` seconds ago.

    On this host the process must exist. Elsewhere its heartbeat must be recent; one from the future
    predates a change of the database's clock.
    """
    if not owner:
        return False
    host, pid, started = json.loads(owner)
    if host != socket.gethostname():
        return abs(silent_s) < SILENCE_S
    try:
        return bool(abs(_find_start(pid) - started) < 1)
    except psutil.Error:
        return False


def find_state(row: Any) -> State:
    """State of an audit or a job: as stored, or interrupted if its owner is dead.

    row  of `Store.find_audit`, `find_job` and the like: `now` is the database's time
    """
    if row.state.is_active and not is_owner_alive(row.owner, row.now - row.heartbeat):
        return State.INTERRUPTED
    return State(row.state)


def make_timestamp() -> str:
    """Current UTC time, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
