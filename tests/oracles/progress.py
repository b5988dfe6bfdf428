"""Progress that is kept, for tests to look at."""

from __future__ import annotations

from collections.abc import Callable

from core.errors import RunCancelled
from core.progress import Progress


class RecordingProgress(Progress):
    """Keeps everything in memory; `is_cancelled` is asked on every report."""

    def __init__(self, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        self.updates: list[tuple[float, float, str]] = []
        self.curves: dict[str, list[tuple[float, float]]] = {}
        self._is_cancelled = is_cancelled

    def update(self, done: float, total: float, message: str = "") -> None:
        self.updates.append((done, total, message))
        self.check()

    def record(self, curve: str, step: float, value: float) -> None:
        self.curves.setdefault(curve, []).append((float(step), float(value)))

    def check(self) -> None:
        if self._is_cancelled():
            raise RunCancelled()
