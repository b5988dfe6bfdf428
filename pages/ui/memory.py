"""Garbage collection of the server."""

from __future__ import annotations

import gc
import sys
import time

PAUSE = 20.0
"""Least time between two collections, in multiples of what the last one took."""

_num_modules = 0
_due = 0.0


def exempt_modules() -> None:
    """Exempt the objects of loaded modules from garbage collection.

    A collection blocks all sessions; a million permanent objects cost a quarter of a second. No-op
    if no module is new.
    """
    global _num_modules
    if len(sys.modules) > _num_modules:
        _num_modules = len(sys.modules)
        gc.collect()
        gc.freeze()


def collect_garbage() -> None:
    """Collect garbage, unless it was done just before: after every page, as Streamlit would, it
    takes an eighth of the time of a server whose pages are opened one after the other."""
    global _due
    started = time.perf_counter()
    if started < _due:
        return
    _due = float("inf")  # for other threads, until this one is done
    gc.collect()
    ended = time.perf_counter()
    _due = ended + PAUSE * (ended - started)
