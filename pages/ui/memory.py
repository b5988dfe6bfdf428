"""What the server keeps, and what looking through it costs."""

from __future__ import annotations

import gc
import sys

_num_modules = 0


def exempt_modules() -> None:
    """Take what modules brought along out of the search for garbage.

    Streamlit searches all objects after every run of a page, and nobody else is served meanwhile:
    a quarter of a second where a million objects are classes and functions that never go. Only
    what was made since the last call here is searched; a call does nothing where no module is new.
    """
    global _num_modules
    if len(sys.modules) > _num_modules:
        _num_modules = len(sys.modules)
        gc.collect()
        gc.freeze()
