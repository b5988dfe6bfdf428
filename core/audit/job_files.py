"""Progress and cancelling of a job that is no audit: two small files in a folder of its own."""

from __future__ import annotations

import time
from pathlib import Path

from core.errors import RunCancelled
from core.progress import Progress

WAITING = "waiting for a worker"
WRITE_EVERY_S = 0.1


class FileProgress(Progress):
    """What a worker reports to whoever reads the folder; nothing enters the database."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._written = folder, 0.0

    def update(self, done: float, total: float, message: str = "") -> None:
        self.check()
        now = time.monotonic()
        if now - self._written >= WRITE_EVERY_S:
            self._written = now
            temporary = self._folder / ".progress"
            temporary.write_text(f"{done / (total or 1):.4f} {message}")
            temporary.replace(self._folder / "progress")  # never read half written

    def check(self) -> None:
        if (self._folder / "cancel").exists():
            raise RunCancelled()


def read_progress(folder: Path) -> tuple[float, str]:
    """Share done and message."""
    try:
        share, _, message = (folder / "progress").read_text().partition(" ")
        return float(share), message
    except (OSError, ValueError):
        return 0.0, WAITING
