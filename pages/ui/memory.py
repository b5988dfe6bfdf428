"""Garbage collection of the server."""

from __future__ import annotations

import gc
import sys

_num_modules = 0


def exempt_modules() -> None:
    """Exempt the objects of loaded modules from garbage collection.

    Streamlit collects garbage after every run of a page, which blocks all other sessions; a
    million permanent objects cost a quarter of a second. No-op if no module is new.
    """
    global _num_modules
    if len(sys.modules) > _num_modules:
        _num_modules = len(sys.modules)
        gc.collect()
        gc.freeze()
