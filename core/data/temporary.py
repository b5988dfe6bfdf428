"""Private folders for files on their way in, and their removal after a process that was killed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

_NAME = re.compile(r"audit-(?:upload|read)-(\d+)-\w+")


def make_folder(kind: str) -> tempfile.TemporaryDirectory[str]:
    """A folder that only this user can enter, removed with the object; kind: upload or read."""
    return tempfile.TemporaryDirectory(
        prefix=f"audit-{kind}-{os.getpid()}-", ignore_cleanup_errors=True
    )


def sweep_folders() -> int:
    """Remove the folders of this user's processes that are gone; returns how many."""
    count = 0
    for path in Path(tempfile.gettempdir()).glob("audit-*"):
        found = _NAME.fullmatch(path.name)
        try:
            is_mine = not path.is_symlink() and path.is_dir() and path.stat().st_uid == os.getuid()
        except OSError:
            continue
        if found and is_mine and not _is_running(int(found[1])):
            shutil.rmtree(path, ignore_errors=True)
            count += 1
    return count


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
