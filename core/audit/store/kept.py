"""Costly work that cells share, kept on disk so that one process of an audit does it for all.

AUDIT_HOME/shared/<audit>/ has an npz for each piece of work, and beside it a file that is locked
while the work is done. It is removed when the audit's run ends.
"""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from core.audit.store.files import Arrays, read_npz, write_npz
from core.context import Context, StoredForm

try:
    import fcntl
except ImportError:  # two processes may then do the same work at once
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")

PAUSE_S = 0.1
"""Seconds between two attempts to lock."""


class KeptWork:
    """Work in a folder, by key. Who asks while it is done waits, which takes no longer than doing
    it; a process that dies frees its lock. What cannot be read is done, and need not be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(
        self,
        key: tuple[object, ...],
        compute: Callable[[Context], T],
        form: StoredForm[T],
        context: Context,
    ) -> T:
        """The value under `key`; its work asks for no other kept work."""
        name = hashlib.sha256(repr((form.version, *key)).encode()).hexdigest()
        path = self._folder / f"{name}.npz"
        with _lock(path.with_suffix(".lock"), context):
            arrays = _read(path)
            if arrays is None:
                value = compute(context)
                with suppress(OSError):
                    _write(path, form.pack(value))
                return value
        return form.unpack(arrays, context)


@contextmanager
def _lock(path: Path, context: Context) -> Iterator[None]:
    """Hold the lock of a file, once no other process does; none where there are no locks."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        yield
        return
    try:
        while not _try_lock(file):
            context.progress.check()
            time.sleep(PAUSE_S)
        yield
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    """False while another process has the lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _read(path: Path) -> Arrays | None:
    try:
        return read_npz(path)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return None


def _write(path: Path, arrays: Arrays) -> None:
    temporary = path.with_suffix(".part")  # of the one process with the lock
    write_npz(temporary, arrays)
    temporary.replace(path)
