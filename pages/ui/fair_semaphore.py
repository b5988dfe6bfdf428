"""Limit on the number of pages that are drawn at the same time."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WAIT_S = 2.0


class FairSemaphore:
    """First-in-first-out semaphore; threads that wait for MAX_WAIT_S are admitted in addition.

    `threading.Semaphore` does not keep the order of arrival.
    """

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, max_wait_s: float = MAX_WAIT_S) -> Iterator[None]:
        """Run the body once admitted."""
        is_admitted = self._acquire(max_wait_s)
        try:
            yield
        finally:
            if is_admitted:
                self._release()

    def _acquire(self, max_wait_s: float) -> bool:
        admitted = threading.Event()
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            self._waiting.append(admitted)
        if admitted.wait(max_wait_s):
            return True
        with self._lock:
            if not admitted.is_set():
                self._waiting.remove(admitted)
            return admitted.is_set()

    def _release(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


PAGES = FairSemaphore(max(os.cpu_count() or 1, 2))
