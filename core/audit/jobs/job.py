"""A kind of job: what is asked for, what a worker computes, and the one way to run and watch it.

A kind is a subclass of `Jobs` that names its request's model and says what to compute; see
claims.py, advice.py and publish.py. Everything about a job lies in the store: its row in `jobs`,
its arrays in AUDIT_HOME/cells, and while it is to be cancelled its flag. Cells of audits are rows
of the same table and end by the same rules (worker.py), but audits share and order them
(coordinate.py).
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel
from sqlalchemy.engine import Row

from core.audit.jobs.worker import StoredProgress, work
from core.audit.states import ACTIVE, State
from core.audit.store import files
from core.audit.store.database import Store, open_store
from core.audit.store.liveness import find_state
from core.audit.store.retry import keep_trying
from core.audit.store.schema import JobRow
from core.context import Context
from core.device import compute_memory_budget, cpu_device, find_device
from core.errors import InputError, RunCancelled
from core.graph import Graph
from core.progress import Progress
from core.seeding import Seed

if TYPE_CHECKING:
    from distributed import Future

    from core.audit.jobs.engine import Engine

Request = TypeVar("Request", bound=BaseModel)
Run = TypeVar("Run")

LOST = "its worker was lost; try again"
CLOSED = "the application was closed"


@dataclass(frozen=True)
class JobContext:
    """What a worker gives a kind to compute with."""

    store: Store
    key: str
    audit_id: str | None
    progress: Progress

    def make_context(self, seed: Seed, uses_gpu: bool = False, **fields: Any) -> Context:
        """The context of a method that runs here."""
        device = find_device() if uses_gpu else cpu_device()
        return Context(
            seed=seed,
            device=device,
            progress=self.progress,
            memory_budget=compute_memory_budget(device),
            **fields,
        )

    def load_graph(self, graph_hash: str) -> Graph:
        """A stored graph; InputError if it is missing or damaged."""
        return self.store.load_graph(graph_hash)

    def save_arrays(self, arrays: files.Arrays) -> None:
        """Keep arrays under the job's key."""
        save = partial(files.save_cell, self.store.home, self.key, arrays)
        keep_trying(save, self.store.tell, self.progress.check)


class Jobs(ABC, Generic[Request, Run]):
    """All jobs of one kind; thread-safe, and one object serves a whole process.

    name       of the kind, in the store
    request    model of what is asked for
    priority   above 0: before the cells of audits
    is_kept    a finished job is not run again by the same request
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
        """On a worker: what came out, as JSON; arrays go to `job.save_arrays`."""

    @classmethod
    @abstractmethod
    def read(cls, row: Row[Any], state: State) -> Run:
        """A row as pages read it; `state` is the row's, or INTERRUPTED where its owner died."""

    @classmethod
    def format_parts(cls, request: Request) -> tuple[Any, ...] | None:
        """What tells requests of one audit apart; None: each is a job of its own."""
        return None

    @classmethod
    def uses_gpu(cls, request: Request) -> bool:
        """Whether a worker with a GPU should have it."""
        return False

    # -- what all kinds do ------------------------------------------------------------------

    def submit(self, request: Request, audit_id: str | None = None, **columns: Any) -> str:
        """Compute it in the background; returns the job's key at once.

        A job that runs already, or is done and kept, is not run again.
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
        """Under which key such a job is stored."""
        parts = self.format_parts(request)
        if parts is None:
            return f"{Seed.from_entropy().root:032x}"[:20]
        return make_key(self.name, audit_id, *parts)

    def get(self, key: str) -> Run:
        """InputError for a job that is not stored (any more)."""
        row = self._store.find_job(key)
        if row is None or row.kind != self.name:
            raise InputError(f"{self.name} job", "must be a known one", key, "start it again")
        return self.read(row, find_state(row))

    def list(self, audit_id: str) -> tuple[Run, ...]:
        """Those of an audit, oldest first."""
        return list_runs(self._store, type(self), audit_id)

    def cancel(self, key: str) -> None:
        """Stop it within a second; from any process that shares the home."""
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
        """Cancel what still runs for this audit."""
        mine = (JobRow.audit_id == audit_id, JobRow.kind == self.name, JobRow.state.in_(ACTIVE))
        for row in self._store.list_jobs(*mine):
            self.cancel(row.key)

    def forget_graph(self, graph_hash: str) -> None:
        """Delete the jobs that asked for a graph that is no longer stored."""
        rows = self._store.list_jobs(JobRow.kind == self.name)
        found = [row.key for row in rows if row.request.get("graph_hash") == graph_hash]
        self._store.delete_jobs(found)

    def wait(self, key: str, timeout: float | None = None) -> bool:
        """Wait for a job that this process watches; False if it still runs after `timeout` s."""
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
        """What is not finished counts as interrupted and can be asked for again."""
        with self._lock:
            unfinished = [*self._futures]
        for key in unfinished:
            self._store.update_open_job(key, state=State.INTERRUPTED, reason=CLOSED)

    def _end(self, key: str, future: Future[Any]) -> None:
        """A worker writes what came out; it cannot where it died."""
        if future.status != "finished":
            self._store.update_open_job(key, state=State.FAILED, reason=LOST)
        files.clear_flag(self._store.home, key)
        with self._lock:
            if self._futures.get(key) is future:
                del self._futures[key]


def run_job(kind: type[Jobs[Any, Any]], home: str, database: str, key: str) -> State:
    """On a worker: compute a recorded job and store what came out; returns its final state."""
    store = open_store(home, database)
    row = store.find_job(key)
    if row is None:
        return State.CANCELLED  # deleted while it waited
    progress = StoredProgress(store, key, key)
    job = JobContext(store, key, row.audit_id, progress)

    def compute() -> dict[str, Any]:
        return {"result": kind.compute(kind.request.model_validate(row.request), job)}

    return work(store, key, f"{row.kind} {row.release}".strip(), progress, compute)


def list_runs(store: Store, kind: type[Jobs[Any, Run]], audit_id: str) -> tuple[Run, ...]:
    """The jobs of a kind that belong to an audit, oldest first."""
    rows = store.list_jobs(JobRow.audit_id == audit_id, JobRow.kind == kind.name)
    return tuple(kind.read(row, find_state(row)) for row in rows)


def make_key(*parts: Any) -> str:
    """A key from what tells a job apart."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]
