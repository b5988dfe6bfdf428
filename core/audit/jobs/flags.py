"""Progress and cancelling of a job that is no audit: two small files in a folder of its own."""

from __future__ import annotations

from pathlib import Path

from core.progress import FlaggedProgress

WAITING = "waiting for a worker"


class FileProgress(FlaggedProgress):
    """What a worker reports to whoever reads the folder; nothing enters the database."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "cancel")
        self._folder = folder

    def report(self, share: float, message: str) -> None:
        temporary = self._folder / ".progress"
        temporary.write_text(f"{share:.4f} {message}")
        temporary.replace(self._folder / "progress")  # never read half written


def read_progress(folder: Path) -> tuple[float, str]:
    """Share done and message."""
    try:
        share, _, message = (folder / "progress").read_text().partition(" ")
        return float(share), message
    except (OSError, ValueError):
        return 0.0, WAITING
