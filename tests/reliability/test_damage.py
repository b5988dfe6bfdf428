"""A bad day: what is damaged is computed again, and a trouble that passes is waited for."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import threading
import time
import zipfile
from dataclasses import fields, replace

import numpy as np
import pytest
import sqlalchemy as sa

from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.jobs import coordinate
from core.audit.jobs.engine import Engine, UnreachableError
from core.audit.results.export import describe_audit
from core.audit.results.view import wrap_readers
from core.audit.service import AuditService
from core.audit.store import connect, files, retry
from core.audit.store.database import Lease, Store
from core.audit.store.files import ARRAYS, CHECKSUM
from core.audit.store.retry import StoreError, keep_trying
from core.audit.store.states import State
from core.errors import DamagedError, InputError
from core.link_table import LinkColumn, LinkTable
from core.release import ORIGINAL
from tests.figures.conftest import make_view
from tests.inline import run_inline
from tests.oracles.graphs import two_communities

LEASE = Lease("a", 1)


@pytest.fixture(scope="module")
def graph():
    return two_communities()


@pytest.fixture(scope="module")
def spec(graph):
    return AuditSpec.check_spec(
        {
            "graph_hash": graph.content_hash,
            "private": "private",
            "known": 0.3,
            "hide_links": 0.1,
            "test_links": 0.0,
            "num_repeats": 1,
            "attacks": [{"key": "common_neighbors"}],
            "defenses": [{"key": "random_deletion"}],
        }
    )


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    yield store
    store.close()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(retry, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(retry, "LONGEST_WAIT_S", 0.05)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


def flip(path):
    content = bytearray(path.read_bytes())
    content[content.index(b"edges.npy") + 300] ^= 1  # inside the links
    path.write_bytes(content)


DAMAGES = {
    "truncated": truncate,
    "flipped": flip,
    "emptied": lambda path: path.write_bytes(b""),
    "deleted": lambda path: path.unlink(),
    "folder deleted": lambda path: files.shutil.rmtree(path.parent),
    "checksum deleted": lambda path: (path.parent / CHECKSUM).unlink(),
    "checksum damaged": lambda path: (path.parent / CHECKSUM).write_bytes(b"\xff"),
}


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_a_damaged_cell_is_set_aside_and_computed_again(store, spec, graph, name):
    view = run_inline(spec, graph, store.home, store=store)
    release = next(
        cell for cell in plan_audit(PreparedAudit.build(spec, graph)) if cell.kind == "publish"
    )
    path = files.cell_folder(store.home, release.key) / ARRAYS
    before = path.read_bytes()
    DAMAGES[name](path)
    with pytest.raises(DamagedError, match="as they were written"):
        files.load_cell(store.home, release.key)
    assert store.requeue_damaged_cells(view.summary.id) == 1
    assert store.find_job(release.key).state == "queued"
    assert bool(list(store.home.glob("damaged/*"))) == (name != "folder deleted")
    again = run_inline(spec, graph, store.home, store=store)
    assert describe_audit(again)["results"] == describe_audit(view)["results"]
    assert path.read_bytes() == before
    assert store.requeue_damaged_cells(again.summary.id) == 0


def test_a_view_of_a_damaged_audit_says_what_to_do(tmp_path, spec, graph):
    view = run_inline(spec, graph, tmp_path)
    service = AuditService(tmp_path)
    try:
        attack = next(
            cell for cell in plan_audit(PreparedAudit.build(spec, graph)) if cell.kind == "attack"
        )
        truncate(files.cell_folder(tmp_path, attack.key) / ARRAYS)
        broken = service.get_view(view.summary.id)
        assert broken.summary.state == "interrupted"
        assert broken.summary.cells_done == view.summary.cells_done - 1
        assert "resume" in service.get_progress(view.summary.id).note
    finally:
        service.close()


@pytest.fixture
def cell(tmp_path):
    arrays = {"first": np.arange(500.0), "second": np.arange(500)}
    files.save_cell(tmp_path, "cell", arrays)
    return files.cell_folder(tmp_path, "cell")


def load(folder, *names):
    return files.load_cell(folder.parents[2], folder.name, names or None)


def flip_first(folder):
    content = bytearray((folder / ARRAYS).read_bytes())
    content[content.index(b"first.npy") + 300] ^= 1
    (folder / ARRAYS).write_bytes(content)


def test_one_array_of_a_cell_is_checked_as_it_is_read(cell):
    assert list(load(cell, "second")) == ["second"]
    flip_first(cell)
    for names in ([], ["first"]):
        with pytest.raises(DamagedError):
            load(cell, *names)
    assert np.array_equal(load(cell, "second")["second"], np.arange(500))


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_cell_of_an_earlier_version_is_checked_in_full_once(cell, is_damaged):
    written = (cell / CHECKSUM).read_text()
    first_line = written.splitlines()[0]
    (cell / CHECKSUM).write_text(first_line)
    if is_damaged:
        flip_first(cell)
        with pytest.raises(DamagedError):
            load(cell, "second")
        assert (cell / CHECKSUM).read_text() == first_line
    else:
        assert load(cell)["first"].tolist() == load(cell, "first")["first"].tolist()
        assert (cell / CHECKSUM).read_text() == written
    assert sorted(path.name for path in cell.iterdir()) == sorted([ARRAYS, CHECKSUM])


def test_another_cells_arrays_are_not_taken_for_a_cells_own(cell, tmp_path):
    """A sound archive, whose own checksums are right, but not the one that was written."""
    files.save_cell(tmp_path, "other", {"first": np.ones(500), "second": np.zeros(500)})
    (files.cell_folder(tmp_path, "other") / ARRAYS).replace(cell / ARRAYS)
    with pytest.raises(DamagedError):
        load(cell, "second")


@pytest.mark.parametrize("text", ["", "0", "\n1 2", "0\n-1 0", "0\n" + "9" * 30 + " 0", "\n\n"])
def test_a_damaged_checksum_says_so(cell, text):
    (cell / CHECKSUM).write_text(text)
    with pytest.raises(DamagedError):
        load(cell, "second")


READERS = {
    "nodes": ("risk", lambda view: view.nodes),
    "profile": ("degree", lambda view: view.profile),
    "curves": ("tpr", lambda view: view.rocs),
    "margins": ("margin", lambda view: view.load_margins(ORIGINAL, "class_prior")),
    "label": ("label_margin", lambda view: view.load_margins(ORIGINAL, None)),
    "release": ("edges", lambda view: view.load_release("pseudonyms", 0)),
    "sample": ("sample_links", lambda view: view.load_sample("random_deletion")),
    "columns of links": (
        "link_table_info",
        lambda view: view.link_channels.find_leaving("random_deletion"),
    ),
}
"""Reader → the array that is damaged in each cell that has it, and what is called."""


def damage_cells(home, name):
    """Flip a byte of one array in each cell that has it; returns their keys."""
    found = []
    for path in sorted(home.glob(f"cells/**/{ARRAYS}")):
        with zipfile.ZipFile(path) as archive:
            place = {part.filename: part.header_offset for part in archive.infolist()}
            if f"{name}.npy" not in place:
                continue
            content = archive.read(f"{name}.npy")
        stored = bytearray(path.read_bytes())
        stored[stored.index(content, place[f"{name}.npy"]) + len(content) - 1] ^= 1
        path.write_bytes(stored)
        found.append(path.parent.name)
    return found


@pytest.mark.parametrize("reader", READERS)
def test_whoever_reads_damage_sets_it_aside_so_that_the_audit_resumes(tmp_path, spec, reader):
    """ "Resume the audit" stood beside an audit that was done, and nothing could be resumed."""
    graph = two_communities()
    columns = {"at": LinkColumn("number", np.arange(graph.num_edges))}
    table = LinkTable(np.arange(graph.num_edges), columns)
    graph = replace(graph, link_table=table)
    named = {"graph_hash": graph.content_hash, "publish_columns": ["link.at", "label"]}
    attacks = [{"key": "common_neighbors"}, {"key": "class_prior"}]
    defenses = [{"key": "random_deletion"}, {"key": "pseudonyms"}]
    spec = spec.update(**named, utility="label", attacks=attacks, defenses=defenses)
    view = run_inline(spec, graph, tmp_path)
    name, read = READERS[reader]
    service = AuditService(tmp_path)
    try:
        found = service.get_view(view.summary.id)
        damaged = damage_cells(tmp_path, name)
        assert damaged
        with pytest.raises(DamagedError):
            read(found)
        broken = service.get_view(view.summary.id)
        assert broken.summary.state == "interrupted"
        assert broken.summary.cells_done == view.summary.cells_done - len(damaged)
        assert "resume" in service.get_progress(view.summary.id).note
    finally:
        service.close()
    read(run_inline(spec, graph, tmp_path))


def test_every_reader_of_a_view_is_watched():
    """So that one that is added is, too."""
    view = make_view()
    watched = wrap_readers(view, lambda _read: "watched")
    for one in (watched, watched.link_channels, watched.node_channels):
        kept = [part.name for part in fields(one) if callable(getattr(one, part.name))]
        assert kept == [], "name a function that reads what is stored load_ or find_"
        assert any(isinstance(value, str) and value == "watched" for value in vars(one).values())


def test_damage_that_a_page_comes_upon_is_set_aside(tmp_path, spec, graph):
    """A cell may be damaged inside, where putting the view together does not look."""
    view = run_inline(spec, graph, tmp_path)
    service = AuditService(tmp_path)
    try:
        attack = next(
            cell for cell in plan_audit(PreparedAudit.build(spec, graph)) if cell.kind == "attack"
        )
        path = files.cell_folder(tmp_path, attack.key) / ARRAYS
        content = bytearray(path.read_bytes())
        content[content.index(b"risk.npy") + 140] ^= 1
        path.write_bytes(content)
        found = service.get_view(view.summary.id)
        assert found.summary.state == "done"
        with pytest.raises(DamagedError):
            _ = found.nodes
        broken = service.get_view(view.summary.id)
        assert broken.summary.state == "interrupted"
        assert "resume" in service.get_progress(view.summary.id).note
        assert len(broken.nodes.to_frame()) < len(view.nodes.to_frame())
    finally:
        service.close()


@pytest.mark.parametrize("name", ["truncated", "flipped", "emptied", "deleted"])
def test_a_damaged_graph_is_asked_for_by_its_hash_and_written_again(store, graph, name):
    graph_hash = store.save_graph(graph)
    path = files.graph_path(store.home, graph_hash)
    DAMAGES[name](path)
    with pytest.raises(InputError, match=graph_hash[:12]) as caught:
        store.load_graph(graph_hash)
    assert "\n" not in str(caught.value)
    store.save_graph(graph)
    assert store.load_graph(graph_hash).content_hash == graph_hash


def test_a_full_disk_is_waited_for(store, spec, graph, monkeypatch):
    told, sound = [], files.write_npz
    failures = iter([True, True, False] + [False] * 99)

    def write(path, arrays):
        if path.name == ARRAYS and next(failures):
            raise OSError(errno.ENOSPC, "No space left on device")
        sound(path, arrays)

    from core.audit.store.database import open_store

    monkeypatch.setattr(open_store(str(store.home), store.url), "notify", told.append)
    monkeypatch.setattr(files, "write_npz", write)
    view = run_inline(spec, graph, store.home, store=store)
    assert (view.summary.state, view.summary.cells_failed) == ("done", 0)
    assert told == ["paused: the disk: No space left on device; trying again"]


def test_a_locked_database_is_waited_for_and_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(connect, "BUSY_MS", 50)
    store = Store(tmp_path)
    told = []
    store.notify = told.append
    holder = sqlite3.connect(tmp_path / "audit.db", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")
    threading.Timer(0.6, lambda: holder.execute("COMMIT")).start()
    started = time.monotonic()
    store.update_job("nothing", state=State.DONE)
    assert time.monotonic() - started > 0.4
    assert told == ["paused: the database: database is locked; trying again"]
    holder.close()
    store.close()


def test_waiting_ends_by_a_cancel_and_by_its_limit():
    def fail():
        raise OSError(errno.ENOSPC, "full")

    def cancel():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        keep_trying(fail, lambda line: None, cancel)
    with pytest.raises(StoreError, match=r"full; gave up after 0.1 s"):
        keep_trying(fail, lambda line: None, retry_s=0.1)
    with pytest.raises(OSError, match="other"):
        keep_trying(lambda: (_ for _ in ()).throw(OSError(errno.EACCES, "other")))


def test_an_audit_whose_database_is_gone_comes_to_an_end(tmp_path, spec, graph, monkeypatch):
    """Nothing can be stored any more: the run ends, and this process says so."""
    service = AuditService(tmp_path)
    try:
        service.save_graph(graph)
        lost = sa.exc.OperationalError("", None, sqlite3.OperationalError("disk I/O error"))

        def fail(*arguments, **values):
            raise StoreError(str(lost.orig))

        monkeypatch.setattr(service._engine, "connect", fail)
        monkeypatch.setattr(Store, "end_audit", fail)
        audit_id = service.start_audit(spec)
        assert service.wait(audit_id, 60)
        progress = service.get_progress(audit_id)
        assert (progress.state, progress.is_active) == ("interrupted", False)
        assert "disk I/O error" in progress.note
    finally:
        service.close()


def test_a_heartbeat_that_cannot_be_stored_holds_nothing_up(store, monkeypatch):
    told = []
    store.notify = told.append
    locked = sa.exc.OperationalError("", None, sqlite3.OperationalError("database is locked"))

    def fail(*arguments):
        raise locked

    monkeypatch.setattr(store, "beat", fail)
    spec = AuditSpec(graph_hash="0" * 64)
    run = coordinate.AuditRun(store, None, coordinate.InFlight(), LEASE, spec, [], 0.0)
    for _ in range(3):
        run._beaten = 0.0
        run._beat()
    assert told == ["paused: the database: database is locked; trying again"]


def test_an_interrupt_while_a_run_is_waited_for_does_not_end_it(store, monkeypatch):
    finish = threading.Event()

    def compute(run):
        assert finish.wait(60)
        return State.CANCELLED, "cancelled"

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(coordinate.AuditRun, "_compute_all", compute)
    monkeypatch.setattr(store, "end_audit", lambda *arguments: None)
    before = signal.signal(signal.SIGUSR1, interrupt)
    spec = AuditSpec(graph_hash="0" * 64)
    run = coordinate.AuditRun(store, None, coordinate.InFlight(), LEASE, spec, [], 0.0)
    run.start()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run.wait(30)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not run.wait(0.05)
    assert not run.is_over
    finish.set()
    assert run.wait(30)
    assert run.ended == (State.CANCELLED, "cancelled")


class LostEngine:
    """A scheduler that does not answer for a while."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def connect(self) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise UnreachableError("AUDIT_SCHEDULER", "must be reachable", "tcp://there")


