"""What a worker does around every piece of work: report, log, classify what went wrong, finish."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from core.audit.states import State
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.liveness import DatabaseTime, make_timestamp
from core.errors import AuditError, RunCancelled, UnsupportedError, describe_unexpected
from core.progress import FlaggedProgress

log = logging.getLogger(__name__)

MAX_CURVE_POINTS = 300

Points = list[tuple[float, float]]


class StoredProgress(FlaggedProgress):
    """Writes to the job's row, with the curves so far; `flag` names whose flag cancels it."""

    def __init__(self, store: Store, key: str, flag: str) -> None:
        super().__init__(files.flag_path(store.home, flag))
        self.curves: dict[str, Points] = {}
        self._store, self._key = store, key

    def report(self, share: float, message: str) -> None:
        values: dict[str, Any] = {"curves": self.thin_curves()} if self.curves else {}
        self._store.update_job(
            self._key, progress=share, message=message, heartbeat=DatabaseTime(), **values
        )

    def record(self, curve: str, step: float, value: float) -> None:
        if math.isfinite(value):
            self.curves.setdefault(curve, []).append((float(step), float(value)))

    def restart(self) -> None:
        """Forget the curves of an attempt that failed."""
        self.curves.clear()

    def thin_curves(self) -> dict[str, Points]:
        """The curves so far, with few enough points to be stored."""
        return {name: thin(points) for name, points in self.curves.items()}


def work(
    store: Store,
    key: str,
    label: str,
    progress: StoredProgress,
    compute: Callable[[], dict[str, Any]],
) -> State:
    """Compute a job and finish its row; returns its final state and raises for no fault of a
    method. `compute` returns the columns that the row gets beside its state."""
    started, cpu_started = time.monotonic(), time.process_time()
    try:
        progress.check()
        store.update_job(
            key, state=State.RUNNING, progress=0.0, message="", reason="", note="", finished=""
        )
        values = compute()
        values = {"state": State.DONE, "progress": 1.0, **values}
    except RunCancelled as error:
        values = {"state": State.CANCELLED, "reason": str(error)}
    except UnsupportedError as error:
        values = {"state": State.SKIPPED, "reason": str(error)}
    except AuditError as error:
        values = {"state": State.FAILED, "reason": str(error)}
    except Exception as error:
        log.exception("%s failed", label)
        values = {"state": State.FAILED, "reason": describe_unexpected(error)}
    seconds = round(time.monotonic() - started, 3)
    cpu_seconds = round(time.process_time() - cpu_started, 3)  # a worker does one thing at a time
    ended = {"message": "", "seconds": seconds, "cpu_seconds": cpu_seconds}
    ended["finished"] = make_timestamp()
    if not store.update_open_job(key, **ended, **values) and store.find_job(key) is None:
        files.delete_cell(store.home, key)  # its audit was deleted meanwhile
    return State(values["state"])


def thin(points: Points) -> Points:
    """At most MAX_CURVE_POINTS points, the last one among them."""
    step = math.ceil(len(points) / MAX_CURVE_POINTS)
    return points if step <= 1 else [*points[:-1:step], points[-1]]


@lru_cache(maxsize=1)
def limit_threads() -> None:
    """One thread a worker: as many workers as cores, and sums in one order everywhere."""
    import torch

    torch.set_num_threads(1)
