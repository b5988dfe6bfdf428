"""Limits how many pages are drawn at once: those that share a core end when the last one does."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WAIT_S = 2.0


class FairSemaphore:
    """Admits so many threads at once, in the order of their arrival, as `threading.Semaphore`
    does not; whoever has waited for MAX_WAIT_S is let in beside them."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, max_wait_s: float = MAX_WAIT_S) -> Iterator[None]:
        """Run the body when it is admitted."""
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
