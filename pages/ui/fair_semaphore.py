"""Limit on the number of pages that are drawn at the same time."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WAIT_S = 2.0


class FairSemaphore:
    """First-in-first-out semaphore; once nobody was admitted for MAX_WAIT_S, the first of those who
    wait is admitted in addition, and hands its place on.

    `threading.Semaphore` does not keep the order of arrival. Who has waited long in a queue that
    moves goes on waiting: drawn at once, fifty pages would all be late.
    """

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()
        self._moved = time.monotonic()

    @contextmanager
    def hold(self, max_wait_s: float = MAX_WAIT_S) -> Iterator[None]:
        """Run the body once admitted."""
        self._acquire(max_wait_s)
        try:
            yield
        finally:
            self._release()

    def _acquire(self, max_wait_s: float) -> None:
        admitted = threading.Event()
        with self._lock:
            if self._free > 0:
                self._free -= 1
                self._moved = time.monotonic()
                return
            self._waiting.append(admitted)
        while not admitted.wait(max_wait_s):
            with self._lock:
                is_next = bool(self._waiting) and self._waiting[0] is admitted
                if is_next and time.monotonic() - self._moved >= max_wait_s:
                    self._waiting.popleft().set()
                    self._free -= 1
                    self._moved = time.monotonic()

    def _release(self) -> None:
        with self._lock:
            self._moved = time.monotonic()
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


PAGES = FairSemaphore(max(os.cpu_count() or 1, 2))
