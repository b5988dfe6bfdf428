"""What needs neither torch nor a worker is computed while the cluster starts."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from core.audit.asked.spec import AuditSpec
from core.audit.computing import plan
from core.audit.computing.plan import list_first, plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.jobs import cells, coordinate
from core.audit.jobs.coordinate import AuditRun, InFlight
from core.audit.service import AuditService
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.states import State
from core.methods import ATTACK_KINDS
from core.registry import list_methods
from tests.oracles.graphs import two_communities

ROOT = Path(__file__).parents[2]


class StartingEngine:
    """An engine whose cluster is not there before `there` is set; nothing can be submitted."""

    def __init__(self) -> None:
        self.there = threading.Event()

    def connect(self) -> None:
        self.there.wait(60)

    def connect_early(self) -> threading.Thread:
        thread = threading.Thread(target=self.connect, daemon=True)
        thread.start()
        return thread


def make_run(store: Store, *attacks: str, **fields) -> AuditRun:
    """A stored audit's run, its cluster still starting."""
    graph = two_communities()
    base = {"private": "private", "known": 0.3, "hide_links": 0.1, "num_repeats": 1}
    base |= {"graph_hash": graph.content_hash, "attacks": [{"key": key} for key in attacks]}
    spec = AuditSpec.check_spec({**base, **fields})
    store.save_graph(graph)
    audit = PreparedAudit.load(spec, store.load_graph)
    planned = plan_audit(audit)
    store.add_audit("a", "a", spec, planned, {})
    lease = store.claim_audit("a")
    first = list_first(audit, planned)
    return AuditRun(store, StartingEngine(), InFlight(), lease, spec, planned, 0.0, first)


def compute_all_instant(home: str) -> tuple[int, bool, set[str]]:
    """In a process of its own, every instant attack: how many failed, whether the others are done
    or do not apply to the original, and which heavy modules that took."""
    methods = [m for kind in ATTACK_KINDS for m in list_methods(kind)]
    attacks = [m.info.key for m in methods if m.info.cost == "instant"]
    run = make_run(Store(home), *attacks, identity={}, released_links=True)
    failed = run._compute_first()
    states = {row.key: row.state for row in run._list_states()}
    ended = [states[cell.key] for cell in run._first]
    is_computed = {*ended} == {State.DONE, State.SKIPPED} and 2 * ended.count(State.DONE) > len(
        ended
    )
    return len(failed), is_computed, {"distributed", "torch"} & set(sys.modules)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "home")
    yield store
    store.close()


def test_they_are_those_of_the_original_that_train_nothing_on_a_small_graph(
    make_spec, graph, monkeypatch
):
    attacks = [{"key": key} for key in ("common_neighbors", "gcn", "label_propagation")]
    spec = make_spec(attacks=attacks, adaptive=True, more_private=("label",), joint=("known",))
    audit = PreparedAudit.build(spec, graph)
    planned = plan_audit(audit)
    first = list_first(audit, planned)
    assert any(cell.method.endswith("@joint:known") for cell in planned)
    expected = ["homophily", "common_neighbors", "label_propagation"]
    expected += ["label_propagation@column:label", "structure"]
    assert [(cell.release, cell.method) for cell in first] == [("original", m) for m in expected]
    monkeypatch.setattr(plan, "SMALL", graph.num_nodes + graph.num_edges - 1)
    assert list_first(audit, planned) == []


def test_they_are_done_before_the_cluster_is_there(store):
    run = make_run(store, "common_neighbors", "gcn")
    keys = {cell.key for cell in run._first}
    run.start()
    end = time.monotonic() + 60
    while time.monotonic() < end and not run.is_over:
        done = {row.key for row in run._list_states() if row.state is State.DONE}
        if done == keys:
            break
        time.sleep(0.05)
    assert len(keys) == 3
    assert done == keys
    assert not run.is_over
    run.stop()
    run._engine.there.set()
    assert run.wait(60)
    assert run.ended[0] is State.INTERRUPTED


def test_they_need_neither_torch_nor_the_cluster(tmp_path):
    code = "import sys; from tests.audit.test_first_cells import compute_all_instant as compute\n"
    code += "print(compute(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.strip() == "(0, True, set())", done.stderr


def test_a_cancel_does_not_wait_for_the_cluster(store, monkeypatch):
    run = make_run(store, "common_neighbors", "degree_product")
    computed = []

    def compute(_store, job):
        computed.append(job.cell.key)
        files.raise_flag(store.home, "a")
        return State.CANCELLED

    monkeypatch.setattr(coordinate, "compute_and_store", compute)
    run.start()
    assert run.wait(30)
    assert run.ended[0] is State.CANCELLED
    assert len(computed) == 1


def test_what_failed_is_not_computed_again_and_all_run_as_workers_do(store, monkeypatch):
    run = make_run(store, "common_neighbors", "degree_product")
    seen = []

    def compute(_store, job):
        threads = {pool["num_threads"] for pool in threadpool_info()}
        seen.append((threads, run._in_flight.lock.locked()))
        return State.FAILED

    monkeypatch.setattr(coordinate, "compute_and_store", compute)
    with threadpool_limits(2):
        assert run._compute_first() == {cell.key for cell in run._first}
    assert seen == [({1}, True)] * 4


def test_what_reuses_shared_work_follows_in_the_same_task(store, monkeypatch):
    """On another worker the auto-encoder that usefulness was measured with is trained again."""
    run = make_run(store, "common_neighbors")
    engine = run._engine = MagicMock()
    engine.submit.side_effect = lambda *_, **__: MagicMock(done=lambda: False)
    futures = run._submit(run._cells)
    by_method = {cell.method: cell for cell in run._cells if cell.kind == "measure"}
    utility, pairs = by_method["utility"], by_method["pairs"]
    jobs = {call.args[1].cell: call.args[1] for call in engine.submit.call_args_list}
    assert pairs not in jobs
    assert jobs[utility].followers == (pairs,)
    assert futures[pairs.key] is futures[utility.key]

    computed = []
    monkeypatch.setattr(cells, "compute_and_store", lambda _store, job: computed.append(job.cell))
    cells.execute_cell(jobs[utility])
    assert computed == [utility, pairs]

    monkeypatch.setattr(run, "_list_running", lambda: {pairs.key})
    monkeypatch.setattr(coordinate, "GRACE_S", 0.0)
    run._cancel(futures)
    cancelled = {key for key, future in futures.items() if future.cancel.called}
    assert cancelled == set(futures) - {utility.key, pairs.key}
    assert run._stragglers == [futures[pairs.key]]


def test_once_the_cluster_is_there_workers_compute(store, monkeypatch):
    run = make_run(store, "common_neighbors")
    run._engine.there.set()
    monkeypatch.setattr(coordinate, "compute_and_store", lambda *_: pytest.fail("computed here"))
    assert run._compute_first() == set()


@pytest.mark.parametrize(("address", "is_here"), [("", True), ("tls://elsewhere:8786", False)])
def test_a_cluster_elsewhere_computes_every_cell(make_spec, graph, tmp_path, monkeypatch,
                                                 address, is_here):  # fmt: skip
    """Whoever names a cluster has a machine in front of it that is not meant to compute."""
    monkeypatch.setenv("AUDIT_SCHEDULER", address)
    run = MagicMock()
    monkeypatch.setattr("core.audit.service.AuditRun", run)
    service = AuditService(tmp_path)
    service.save_graph(graph)
    service.start_audit(make_spec())
    service.close()
    assert bool(run.call_args.kwargs["first"]) == is_here
