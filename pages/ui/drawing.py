"""What a page reads only once while it is drawn: several of its parts ask for the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

_drawing = threading.local()


@contextmanager
def begin() -> Iterator[None]:
    """Draw a page in the body: what `read_once` reads in this thread is kept until its end."""
    _drawing.kept = {}
    try:
        yield
    finally:
        _drawing.kept = None


def read_once(key: Hashable, read: Callable[[], T]) -> T:
    """Return `read()`, or what it returned to this key before. Outside of a page, as in a fragment
    that is drawn again by itself, it is always read."""
    kept: dict[Hashable, Any] | None = getattr(_drawing, "kept", None)
    if kept is None:
        return read()
    if key not in kept:
        kept[key] = read()
    found: T = kept[key]
    return found


def forget(key: Hashable) -> None:
    """Let `read_once` read this again, after it was found to have changed."""
    kept = getattr(_drawing, "kept", None)
    if kept is not None:
        kept.pop(key, None)
