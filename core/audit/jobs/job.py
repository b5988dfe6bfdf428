"""Base class of job kinds: request, computation on a worker, and progress.

A kind is a subclass of `Jobs` that names its request model and its computation; see claims.py,
advice.py and publish.py. A job consists of its row in `jobs`, its arrays in AUDIT_HOME/cells, and a
flag while it is being cancelled. Cells of audits are rows of the same table with the same final
states (worker.py), but are shared and ordered by audits (coordinate.py).
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel
from sqlalchemy.engine import Row

from core.audit.jobs.worker import RUNNING, StoredProgress, work
from core.audit.store import files
from core.audit.store.database import Store, open_store
from core.audit.store.liveness import find_state
from core.audit.store.retry import keep_trying
from core.audit.store.schema import JobRow
from core.audit.store.states import ACTIVE, State
from core.errors import InputError, RunCancelled
from core.progress import Progress

if TYPE_CHECKING:
    from distributed import Future

    from core.audit.jobs.engine import Engine

Request = TypeVar("Request", bound=BaseModel)
Run = TypeVar("Run")

LOST = "its worker was lost; try again"
CLOSED = "the application was closed"


@dataclass(frozen=True)
class JobContext:
    """Resources of a worker for the computation of a job."""

    store: Store
    key: str
    audit_id: str | None
    progress: Progress

    def save_arrays(self, arrays: files.Arrays, links: Path | None = None) -> None:
        """Store arrays under the job's key, and the folder of a release in partitions, which is
        removed from where it is."""
        save = partial(files.save_cell, self.store.home, self.key, arrays, links)
        keep_trying(save, self.store.notify, self.progress.check)
        if links is not None:
            shutil.rmtree(links)


class JobProgress(StoredProgress):
    """Cancels too where the job's row has ended or is gone.

    One cancelled while it starts is withdrawn as waiting, and its flag is cleared.
    """

    def begin(self) -> None:
        if not self._store.update_open_job(self._key, **RUNNING):
            raise RunCancelled()

    def report(self, share: float, message: str) -> None:
        super().report(share, message)
        row = self._store.find_job(self._key)
        if row is None or row.state.is_final:
            raise RunCancelled()


class Jobs(ABC, Generic[Request, Run]):
    """All jobs of one kind; thread-safe, one object per process.

    name       of the kind, in the store
    request    model of the request
    priority   above 0: before the cells of audits
    is_kept    a finished job is reused for the same request
    """

    name: ClassVar[str]
    request: ClassVar[type[BaseModel]]
    priority: ClassVar[int] = 1
    is_kept: ClassVar[bool] = False

    def __init__(self, store: Store, engine: Engine) -> None:
        self._store, self._engine = store, engine
        self._futures: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()

    # -- what a kind says -------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def compute(cls, request: Request, job: JobContext) -> dict[str, Any]:
        """Compute on a worker; returns JSON, arrays go to `job.save_arrays`."""

    @classmethod
    @abstractmethod
    def read(cls, row: Row[Any], state: State) -> Run:
        """A row as shown by pages; `state` is the row's, or INTERRUPTED if its owner died."""

    @classmethod
    def format_parts(cls, request: Request) -> tuple[Any, ...] | None:
        """Key parts that distinguish requests of one audit; None: every request is its own job."""
        return None

    @classmethod
    def uses_gpu(cls, request: Request) -> bool:
        """Whether a GPU worker is preferred."""
        return False

    # -- what all kinds do ------------------------------------------------------------------

    def submit(self, request: Request, audit_id: str | None = None, **columns: Any) -> str:
        """Compute in the background; returns the job's key at once.

        A running job, or a finished one that is kept, is reused.
        """
        key = self.find_key(request, audit_id)
        with self._lock:
            known = self._store.find_job(key)
            if known is not None:
                state = find_state(known)
                if state.is_active or (self.is_kept and state is State.DONE):
                    return key
            self._store.add_job(
                key,
                self.name,
                audit_id=audit_id,
                request=request.model_dump(mode="json"),
                **columns,
            )
            future = self._engine.submit(
                run_job,
                type(self),
                str(self._store.home),
                self._store.url,
                key,
                key=f"{self.name}-{key}-{time.monotonic_ns()}",
                uses_gpu=self.uses_gpu(request),
                priority=self.priority,
            )
            self._futures[key] = future
        future.add_done_callback(lambda ended: self._end(key, ended))
        return key

    def find_key(self, request: Request, audit_id: str | None) -> str:
        """Storage key of the request."""
        parts = self.format_parts(request)
        if parts is None:
            return secrets.token_hex(10)
        return make_key(self.name, audit_id, *parts)

    def get(self, key: str) -> Run:
        """One job; raises InputError if it is not stored."""
        run = self._look_up(key)
        if run is None:
            raise InputError(f"{self.name} job", "must be a known one", key, "start it again")
        return run

    def list(self, audit_id: str) -> tuple[Run, ...]:
        """Jobs of an audit, oldest first."""
        return list_runs(self._store, type(self), audit_id)

    def cancel(self, key: str) -> None:
        """Cancel within a second, from any process that shares the home."""
        row = self._store.find_job(key)
        if row is None or not find_state(row).is_active:
            return
        files.raise_flag(self._store.home, key)
        with self._lock:
            future = self._futures.get(key)
        if row.state is State.QUEUED:
            self._store.update_open_job(key, state=State.CANCELLED, reason=str(RunCancelled()))
            if future is not None:
                future.cancel()

    def cancel_all(self, audit_id: str) -> None:
        """Cancel all running jobs of this audit."""
        mine = (JobRow.audit_id == audit_id, JobRow.kind == self.name, JobRow.state.in_(ACTIVE))
        for row in self._store.list_jobs(*mine):
            self.cancel(row.key)

    def forget_graph(self, graph_hash: str) -> None:
        """Delete jobs of a graph that is no longer stored."""
        rows = self._store.list_jobs(JobRow.kind == self.name)
        found = [row.key for row in rows if row.request.get("graph_hash") == graph_hash]
        self._store.delete_jobs(found)

    def wait(self, key: str, timeout: float | None = None) -> bool:
        """Wait for a job watched by this process; False if it still runs after `timeout` s."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            with self._lock:
                is_mine = key in self._futures
            row = self._store.find_job(key)
            if not is_mine or row is None or row.state.is_final:
                return True
            if end is not None and time.monotonic() >= end:
                return False
            time.sleep(0.05)

    def close(self) -> None:
        """Stop; unfinished jobs count as interrupted and can be requested again."""
        with self._lock:
            unfinished = [*self._futures]
        for key in unfinished:
            self._store.update_open_job(key, state=State.INTERRUPTED, reason=CLOSED)

    def _look_up(self, key: str) -> Run | None:
        row = self._store.find_job(key)
        return None if row is None or row.kind != self.name else self.read(row, find_state(row))

    def _end(self, key: str, future: Future[Any]) -> None:
        """Set the final state if the worker died before it could."""
        if future.status != "finished":
            self._store.update_open_job(key, state=State.FAILED, reason=LOST)
        files.clear_flag(self._store.home, key)
        with self._lock:
            if self._futures.get(key) is future:
                del self._futures[key]


def run_job(kind: type[Jobs[Any, Any]], home: str, database: str, key: str) -> State:
    """Compute a recorded job on a worker and store the result; returns its final state."""
    store = open_store(home, database)
    row = store.find_job(key)
    if row is None:
        return State.CANCELLED  # deleted while it waited
    progress = JobProgress(store, key, key)
    job = JobContext(store, key, row.audit_id, progress)

    def compute() -> dict[str, Any]:
        return {"result": kind.compute(kind.request.model_validate(row.request), job)}

    return work(store, key, f"{row.kind} {row.release}".strip(), progress, compute)


def list_runs(store: Store, kind: type[Jobs[Any, Run]], audit_id: str) -> tuple[Run, ...]:
    """Jobs of a kind that belong to an audit, oldest first."""
    rows = store.list_jobs(JobRow.audit_id == audit_id, JobRow.kind == kind.name)
    return tuple(kind.read(row, find_state(row)) for row in rows)


def read_progress(row: Row[Any], state: State) -> dict[str, Any]:
    """Fields of `JobProgress` from a job's row."""
    return {
        "id": row.key,
        "state": state,
        "fraction": row.progress,
        "message": row.message,
        "reason": row.reason,
        "seconds": row.seconds,
    }


def make_key(*parts: Any) -> str:
    """Storage key from the distinguishing parts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]
