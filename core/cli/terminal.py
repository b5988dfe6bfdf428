"""Progress and messages on stderr; results go to stdout and to folders."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from core.errors import InputError
from core.progress import Progress


def say(text: str, code: int = 0) -> int:
    """Print one line on stderr; returns the exit code."""
    start = "\r\x1b[2K" if sys.stderr.isatty() else ""
    print(start + " ".join(text.split()), file=sys.stderr, flush=True)
    return code


def make_meter() -> Callable[[str, str], None]:
    """Progress on one line of a terminal; elsewhere one line per change of the count."""
    is_terminal = sys.stderr.isatty()
    last = ""

    def show(count: str, doing: str) -> None:
        nonlocal last
        if is_terminal:
            print(f"\r\x1b[2K{count} · {doing}"[:110], end="", file=sys.stderr, flush=True)
        elif count != last:
            say(f"{count} {doing}".rstrip())
        last = count

    return show


class MeterProgress(Progress):
    """Progress of one task in tenths."""

    def __init__(self) -> None:
        self._show = make_meter()

    def update(self, done: float, total: float, message: str = "") -> None:
        self._show(f"{10 * int(10 * done / (total or 1))} %", message)


def make_folder(folder: Path) -> None:
    """The folder, created if missing; raises InputError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refuse_folder(folder, error) from None


def refuse_folder(folder: Path, error: OSError) -> InputError:
    """The error to raise for a folder that cannot be written."""
    rule = "must be one that can be written"
    return InputError("output folder", rule, str(folder), error.strerror or "")
