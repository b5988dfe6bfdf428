"""Audits that are killed, lose power, fill the disk, meet a locked database or damaged files.

    python -m tests.reliability.bad_days [--count 100] [--seed 0] [--only KIND]

Each day starts an audit of a small graph on SQLite, lets something happen at a random moment and
runs the audit again. The day is survived if its results are those of an undisturbed audit, and no
cell that was reported as finished is forgotten or computed again (but a damaged one). What stands
for what:

kill        SIGKILL of the process that computes, at a random moment
power cut   file system calls of a traced audit, replayed up to a random one; see disk.py
full disk   SQLite's own error for a database that may not grow, and ENOSPC from half-written
            arrays, until space is there again
lock        another process's exclusive transaction, held beyond what SQLite itself waits
damage      a stored file truncated, flipped, emptied or deleted
far folder  handles that are stale when a file is opened or renamed, and renames whose answer was
            lost, so that the second request finds nothing to rename, as NFS has both
"""

from __future__ import annotations

import argparse
import errno
import logging
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import sqlalchemy as sa

from core.audit.asked.spec import AuditSpec
from core.audit.jobs import cells
from core.audit.results.export import describe_audit
from core.audit.store import connect, database, files, retry
from core.audit.store.database import Store, open_store
from core.audit.store.states import State
from core.errors import AuditError
from tests import inline
from tests.oracles.graphs import two_communities
from tests.reliability.disk import Disk, Event, trace

ROOT = Path(__file__).parents[2]
GRAPH = two_communities()
SPEC = AuditSpec.check_spec(
    {
        "graph_hash": GRAPH.content_hash,
        "private": "private",
        "known": 0.3,
        "hide_links": 0.1,
        "test_links": 0.0,
        "num_repeats": 1,
        "attacks": [{"key": "common_neighbors"}, {"key": "label_propagation"}],
        "defenses": [{"key": "random_deletion"}],
    }
)


@dataclass(frozen=True)
class Recording:
    """Calls of an undisturbed audit, and the home that they were about."""

    events: list[Event]
    home: Path


@dataclass(frozen=True)
class Day:
    """Where an audit runs, what it is to give, and chance.

    seconds    that an undisturbed audit takes
    recording  what one did to its home
    """

    home: Path
    expected: list[dict[str, Any]]
    rng: np.random.Generator
    seconds: float
    recording: Recording


def compute(home: Path, say: Callable[[str], object] = lambda key: None) -> list[dict[str, Any]]:
    """The audit's results; `say` is called with the key of each cell that is finished."""
    sound = inline.execute_cell

    def execute(job: Any) -> State:
        state = sound(job)
        if state is State.DONE:
            say(job.cell.key)
        return state

    try:
        with mock.patch.object(inline, "execute_cell", execute):
            view = inline.run_inline(SPEC, GRAPH, home)
        results: list[dict[str, Any]] = describe_audit(view)["results"]
        return results
    finally:
        _forget(home.resolve())


def _forget(home: Path) -> None:
    """Close and drop what a worker keeps: the next audit is another process's."""
    open_store(str(home), f"sqlite:///{home / 'audit.db'}").close()
    for kept in (open_store, cells._load_graph, cells._draw):
        kept.cache_clear()


def record(home: Path) -> None:
    """Compute, and write the keys of finished cells to the file `home`.said."""
    with open(f"{home}.said", "wb", buffering=0) as said:
        compute(home, lambda key: said.write(f"{key}\n".encode()))


def check_day(
    day: Day, finished: set[str], damaged: frozenset[str] = frozenset()
) -> tuple[int, str]:
    """Run the audit again; how many finished cells were lost, and what else went wrong."""
    kept: dict[str, str] = {}
    if (day.home / "audit.db").exists():
        kept = _list_finished(day.home)
    lost = (finished - damaged) - kept.keys()
    results = compute(day.home)
    after = _list_finished(day.home)
    lost |= {key for key in kept.keys() - damaged if after.get(key) != kept[key]}
    return len(lost), "" if results == day.expected else "other results"


