"""Progress of a task, with cancellation."""

from __future__ import annotations

import time
from pathlib import Path

from core.errors import RunCancelled


class Progress:
    """Receives progress and raises `RunCancelled` when the run was cancelled.

    Methods call `update` at least every half second of work (each epoch, each tile) and `record`
    for curves shown during training. This base class ignores both.
    """

    def update(self, done: float, total: float, message: str = "") -> None:
        """Report `done` of `total` steps; raises RunCancelled if the user cancelled."""
        self.check()

    def record(self, curve: str, step: float, value: float) -> None:
        """Append a point (step, value) to a named curve."""

    def check(self) -> None:
        """Raise RunCancelled if the user cancelled."""


class RecordedCurves:
    """Curves of (step, value) points, kept for the release and shown during training."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.curves: dict[str, list[tuple[float, float]]] = {}

    def add(self, name: str, step: float, value: float) -> None:
        """Append a point to a named curve."""
        self.curves.setdefault(name, []).append((float(step), value))
        self.progress.record(name, step, value)


class PartProgress(Progress):
    """Progress of one of `count` equal sub-tasks, reported to the parent."""

    def __init__(self, whole: Progress, index: int, count: int) -> None:
        self._whole, self._index, self._count = whole, index, count

    def update(self, done: float, total: float, message: str = "") -> None:
        self._whole.update(self._index + done / max(total, 1e-9), self._count, message)

    def check(self) -> None:
        self._whole.check()


class FlaggedProgress(Progress):
    """Reports at most every quarter of a second; a flag file cancels."""

    REPORT_EVERY_S = 0.25
    CHECK_EVERY_S = 0.05

    def __init__(self, flag: Path) -> None:
        self._flag = flag
        self._reported = self._checked = 0.0

    def update(self, done: float, total: float, message: str = "") -> None:
        self.check()
        now = time.monotonic()
        if now - self._reported >= self.REPORT_EVERY_S:
            self._reported = now
            self.report(min(max(done / total, 0.0), 1.0) if total else 0.0, message)

    def report(self, share: float, message: str) -> None:
        """Report the share done, in [0, 1]."""
        raise NotImplementedError

    def check(self) -> None:
        now = time.monotonic()
        if now - self._checked >= self.CHECK_EVERY_S:
            self._checked = now
            if self._flag.exists():
                raise RunCancelled()
