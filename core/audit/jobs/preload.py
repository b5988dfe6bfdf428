"""What workers need, imported and compiled once by the process that they are forked from.

Garbage collection, a quarter of the time of these imports, is off meanwhile. What is there then is
frozen, so that collections in workers neither visit it nor copy its pages.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module

from core.audit.jobs.cluster import list_preloaded

LOOPS = {
    "core.algorithms.kernels.find_pair_distances": (
        "(i8[::1], i8[::1], i8[:, ::1], i4[:, ::1], i4[:, ::1], i8[::1])"
    ),
    "core.models.propagation._multiply_rows": "(i4[::1], i4[::1], f4[::1], f4[:, ::1], f4[:, ::1])",
    "core.models.pair_matrix._dot_kernel": "(i8[::1], i8[::1], f4[:, ::1], f4[::1])",
    "core.models.pair_matrix._scatter_kernel": (
        "(i8[::1], i8[::1], f4[::1], f4[:, ::1], f4[:, ::1])"
    ),
}
"""Loops that all workers call in their first seconds, and for which arrays: each worker would
compile them. Those of the models are left to them where torch is not imported."""


def load_loops() -> None:
    """Compile the loops, or load them from Numba's cache."""
    for name, types in LOOPS.items():
        module, _, loop = name.rpartition(".")
        if module in sys.modules:
            getattr(sys.modules[module], loop).compile(types)


gc.disable()
for name in list_preloaded():
    import_module(name)
load_loops()
gc.freeze()
gc.enable()
