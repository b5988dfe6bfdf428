"""Checks of what releases promise: jobs on the cluster, stored beside the audit they belong to.

A check plays the distinguishing game (core.privacy.claim_check) with the settings of a release's
defense. A promise must hold on every pair of neighbouring graphs, so the game takes a tiny pair
of its own, and nothing of the audited graph enters. The same audit, release and number of trials
give the same outcome.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Row

from core.audit.spec import AuditSpec, MethodChoice
from core.audit.store.database import (
    FINAL,
    Store,
    describe_owner,
    is_owner_alive,
    make_timestamp,
    open_store,
)
from core.audit.store.schema import ClaimRow
from core.audit.view import ClaimRun
from core.context import Context
from core.errors import AuditError, InputError, RunCancelled, describe_unexpected
from core.methods import Defense
from core.privacy.claim_check import MIN_TRIALS, ClaimCheck, check_claim
from core.progress import FlaggedProgress, Progress
from core.seeding import Seed

if TYPE_CHECKING:
    from distributed import Future

    from core.audit.jobs.engine import Engine

log = logging.getLogger(__name__)

MAX_TRIALS = 100_000


def play_claim(
    choice: MethodChoice, trials: int, root_seed: int = 0, progress: Progress | None = None
) -> ClaimCheck:
    """Play the game in this process; UnsupportedError where the defense promises nothing."""
    defense = choice.make("defense")
    assert isinstance(defense, Defense)
    seed = Seed(root_seed).child("claim", choice.id, trials)
    return check_claim(defense, Context(seed=seed, progress=progress or Progress()), trials=trials)


def list_claims(store: Store, audit_id: str) -> tuple[ClaimRun, ...]:
    """The checks of an audit's releases, oldest first."""
    query = (
        sa.select(ClaimRow.__table__)
        .where(ClaimRow.audit_id == audit_id)
        .order_by(ClaimRow.created, ClaimRow.id)
    )
    with store.read() as connection:
        return tuple(_read_run(row) for row in connection.execute(query))