def test_a_scheduler_that_was_there_is_waited_for(store, monkeypatch):
    told = []
    store.notify = told.append
    spec = AuditSpec(graph_hash="0" * 64)

    def make_run(failures: int) -> coordinate.AuditRun:
        engine = LostEngine(failures)
        return coordinate.AuditRun(store, engine, coordinate.InFlight(), LEASE, spec, [], 0.0)

    run = make_run(0)
    run._connect()
    run._engine.failures = 3
    run._connect()
    assert told == ["paused: the scheduler cannot be reached; trying again"]
    with pytest.raises(UnreachableError):  # an address where nobody ever was
        make_run(1)._connect()
    monkeypatch.setenv("AUDIT_RETRY_S", "0")
    run._engine.failures = 1
    with pytest.raises(UnreachableError):
        run._connect()
    monkeypatch.setenv("AUDIT_RETRY_S", "60")
    run._engine.failures = 99
    run.stop()
    with pytest.raises(UnreachableError):
        run._connect()


@pytest.mark.parametrize("given", ["soon", "-1", "nan"])
def test_seconds_to_wait_that_are_no_number_are_named(monkeypatch, given):
    monkeypatch.setenv("AUDIT_RETRY_S", given)
    with pytest.raises(InputError, match=f"AUDIT_RETRY_S must be a number of seconds.*{given}"):
        retry.find_retry_limit()
    monkeypatch.setenv("AUDIT_RETRY_S", "")
    assert retry.find_retry_limit() == retry.RETRY_S


def test_a_client_that_cannot_be_closed_is_given_up(tmp_path):
    class Broken:
        def close(self, timeout: float) -> None:
            raise ValueError("IOStream is not idle")

    engine = Engine(tmp_path)
    engine._client = Broken()
    engine.close()
    assert engine._client is None
