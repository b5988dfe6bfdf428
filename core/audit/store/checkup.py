"""Check, repair, back up and restore a home.

Works while audits run: only finished rows, and files without rows, are examined. A backup is one
file and is restored into an empty home only.
"""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
import stat
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.schema import AuditCellRow, AuditRow, GraphRow, JobRow
from core.audit.store.states import State
from core.audit.store.trail import find_break
from core.errors import AuditError, InputError
from core.home import DATABASE, open_private
from core.partitioned.graph import PartitionedGraph

_FRESH_S = 3600.0
"""Seconds below which a temporary folder may still be in use."""


@dataclass(frozen=True)
class Finding:
    """A problem found.

    kind    "database", "graph", "cell", "orphan", "trail" or "permission"
    remedy  what was done about it, or what to do
    """

    kind: str
    what: str
    remedy: str
    is_mended: bool = False


def check_database(home: Path) -> list[Finding]:
    """Findings of SQLite's integrity check; none for other databases."""
    path = home / DATABASE
    if not path.exists():
        return []
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
            rows = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(5)")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.Error as error:
        rows, broken = [str(error)], []
    wrong = [] if rows == ["ok"] else rows
    wrong += [f"{len(broken)} rows point to rows that are gone"] * bool(broken)
    return [Finding("database", text, "restore a backup: --restore FILE") for text in wrong]


def check_home(store: Store, repair: bool = False) -> list[Finding]:
    """All findings except the database's own; `repair` fixes what it can."""
    return [
        *_check_graphs(store),
        *_check_cells(store, repair),
        *_check_orphans(store, repair),
        *_check_trail(store),
        *_check_permissions(store.home, repair),
    ]


def measure_home(home: Path) -> dict[str, int]:
    """Bytes of the database and of each folder."""
    sizes = {name: sum(_list_sizes(home / name)) for name in files.FOLDERS}
    return {DATABASE: sum(path.stat().st_size for path in home.glob(f"{DATABASE}*")), **sizes}


def _list_sizes(folder: Path) -> Iterator[int]:
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                yield (Path(parent) / name).lstat().st_size
            except FileNotFoundError:  # finished meanwhile
                continue


def _check_graphs(store: Store) -> Iterator[Finding]:
    with store.read() as connection:
        rows = connection.execute(sa.select(GraphRow.hash, GraphRow.name)).all()
    for row in rows:
        try:
            graph = files.load_graph(store.home, row.hash)
            if isinstance(graph, PartitionedGraph):
                graph.links.check()
        except AuditError:
            what = f"{row.name} ({row.hash[:12]}) is missing or damaged"
            yield Finding("graph", what, "load its file again")


def _check_cells(store: Store, repair: bool) -> Iterator[Finding]:
    is_array = JobRow.state == State.DONE
    with store.read() as connection:
        query = sa.select(JobRow.key, JobRow.kind, AuditCellRow.audit_id).join(
            AuditCellRow, AuditCellRow.cell_key == JobRow.key
        )
        owners: dict[tuple[str, str], list[str]] = {}
        for key, kind, audit_id in connection.execute(query.where(is_array)):
            owners.setdefault((key, kind), []).append(audit_id)
    for (key, kind), audits in owners.items():
        if files.is_whole(store.home, key):
            continue
        remedy = "computed again when the audit is resumed"
        if repair:
            for audit_id in audits:
                store.requeue_damaged_cells(audit_id)
                _interrupt(store, audit_id)
        shown = ", ".join(audits)
        yield Finding("cell", f"{kind} {key[:12]} of audit {shown} is damaged", remedy, repair)


def _interrupt(store: Store, audit_id: str) -> None:
    """Mark finished audits with damaged cells as interrupted; running ones recover by
    themselves."""
    is_done = (AuditRow.id == audit_id) & (AuditRow.state == State.DONE)
    note = "damaged parts were set aside: resume the audit to compute them again"
    with store.write(is_durable=True) as connection:
        values = {"state": State.INTERRUPTED, "note": note}
        connection.execute(sa.update(AuditRow).where(is_done).values(values))