class ClaimRuns:
    """The checks that one service plays."""

    def __init__(self, store: Store, engine: Engine) -> None:
        self._store, self._engine = store, engine
        self._futures: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()

    def start(self, audit_id: str, release: str, trials: int) -> str:
        """Check what a release promises, in the background; returns the check's id.

        One with as many trials that is done or runs is not played again. InputError where the
        release is none of the audit's defended ones.
        """
        if not MIN_TRIALS <= trials <= MAX_TRIALS:
            raise InputError("number of trials", f"must be {MIN_TRIALS} to {MAX_TRIALS:,}", trials)
        spec = AuditSpec.model_validate(self._store.find_audit(audit_id).spec)
        choices = {choice.id: choice for choice in spec.defenses}
        if release not in choices:
            raise InputError(
                "release",
                "must be a defended one of the audit",
                release,
                "known: " + (", ".join(choices) or "none"),
            )
        with self._lock:
            known = _find_same(self._store, audit_id, release, trials)
            if known is not None and (known.state == "done" or known.is_active):
                return known.id
            claim_id = known.id if known is not None else f"{Seed.from_entropy().root:032x}"[:10]
            _flag_path(self._store.home, claim_id).unlink(missing_ok=True)
            _put(self._store, claim_id, audit_id, choices[release], release, trials)
            future = self._engine.submit(
                play_on_worker,
                str(self._store.home),
                self._store.url,
                claim_id,
                spec.root_seed,
                key=f"claim-{claim_id}-{time.monotonic_ns()}",
                priority=1,
            )
            self._futures[claim_id] = future
        future.add_done_callback(lambda ended: self._end(claim_id, ended))
        return claim_id

    def list(self, audit_id: str) -> tuple[ClaimRun, ...]:
        """The checks of an audit's releases, oldest first."""
        return list_claims(self._store, audit_id)

    def cancel_all(self, audit_id: str) -> None:
        """Cancel what still runs for this audit."""
        for claim in self.list(audit_id):
            if claim.is_active:
                self.cancel(claim.id)

    def cancel(self, claim_id: str) -> None:
        """Stop it within a second; from any process that shares the home."""
        path = _flag_path(self._store.home, claim_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        with self._lock:
            future = self._futures.get(claim_id)
        if future is not None and _find(self._store, claim_id).state == "queued":
            _update_open(self._store, claim_id, state="cancelled", reason=str(RunCancelled()))
            future.cancel()

    def wait(self, claim_id: str, timeout: float | None = None) -> bool:
        """Wait for a check that this process plays; False if it still runs after `timeout` s."""
        with self._lock:
            future = self._futures.get(claim_id)
        end = None if timeout is None else time.monotonic() + timeout
        while future is not None and _find(self._store, claim_id).state not in FINAL:
            if end is not None and time.monotonic() >= end:
                return False
            time.sleep(0.05)
        return True

    def close(self) -> None:
        """What is not finished counts as interrupted and can be started again."""
        with self._lock:
            unfinished = [*self._futures]
        for claim_id in unfinished:
            _update_open(
                self._store, claim_id, state="interrupted", reason="the application was closed"
            )

    def _end(self, claim_id: str, future: Future[Any]) -> None:
        """A worker writes what came out; it cannot where it died."""
        if future.status != "finished":
            _update_open(self._store, claim_id, state="failed", reason="its worker was lost")
        _flag_path(self._store.home, claim_id).unlink(missing_ok=True)
        with self._lock:
            if self._futures.get(claim_id) is future:
                del self._futures[claim_id]


def play_on_worker(home: str, database: str, claim_id: str, root_seed: int) -> str:
    """Play a recorded check and store its outcome; returns the final state."""
    store = open_store(home, database)
    row = _find(store, claim_id)
    started = time.monotonic()
    values: dict[str, Any]
    try:
        progress = _RowProgress(store, claim_id)
        progress.check()
        _update_open(store, claim_id, state="running")
        choice = MethodChoice.model_validate(row.choice)
        check = play_claim(choice, row.trials, root_seed, progress)
        values = {"state": "done", "progress": 1.0, "result": check.describe()}
    except RunCancelled as error:
        values = {"state": "cancelled", "reason": str(error)}
    except AuditError as error:
        values = {"state": "failed", "reason": str(error)}
    except Exception as error:
        log.exception("claim check of %s", row.release)
        values = {"state": "failed", "reason": describe_unexpected(error)}
    seconds = round(time.monotonic() - started, 3)
    _update_open(store, claim_id, **values, message="", seconds=seconds)
    state: str = values["state"]
    return state


class _RowProgress(FlaggedProgress):
    """Writes to the check's row."""

    def __init__(self, store: Store, claim_id: str) -> None:
        super().__init__(_flag_path(store.home, claim_id))
        self._store, self._id = store, claim_id

    def report(self, share: float, message: str) -> None:
        _update_open(self._store, self._id, progress=share, message=message, heartbeat=time.time())


# -- rows -------------------------------------------------------------------------------------


def _find(store: Store, claim_id: str) -> Row[Any]:
    with store.read() as connection:
        query = sa.select(ClaimRow.__table__).where(ClaimRow.id == claim_id)
        row = connection.execute(query).one_or_none()
    if row is None:
        raise InputError("check of a claim", "must be a known id", claim_id)
    return row


def _find_same(store: Store, audit_id: str, release: str, trials: int) -> ClaimRun | None:
    runs = (run for run in list_claims(store, audit_id) if run.release == release)
    return next((run for run in runs if run.trials == trials), None)


def _put(
    store: Store, claim_id: str, audit_id: str, choice: MethodChoice, release: str, trials: int
) -> None:
    """A fresh row in place of one that came to nothing."""
    with store.write() as connection:
        connection.execute(sa.delete(ClaimRow).where(ClaimRow.id == claim_id))
        connection.execute(
            sa.insert(ClaimRow).values(
                id=claim_id,
                audit_id=audit_id,
                release=release,
                choice=choice.model_dump(),
                trials=trials,
                state="queued",
                progress=0.0,
                message="",
                reason="",
                created=make_timestamp(),
                seconds=0.0,
                owner=describe_owner(),
                heartbeat=time.time(),
            )
        )


def _update_open(store: Store, claim_id: str, **values: Any) -> None:
    """Change a row that is not final: of two endings the first one counts."""
    with store.write() as connection:
        connection.execute(
            sa.update(ClaimRow)
            .where(ClaimRow.id == claim_id, ClaimRow.state.not_in(FINAL))
            .values(values)
        )


def _read_run(row: Row[Any]) -> ClaimRun:
    state = row.state
    if state in ("queued", "running") and not is_owner_alive(row.owner, row.heartbeat):
        state = "interrupted"
    return ClaimRun(
        id=row.id,
        release=row.release,
        trials=row.trials,
        state=state,
        fraction=row.progress,
        message=row.message,
        reason=row.reason,
        seconds=row.seconds,
        check=ClaimCheck.restore(row.result) if row.result else None,
    )


def _flag_path(home: Path, claim_id: str) -> Path:
    return home / "claims" / claim_id
