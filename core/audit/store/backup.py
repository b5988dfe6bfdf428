"""A home in one file, taken while audits run, and back into an empty one."""

from __future__ import annotations

import io
import os
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from core.audit.store.checkup import DATABASE
from core.errors import InputError
from core.home import open_private

KEPT = ("graphs", "cells")
"""Folders that a backup holds beside the database."""


def write_backup(home: Path, path: Path) -> int:
    """All audits, graphs and results of a home as a tar archive; returns its size.

    The database is copied first: what is finished later is not in it, and files whose rows are
    deleted meanwhile are missing, which counts as damage that the next run mends.
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
    """InputError where the rows are not in the home, or it has none."""
    if not (home / DATABASE).exists():
        raise InputError("home", "must have a database of its own", str(home), "use pg_dump else")


def restore_backup(path: Path, home: Path) -> None:
    """Unpack a backup into a home that has no database yet."""
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
