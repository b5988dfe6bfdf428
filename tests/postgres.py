"""A PostgreSQL of the tests' own: started by an ordinary user, gone when they end."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import sqlalchemy as sa

SETTINGS = "-F -c listen_addresses=127.0.0.1 -c max_connections=60"
_numbers = count()


def find_reason() -> str:
    """Why there is none here; "" where there is."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    return "" if _find_folder() is not None else "no initdb: install Debian's postgresql"


@dataclass(frozen=True)
class Server:
    """A running server.

    url      less the name of a database
    restart  stops it as a crash would, and starts it again on the same data
    """

    url: str
    restart: Callable[[], None]


@contextmanager
def run_server() -> Iterator[Server]:
    """A server of this process alone."""
    folder, programs = Path(tempfile.mkdtemp(prefix="audit-postgres-")), _find_folder()
    assert programs is not None
    user = _find_user()
    if user:
        os.chown(folder, user["user"], user["group"])
    port = _find_port()
    data = folder / "data"

    def call(*arguments: object) -> None:
        command = [str(programs / str(arguments[0])), *map(str, arguments[1:])]
        subprocess.run(
            command, check=True, cwd=folder, stdout=subprocess.DEVNULL, timeout=240, **user
        )

    try:
        call("initdb", "-A", "trust", "-U", "audit", "-E", "UTF8", "--no-sync", "-D", data)
        options = f"-p {port} -k {folder} {SETTINGS}"
        control = ("pg_ctl", "-D", data, "-w")
        start = (*control, "-o", options, "-l", folder / "log", "-t", 200, "start")
        stop = (*control, "-m", "immediate", "stop")

        def restart() -> None:
            call(*stop)
            call(*start)

        call(*start)
        try:
            yield Server(f"postgresql+psycopg://audit@127.0.0.1:{port}", restart)
        finally:
            call(*stop)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def create_database(server: str) -> str:
    """URL of a new, empty database."""
    name = f"audit_{os.getpid()}_{next(_numbers)}"
    engine = sa.create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{server}/{name}"


def _find_folder() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


def _find_user() -> dict[str, Any]:
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
