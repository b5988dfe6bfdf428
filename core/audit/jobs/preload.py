"""What workers need, imported once by the process that they are forked from.

Garbage collection, a quarter of the time of these imports, is off meanwhile. What is there then is
frozen, so that collections in workers neither visit it nor copy its pages.
"""

from __future__ import annotations

import gc
from importlib import import_module

from core.audit.jobs.cluster import list_preloaded

gc.disable()
for name in list_preloaded():
    import_module(name)
gc.freeze()
gc.enable()
