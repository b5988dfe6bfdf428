"""One thread per running audit: submits its cells to the cluster and updates its row."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from threadpoolctl import threadpool_limits

from core.audit.asked.spec import AuditSpec
from core.audit.computing.cell import Cell
from core.audit.jobs.cells import Job, compute_and_store, execute_cell
from core.audit.jobs.engine import Engine, UnreachableError
from core.audit.store import files
from core.audit.store.database import Lease, LeaseLostError, Store
from core.audit.store.liveness import HEARTBEAT_S
from core.audit.store.retry import StoreError, describe_trouble, find_retry_limit
from core.audit.store.states import State
from core.errors import describe_unexpected
from core.words import count_noun

if TYPE_CHECKING:
    from distributed import Future
    from sqlalchemy import Row

log = logging.getLogger(__name__)

GRACE_S = 3.0
"""Seconds a cancelled cell may take to stop before its worker is killed."""

MAX_ROUNDS = 4
"""Maximum number of times that cells without a result are resubmitted."""


class InFlight:
    """Cells being computed by this process, so that two audits share them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.futures: dict[str, Future[Any]] = {}


class AuditRun(threading.Thread):
    """Computes the missing cells of an audit and sets its final state."""

    def __init__(
        self,
        store: Store,
        engine: Engine,
        in_flight: InFlight,
        lease: Lease,
        spec: AuditSpec,
        cells: list[Cell],
        seconds: float,
        first: Sequence[Cell] = (),
        is_decided: Callable[[int], bool] | None = None,
    ) -> None:
        """Prepare the thread; `start` runs it.

        first       cells that need no worker; they are computed here while the cluster starts
        is_decided  called with the number of finished repeats; True ends the audit before the rest
        """
        super().__init__(name=f"audit {lease.audit_id}", daemon=True)
        self._store, self._engine, self._in_flight = store, engine, in_flight
        self._lease, self._audit_id = lease, lease.audit_id
        self._spec, self._cells, self._first = spec.model_dump_json(), cells, first
        self._spent, self._since, self._beaten = seconds, time.monotonic(), 0.0
        self._is_decided = is_decided
        self._flag = files.flag_path(store.home, lease.audit_id)
        self._stop_asked = threading.Event()
        self.ended: tuple[State, str] | None = None
        """Final state and note, whether or not they could be stored."""
        self._trouble = ""
        self._stragglers: list[Future[Any]] = []
        self._was_connected = False
        self._over = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether the run has ended, within `timeout` seconds.

        Does not use `join`: an interrupt makes Python take a running thread for an ended one
        (CPython issue 90882).
        """
        return self._over.wait(timeout)

    @property
    def is_over(self) -> bool:
        """Whether the audit's row has its final state."""
        return self._over.is_set()

    def run(self) -> None:
        """Submit missing cells until all are done or the run is stopped."""
        try:
            self._run()
        finally:
            self._over.set()

    def _run(self) -> None:
        try:
            self.ended = self._compute_all()
        except LeaseLostError as error:
            log.warning("%s", error)
            return  # what becomes of the audit is the other process's to say
        except StoreError as error:
            self.ended = State.INTERRUPTED, str(error)
        except Exception as error:
            log.exception("audit %s", self._audit_id)
            is_lost = isinstance(error, UnreachableError) and self._was_connected
            self.ended = State.INTERRUPTED if is_lost else State.FAILED, describe_unexpected(error)
            if self._flag.exists():  # the engine was going down already
                self.ended = State.CANCELLED, "cancelled by the user"
            elif self._stop_asked.is_set():
                self.ended = State.INTERRUPTED, "the application was closed"
        try:
            self._store.end_audit(self._lease, *self.ended, self._seconds)
        except LeaseLostError as error:
            log.warning("%s", error)
            self.ended = None
        except Exception as error:  # the row says "running", so the service asks `ended`
            log.exception("audit %s", self._audit_id)
            self.ended = State.INTERRUPTED, describe_unexpected(error)
        if self._stragglers and not self._stop_asked.is_set():
            self._engine.restart_workers(self._stragglers)
        files.delete_shared(self._store.home, self._audit_id)

    def stop(self) -> None:
        """Stop without waiting; finished cells stay and the audit can be resumed."""
        self._stop_asked.set()

    @property
    def _seconds(self) -> float:
        return round(self._spent + time.monotonic() - self._since, 3)

    def _compute_all(self) -> tuple[State, str]:
        healed = self._store.requeue_damaged_cells(self._audit_id)
        note = f"{count_noun(healed, 'damaged part')} set aside and computed again" * bool(healed)
        tried = self._compute_first()
        parts = self._split_repeats()
        for number, part in enumerate(parts, 1):
            if interruption := self._compute(part, tried):
                return interruption
            if number < len(parts) and self._is_decided and self._is_decided(number):
                rest = [cell.key for later in parts[number:] for cell in later]
                self._store.drop_cells(self._lease, rest)
                ended = f"ended after {number} of at most {len(parts)} repeats"
                return State.DONE, "; ".join(filter(None, [note, ended]))
        return State.DONE, note

    def _split_repeats(self) -> list[list[Cell]]:
        """Cells grouped by repeat if the audit may stop between two, else one group."""
        if self._is_decided is None:
            return [self._cells]
        repeats = sorted({cell.repeat for cell in self._cells})
        return [[c for c in self._cells if c.repeat == repeat] for repeat in repeats]

    def _compute(self, cells: list[Cell], tried: set[str]) -> tuple[State, str] | None:
        """Compute missing cells; returns state and note if the audit was stopped."""
        for _ in range(MAX_ROUNDS):
            missing = self._find_missing(cells, tried)
            if not missing:
                return None
            if interruption := self._find_interruption():
                return interruption
            futures = self._submit(missing)
            try:
                interruption = self._wait(futures)
            finally:
                self._forget(futures)
            if interruption:
                return interruption
            tried.update(
                row.key for row in self._list_states() if row.state in (State.FAILED, State.DONE)
            )
        lost = [cell.key for cell in self._find_missing(cells, tried)]
        reason = "the worker was lost each time it computed this cell"
        self._store.fail_cells(self._lease, lost, reason)
        return None

    def _compute_first(self) -> set[str]:
        """Compute cells that need no worker until the cluster is ready; returns failed keys."""
        failed: set[str] = set()
        missing = {cell.key for cell in self._find_missing(self._cells, failed)}
        first = [cell for cell in self._first if cell.key in missing]
        if not first:
            return failed
        start = self._engine.connect_early()
        start.join(0.1)  # one that runs already is there at once
        for cell in first:
            if not start.is_alive() or self._find_interruption():
                break
            # One thread, as a worker has it, and under the lock, so that no other audit of this
            # process computes the same cell.
            with self._in_flight.lock, threadpool_limits(1):
                if compute_and_store(self._store, self._make_job(cell)) is State.FAILED:
                    failed.add(cell.key)
            self._beat()
        return failed

    def _find_interruption(self) -> tuple[State, str] | None:
        """State and note if the audit was asked to stop."""
        if self._flag.exists():
            return State.CANCELLED, "cancelled by the user"
        if self._stop_asked.is_set():
            return State.INTERRUPTED, "the application was closed"
        return None

    def _make_job(self, cell: Cell) -> Job:
        return Job(str(self._store.home), self._store.url, self._audit_id, self._spec, cell)

    def _find_missing(self, cells: list[Cell], tried: set[str]) -> list[Cell]:
        kept = {row.key for row in self._list_states() if row.state.is_kept} | tried
        return [cell for cell in cells if cell.key not in kept]

    def _list_states(self) -> list[Row[Any]]:
        return self._store.list_cells(self._audit_id, "key", "state")

    def _connect(self) -> None:
        """Connect, waiting for a scheduler that was reachable before."""
        end = time.monotonic() + (find_retry_limit() if self._was_connected else 0)
        while True:
            try:
                self._engine.connect()
                self._was_connected = True
                return
            except UnreachableError:
                if self._flag.exists() or self._stop_asked.is_set() or time.monotonic() >= end:
                    raise
                self._tell("the scheduler cannot be reached")

    def _submit(self, cells: list[Cell]) -> dict[str, Future[Any]]:
        self._connect()
        futures: dict[str, Future[Any]] = {}
        followers: dict[str, list[Cell]] = {}
        for cell in cells:
            followers.setdefault(cell.after, []).append(cell)
        for position, cell in enumerate(cells):
            with self._in_flight.lock:
                known = self._in_flight.futures.get(cell.key)
                if known is None or known.done():
                    following = followers.get(cell.key, ())
                    members = [key for each in (cell, *following) for key in each.members]
                    earlier = (cell.upstream, cell.after, *members)
                    known = self._engine.submit(
                        execute_cell,
                        replace(self._make_job(cell), followers=tuple(following)),
                        after=[futures[key] for key in earlier if key in futures],
                        key=f"{cell.key}-{time.monotonic_ns()}",
                        uses_gpu=cell.uses_gpu,
                        priority=-position,
                    )
                    for each in (cell, *following):
                        self._in_flight.futures[each.key] = known
            futures[cell.key] = known
        return futures

    def _wait(self, futures: dict[str, Future[Any]]) -> tuple[State, str] | None:
        """None when all cells have ended, else state and note of an interruption."""
        ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        for key, future in futures.items():
            future.add_done_callback(lambda _future, key=key: ended.put(key))
        pending = dict(futures)
        while pending:
            try:
                key = ended.get(timeout=0.1)
                self._take(key, pending.pop(key))
            except queue.Empty:
                pass
            if interruption := self._find_interruption():
                if interruption[0] is State.CANCELLED:
                    self._cancel(pending)
                return interruption
            if not self._engine.is_alive:
                return None  # the next round starts a new cluster and asks the store
            self._beat()
        return None

    def _take(self, key: str, future: Future[Any]) -> None:
        """Handle a cell whose worker died repeatedly or whose code did not start."""
        if future.status == "error":
            error = future.exception()
            killed = type(error).__name__ == "KilledWorker"
            reason = "its worker died four times (out of memory?)" if killed else repr(error)
            self._store.fail_cells(self._lease, [key], reason)

    def _cancel(self, pending: dict[str, Future[Any]]) -> None:
        """Withdraw waiting cells; running ones see the flag or become stragglers."""
        mine = {k: f for k, f in pending.items() if self._in_flight.futures.get(k) is f}
        running = self._list_running()
        busy = [mine[key] for key in running & mine.keys()]
        for future in mine.values():
            if future not in busy:  # a task computes a cell and those that follow it
                future.cancel()
        deadline = time.monotonic() + GRACE_S
        while running and time.monotonic() < deadline:
            time.sleep(0.05)
            running = self._list_running()
        self._stragglers = [mine[key] for key in running & mine.keys()]

    def _list_running(self) -> set[str]:
        return {row.key for row in self._list_states() if row.state is State.RUNNING}

    def _forget(self, futures: dict[str, Future[Any]]) -> None:
        with self._in_flight.lock:
            for key, future in futures.items():
                if self._in_flight.futures.get(key) is future:
                    del self._in_flight.futures[key]

    def _beat(self) -> None:
        now = time.monotonic()
        if now - self._beaten >= HEARTBEAT_S:
            self._beaten = now
            try:
                self._store.beat(self._lease, self._seconds)
            except (sa.exc.DBAPIError, OSError) as error:
                self._tell(describe_trouble(error) or describe_unexpected(error))

    def _tell(self, trouble: str) -> None:
        """Report each cause once, without blocking, so that a cancel is noticed."""
        if trouble != self._trouble:
            self._trouble = trouble
            self._store.notify(f"paused: {trouble}; trying again")
