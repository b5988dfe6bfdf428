"""The folder of all stored data."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO, Any

from core.errors import InputError

DATABASE = "audit.db"


def find_home(home: str | Path | None = None) -> Path:
    """The home folder: the argument, AUDIT_HOME, or ~/.graph-privacy-audit.

    Created with access for its owner only. An existing one keeps its mode; raises InputError if
    others can write to it.
    """
    path = locate_home(home)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            _check_private(path)
    except OSError as error:
        raise InputError(
            "AUDIT_HOME", "must be a folder that can be written", str(path), error.strerror or ""
        ) from None
    return path


def locate_home(home: str | Path | None = None) -> Path:
    """Path of the home folder, which need not be there."""
    chosen = home or os.environ.get("AUDIT_HOME") or Path.home() / ".graph-privacy-audit"
    return Path(chosen).expanduser().resolve()


def is_new_home(home: str | Path | None = None) -> bool:
    """Whether nothing was stored yet: no database in the home, and none named by
    AUDIT_DATABASE."""
    return not os.environ.get("AUDIT_DATABASE") and not (locate_home(home) / DATABASE).exists()


def _check_private(path: Path) -> None:
    """Raise InputError for a folder writable by others."""
    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if status.st_mode & (stat.S_ISVTX | stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(
            "AUDIT_HOME",
            "must be a folder that others cannot write to",
            f"{path}, mode {stat.S_IMODE(status.st_mode):o}",
            f"name one inside it that is not there yet, such as {path / 'graph-privacy-audit'}",
        )


def open_private(path: Path, mode: str) -> IO[Any]:
    """Open a file for writing with access for its owner only, whatever the umask."""

    def opener(name: str, flags: int) -> int:
        descriptor = os.open(name, flags, 0o600)
        os.fchmod(descriptor, 0o600)
        return descriptor

    return open(path, mode, opener=opener)


def is_running(pid: int) -> bool:
    """Whether this machine has such a process, of whichever user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