def _check_orphans(store: Store, repair: bool) -> Iterator[Finding]:
    found = sorted({*store.home.glob("cells/*/*"), *store.home.glob("graphs/*")})
    named = sorted({*store.home.glob("flags/*"), *store.home.glob("shared/*")})
    with store.read() as connection:  # after the files: each has its row before it is written
        keys = set(connection.scalars(sa.select(JobRow.key)))
        graphs = set(connection.scalars(sa.select(GraphRow.hash)))
        hashes = {f"{name}.npz" for name in graphs}  # and the folder of one in partitions
        known = keys | graphs | hashes | set(connection.scalars(sa.select(AuditRow.id)))
    for path in [*found, *named]:
        is_temporary = path.name.startswith(".")
        if path.name in known or (is_temporary and _is_fresh(path)):
            continue
        if path.parent.name == "graphs" and _is_fresh(path):  # its audit is about to start
            continue
        if repair:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        name = path.relative_to(store.home).as_posix()
        remedy = "removed" if repair else "belongs to nothing"
        yield Finding("orphan", name, remedy, repair)


def _check_trail(store: Store) -> Iterator[Finding]:
    number = find_break(store)
    if number is not None:
        what = f"row {number} is missing or not as it was written, or one before it was removed"
        yield Finding("trail", what, "compare it with a backup: all rows from it on are in doubt")


def _is_fresh(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime < _FRESH_S
    except FileNotFoundError:
        return True


def _check_permissions(home: Path, repair: bool) -> Iterator[Finding]:
    open_paths = []
    for parent, folders, names in os.walk(home):
        for path in (Path(parent), *(Path(parent) / name for name in names)):
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            if stat.S_IMODE(status.st_mode) & 0o077 and not stat.S_ISLNK(status.st_mode):
                open_paths.append(path)
        folders.sort()
    if repair:
        for path in open_paths:
            path.chmod(0o700 if path.is_dir() else 0o600)
    if open_paths:
        first = open_paths[0].relative_to(home).as_posix()
        what = f"{len(open_paths)} paths can be read by others, such as {first}"
        yield Finding("permission", what, "closed" if repair else "--repair closes them", repair)


KEPT = ("graphs", "cells")
"""Folders of a backup beside the database."""


def write_backup(home: Path, path: Path) -> int:
    """Write all audits, graphs and results of a home to a tar archive; returns its size.

    The database is copied first: later results are missing, and files deleted meanwhile count as
    damage that the next run repairs.
    """
    check_own_database(home)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open_private(temporary, "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
            with tempfile.TemporaryDirectory(dir=home) as folder:
                copy = Path(folder) / DATABASE
                _copy_database(home / DATABASE, copy)
                archive.add(copy, DATABASE)
            for name in KEPT:
                for found in sorted((home / name).rglob("*")):
                    relative = found.relative_to(home)
                    if found.is_file() and not any(p.startswith(".") for p in relative.parts):
                        _add_file(archive, found, relative.as_posix())
            file.flush()
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path.stat().st_size


def check_own_database(home: Path) -> None:
    """Raise InputError if the database is not in the home or missing."""
    if not (home / DATABASE).exists():
        raise InputError("home", "must have a database of its own", str(home), "use pg_dump else")


def restore_backup(path: Path, home: Path) -> None:
    """Unpack a backup into a home without a database."""
    if (home / DATABASE).exists():
        raise InputError("home", "must be empty to restore a backup", str(home), "set AUDIT_HOME")
    try:
        with tarfile.open(path, "r:") as archive:
            members = archive.getmembers()
            for member in members:
                top = member.name.partition("/")[0]
                if not member.isfile() or (top not in KEPT and member.name != DATABASE):
                    raise InputError("backup", "must hold a home and nothing else", member.name)
            database = [member for member in members if member.name == DATABASE]
            if not database:
                raise InputError("backup", "must hold a database", str(path))
            # The database last: without it the home is still empty, and this can be repeated.
            for member in [*(m for m in members if m.name != DATABASE), *database]:
                archive.extract(member, home, filter="data")
                (home / member.name).chmod(0o600)
    except (tarfile.TarError, EOFError) as error:
        raise InputError("backup", "must be a file of --backup", str(path), str(error)) from None


def _copy_database(source: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(source, timeout=30)) as live,
        closing(sqlite3.connect(target)) as copy,
    ):
        live.backup(copy)


def _add_file(archive: tarfile.TarFile, path: Path, name: str) -> None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:  # deleted meanwhile
        return
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(content), 0o600, int(path.stat().st_mtime)
    archive.addfile(entry, io.BytesIO(content))
