"""Progress of one piece of work: how far, what is known so far, and whether to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from core.errors import RunCancelled

T = TypeVar("T")


class Progress:
    """Receives progress and raises `RunCancelled` when the run was cancelled.

    Methods call `update` at least every half second of work (each epoch, each tile) and
    `record` for curves worth showing while they grow (loss, surrogate loss).
    This base class ignores what it is told: a run with nobody watching.
    """

    def update(self, done: float, total: float, message: str = "") -> None:
        """Report `done` of `total` steps; raises RunCancelled if the user cancelled."""
        self.check()

    def record(self, curve: str, step: float, value: float) -> None:
        """Append a point (step, value) to a named curve."""

    def check(self) -> None:
        """Raise RunCancelled if the user cancelled."""

    def track(self, items: Iterable[T], total: int, message: str = "") -> Iterator[T]:
        """Iterate over `items`, reporting after each one."""
        self.check()
        for index, item in enumerate(items):
            yield item
            self.update(index + 1, total, message)


class PartProgress(Progress):
    """One of `count` equal parts of a longer piece of work, told to the whole's progress."""

    def __init__(self, whole: Progress, index: int, count: int) -> None:
        self._whole, self._index, self._count = whole, index, count

    def update(self, done: float, total: float, message: str = "") -> None:
        self._whole.update(self._index + done / max(total, 1e-9), self._count, message)

    def check(self) -> None:
        self._whole.check()


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