def _list_finished(home: Path) -> dict[str, str]:
    """Key → time of the finished cells that are whole."""
    store = Store(home)
    try:
        rows = store.list_jobs()
        return {r.key: r.finished for r in rows if r.state is State.DONE and _is_whole(home, r)}
    finally:
        store.close()


def _is_whole(home: Path, row: Any) -> bool:
    return files.is_whole(home, row.key)


# -- what happens -----------------------------------------------------------------------------


def kill(day: Day) -> tuple[int, str]:
    delay = float(day.rng.uniform(0, day.seconds))
    pid = os.fork()
    if not pid:
        try:
            record(day.home)
        finally:
            os._exit(0)
    time.sleep(delay)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    said = Path(f"{day.home}.said")
    return check_day(day, set(said.read_text().split()) if said.exists() else set())


def cut_power(day: Day) -> tuple[int, str]:
    events = day.recording.events
    moment = int(day.rng.integers(len(events) + 1))
    disk, finished = Disk(), set()
    for event in events[:moment]:
        disk.apply(event)
        if event[0] == "said":
            finished.add(event[1].decode().strip())
    day.home.mkdir()
    disk.write_survivors(day.recording.home, day.home, day.rng)
    return check_day(day, finished)


def fill_disk(day: Day) -> tuple[int, str]:
    finished: set[str] = set()
    chance = random.Random(int(day.rng.integers(1 << 30)))
    remaining = [int(day.rng.integers(1, 12))]
    sound = files.write_npz

    def is_full() -> bool:
        full = remaining[0] > 0 and bool(finished) and chance.random() < 0.5
        remaining[0] -= full
        return full

    def write(path: Path, arrays: files.Arrays) -> None:
        sound(path, arrays)
        if is_full():
            os.truncate(path, path.stat().st_size // 2)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def limit(connection: Any) -> None:
        most = 1 if is_full() else 1 << 30  # SQLite takes at least what it has
        connection.exec_driver_sql(f"PRAGMA max_page_count={most}").close()

    with _every_engine(limit), mock.patch.object(files, "write_npz", write):
        results = compute(day.home, finished.add)
    lost, problem = check_day(day, finished)
    return lost, problem or ("" if results == day.expected else "other results")


def lock(day: Day) -> tuple[int, str]:
    finished: set[str] = set()
    Store(day.home).close()
    waits = day.rng.uniform(0.0, 0.1, 400)
    over = threading.Event()

    def hold() -> None:
        other = sqlite3.connect(day.home / "audit.db", isolation_level=None, timeout=5)
        for wait in waits:
            try:
                other.execute("BEGIN IMMEDIATE")
                time.sleep(wait)
                other.execute("COMMIT")
            except sqlite3.OperationalError:
                continue
            if over.wait(wait):
                break
        other.close()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        with mock.patch.object(connect, "BUSY_MS", 5):
            results = compute(day.home, finished.add)
    finally:
        over.set()
        thread.join()
    lost, problem = check_day(day, finished)
    return lost, problem or ("" if results == day.expected else "other results")


def damage(day: Day) -> tuple[int, str]:
    compute(day.home)
    found = sorted([*day.home.glob("cells/*/*/*"), *day.home.glob("graphs/*")])
    path = found[int(day.rng.integers(len(found)))]
    content = bytearray(path.read_bytes())
    how = int(day.rng.integers(4))
    if how == 0:
        path.unlink()
    else:
        if how == 1:
            del content[int(day.rng.integers(len(content))) :]
        elif how == 2:
            content[int(day.rng.integers(len(content)))] ^= 1 << int(day.rng.integers(8))
        else:
            content.clear()
        path.write_bytes(bytes(content))
    is_cell = path.parent.name != "graphs"
    damaged = frozenset({path.parent.name} if is_cell else ())
    return check_day(day, set(), damaged)


def go_far(day: Day) -> tuple[int, str]:
    finished: set[str] = set()
    fresh = [0]

    def fail(number: int) -> None:
        raise OSError(number, os.strerror(number))

    def reach() -> None:
        """A file that was just opened again is not stale."""
        fresh[0] -= 1
        if fresh[0] <= 0 and day.rng.random() < 0.3:
            fresh[0] = 4
            fail(errno.ESTALE)

    def move(sound: Callable[..., Path]) -> Callable[..., Path]:
        def call(path: Path, target: Path) -> Path:
            reach()
            moved = sound(path, target)
            if day.rng.random() < 0.3:
                fail(errno.ENOENT)
            return moved

        return call

    sound_open = Path.open

    def open_file(path: Path, mode: str = "r", *more: Any, **options: Any) -> Any:
        if "r" in mode and day.home in path.parents:
            reach()
        return sound_open(path, mode, *more, **options)

    with (
        mock.patch.object(Path, "rename", move(Path.rename)),
        mock.patch.object(Path, "replace", move(Path.replace)),
        mock.patch.object(Path, "open", open_file),
    ):
        results = compute(day.home, finished.add)
        lost, problem = check_day(day, finished)
    return lost, problem or ("" if results == day.expected else "other results")


KINDS: dict[str, Callable[[Day], tuple[int, str]]] = {
    "kill": kill,
    "power cut": cut_power,
    "full disk": fill_disk,
    "lock": lock,
    "damage": damage,
    "far folder": go_far,
}


@contextmanager
def _every_engine(begin: Callable[[Any], None]) -> Iterator[None]:
    """`begin` is called with the connection of every transaction."""
    sound = database.open_engine

    def open_engine(*arguments: Any) -> sa.Engine:
        engine = sound(*arguments)
        sa.event.listen(engine, "begin", begin)
        return engine

    with mock.patch.object(database, "open_engine", open_engine):
        yield


# -- many days --------------------------------------------------------------------------------


def record_calls(folder: Path) -> Recording:
    """What an undisturbed audit does to its home, call by call."""
    home = folder / "home"
    command = [sys.executable, "-m", "tests.reliability.bad_days", "--record", str(home)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return Recording(trace(command, home, folder / "calls", cwd=ROOT, env=environment), home)


def try_days(
    count: int, seed: int, only: str = "", recording: Recording | None = None
) -> tuple[dict[str, Counter[str]], list[str]]:
    """(kind → tried, survived, lost; what went wrong) of `count` days of each kind."""
    logging.getLogger("core").setLevel(logging.CRITICAL)
    totals: dict[str, Counter[str]] = {}
    problems: list[str] = []
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="bad-days-") as name,
        mock.patch.object(retry, "FIRST_WAIT_S", 0.005),
        mock.patch.object(retry, "LONGEST_WAIT_S", 0.05),
    ):
        folder = Path(name)
        compute(folder / "first")  # imports and compiles
        before = time.monotonic()
        expected = compute(folder / "sound")
        seconds = time.monotonic() - before
        kinds = [only] if only else [k for k in KINDS if k != "power cut" or shutil.which("strace")]
        if recording is None:
            is_needed = "power cut" in kinds
            recording = record_calls(folder) if is_needed else Recording([], folder)
        for kind in kinds:
            total = totals[kind] = Counter()
            for number in range(count):
                rng = np.random.default_rng([seed, number, list(KINDS).index(kind)])
                home = folder / f"{number}"
                day = Day(home, expected, rng, seconds, recording)
                try:
                    lost, problem = KINDS[kind](day)
                except AuditError as error:
                    lost, problem = 0, str(error)
                total.update(tried=1, survived=not (lost or problem), lost=lost)
                if lost or problem:
                    problems.append(f"{kind} {number}: {lost} finished cells lost; {problem}")
                shutil.rmtree(home, ignore_errors=True)
                Path(f"{home}.said").unlink(missing_ok=True)
            shown = ", ".join(f"{name} {total[name]}" for name in ("tried", "survived", "lost"))
            print(f"{kind}: {shown} ({time.monotonic() - started:.0f} s)", flush=True)
    return totals, problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="days of each kind (100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", choices=["", *KINDS])
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.record is not None:
        record(options.record)
        return
    _, problems = try_days(options.count, options.seed, options.only)
    for line in problems:
        print(line)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
