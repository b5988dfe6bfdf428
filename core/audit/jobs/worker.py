"""Work common to all jobs on a worker: progress, logging, error classification, final state."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.liveness import DatabaseTime, make_timestamp
from core.audit.store.states import State
from core.errors import AuditError, RunCancelled, UnsupportedError, describe_unexpected
from core.progress import FlaggedProgress

log = logging.getLogger(__name__)

MAX_CURVE_POINTS = 300

Points = list[tuple[float, float]]

RUNNING = {
    "state": State.RUNNING,
    "progress": 0.0,
    "message": "",
    "reason": "",
    "note": "",
    "finished": "",
}
"""Columns of a row whose computation begins."""


class StoredProgress(FlaggedProgress):
    """Writes progress and curves to the job's row; `flag` names the cancel flag."""

    def __init__(self, store: Store, key: str, flag: str) -> None:
        super().__init__(files.flag_path(store.home, flag))
        self.curves: dict[str, Points] = {}
        self._store, self._key = store, key

    def begin(self) -> None:
        """Mark the row as running."""
        self._store.update_job(self._key, **RUNNING)

    def report(self, share: float, message: str) -> None:
        values: dict[str, Any] = {"curves": thin_curves(self.curves)} if self.curves else {}
        self._store.update_job(
            self._key, progress=share, message=message, heartbeat=DatabaseTime(), **values
        )

    def record(self, curve: str, step: float, value: float) -> None:
        if math.isfinite(value):
            self.curves.setdefault(curve, []).append((float(step), float(value)))

    def restart(self) -> None:
        """Discard the curves of a failed attempt."""
        self.curves.clear()


def work(
    store: Store,
    key: str,
    label: str,
    progress: StoredProgress,
    compute: Callable[[], dict[str, Any]],
) -> State:
    """Compute a job and finish its row; returns its final state and does not raise for a method's
    failure.

    `compute` returns the columns of the row beside its state.
    """
    started, cpu_started = time.monotonic(), time.process_time()
    try:
        progress.check()
        progress.begin()
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


def thin_curves(curves: dict[str, Points]) -> dict[str, Points]:
    """At most MAX_CURVE_POINTS points of each, including the last one."""
    thinned = dict(curves)
    for name, points in curves.items():
        if len(points) > MAX_CURVE_POINTS:
            step = math.ceil(len(points) / MAX_CURVE_POINTS)
            thinned[name] = [*points[:-1:step], points[-1]]
    return thinned


@lru_cache(maxsize=1)
def limit_threads() -> None:
    """One thread per worker, with the same order of summation everywhere."""
    import torch

    torch.set_num_threads(1)
