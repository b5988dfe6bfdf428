"""The folder of all stored work."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

from core.errors import InputError


def find_home(home: str | Path | None = None) -> Path:
    """The folder of all stored work: the argument, AUDIT_HOME, or ~/.graph-privacy-audit."""
    chosen = home or os.environ.get("AUDIT_HOME") or Path.home() / ".graph-privacy-audit"
    path = Path(chosen).expanduser().resolve()
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.stat().st_uid == os.geteuid():
            path.chmod(0o700)
    except OSError as error:
        raise InputError(
            "AUDIT_HOME", "must be a folder that can be written", str(path), error.strerror or ""
        ) from None
    return path


def open_private(path: Path, mode: str) -> IO[Any]:
    """Open a file to write that only its owner can read, whatever the umask."""

    def opener(name: str, flags: int) -> int:
        descriptor = os.open(name, flags, 0o600)
        os.fchmod(descriptor, 0o600)
        return descriptor

    return open(path, mode, opener=opener)
