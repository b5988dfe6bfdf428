"""Pages drawn one after the other: those that share a core all end when the last one does."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WAIT_S = 2.0
"""Whoever waited so long is drawn beside those that take longer."""


class Turns:
    """So many at once, the others in the order in which they came (a semaphore lets any pass)."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def take(self, max_wait_s: float = MAX_WAIT_S) -> Iterator[None]:
        """Run the body at one's turn."""
        has_turn = self._wait(max_wait_s)
        try:
            yield
        finally:
            if has_turn:
                self._pass_on()

    def _wait(self, max_wait_s: float) -> bool:
        turn = threading.Event()
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            self._waiting.append(turn)
        if turn.wait(max_wait_s):
            return True
        with self._lock:
            if not turn.is_set():
                self._waiting.remove(turn)
            return turn.is_set()

    def _pass_on(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


TURNS = Turns(max(os.cpu_count() or 1, 2))
