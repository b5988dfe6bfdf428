"""Costly work that cells share is done once for an audit, and its results are the same."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from core.attacks.link import denoising
from core.audit.jobs import cells, coordinate
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.kept import KeptWork
from core.audit.store.states import State
from core.context import Context, SharedWork, StoredForm
from core.errors import RunCancelled
from core.progress import Progress
from core.registry import make_method
from core.seeding import Seed
from core.threats import Threats
from tests.inline import run_inline

ADAPTIVE = [{"key": key} for key in ("common_neighbors", "jaccard")]
DEFENSES = [{"key": "edge_rand", "config": {"epsilon": 4.0}}]
KEY = "work", 1


def pack(value):
    return {"value": np.array(value)}


FORM = StoredForm(1, pack, lambda arrays, _: float(arrays["value"]))


@pytest.fixture
def count_work(make_spec, graph, tmp_path, monkeypatch):
    """Runs an audit of adaptive attacks, each cell as in a process of its own; its results and how
    often the links were denoised."""

    def run(name, **fields):
        calls = []
        denoise, compute = denoising.denoise, cells.compute_and_store

        def count(*arguments):
            calls.append(arguments[0].defense)
            return denoise(*arguments)

        def forget(store, job):
            cells._shared.clear()
            return compute(store, job)

        with monkeypatch.context() as patch:
            patch.setattr(denoising, "denoise", count)
            patch.setattr(cells, "compute_and_store", forget)
            spec = make_spec(
                attacks=ADAPTIVE, defenses=DEFENSES, private=None, adaptive=True, **fields
            )
            view = run_inline(spec, graph, tmp_path / name)
        rows = view.results[view.results["method"].str.contains("adaptive")]
        assert set(rows.loc[rows["metric"] == "auc", "status"]) == {"done"}
        return rows.reset_index(drop=True), calls

    return run


def test_links_are_denoised_once_for_a_release_and_repeat(count_work):
    _, calls = count_work("shared", num_repeats=2)
    assert calls == ["edge_rand"] * 2


@pytest.mark.nightly
def test_denoised_links_that_are_shared_give_the_same_results(count_work, monkeypatch):
    shared, _ = count_work("shared", num_repeats=2)
    monkeypatch.setattr(cells, "KeptWork", lambda folder: None)
    alone, calls = count_work("alone", num_repeats=2)
    assert calls == ["edge_rand"] * 2 * len(ADAPTIVE)
    names = ["release", "method", "metric", "value", "low", "high", "n", "status"]
    assert shared[names].equals(alone[names])


def test_what_is_read_is_what_was_computed_to_the_last_bit(graph, tmp_path):
    defense = make_method("edge_rand", {"epsilon": 3.0}, "defense")
    release = defense.publish(graph, Threats(graph), Context(Seed(0)))
    found = [
        denoising.share_denoised(
            release, Context(Seed(2), shared=SharedWork(), kept=KeptWork(tmp_path))
        )
        for _ in range(2)
    ]
    assert found[0] is not found[1]
    assert len(list(tmp_path.glob("*.npz"))) == 1
    assert found[0].graph.content_hash == found[1].graph.content_hash
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), axis=1)
    logits = [each.compute_logits(pairs, Context(Seed(3))) for each in found]
    np.testing.assert_array_equal(*logits)
    for name in ("links", "probabilities", "parts", "balance", "density"):
        np.testing.assert_array_equal(*(getattr(each, name) for each in found))


def test_who_asks_while_work_is_done_waits_for_it(tmp_path):
    calls, found, begun = [], [], threading.Event()

    def compute(context):
        calls.append(context)
        begun.set()
        time.sleep(0.3)
        return 5.0

    def ask():
        found.append(KeptWork(tmp_path).get(KEY, compute, FORM, Context(Seed(0))))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    threads[0].start()
    assert begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [5.0] * 3
    assert len(calls) == 1


def test_who_waits_can_be_cancelled_and_who_fails_frees_the_work(tmp_path):
    class Cancelled(Progress):
        def check(self):
            raise RunCancelled("cancelled by the user")

    work, context = KeptWork(tmp_path), Context(Seed(0))

    def wait(_):
        with pytest.raises(RunCancelled):
            KeptWork(tmp_path).get(KEY, str, FORM, Context(Seed(0), progress=Cancelled()))
        raise ValueError("failed")

    with pytest.raises(ValueError, match="failed"):
        work.get(KEY, wait, FORM, context)
    assert work.get(KEY, lambda _: 7.0, FORM, context) == 7.0


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off"])
def test_damaged_or_other_work_is_done_again(tmp_path, content):
    work, context = KeptWork(tmp_path), Context(Seed(0))
    assert work.get(KEY, lambda _: 7.0, FORM, context) == 7.0
    assert work.get(KEY, lambda _: 8.0, FORM, context) == 7.0
    assert work.get(("work", 2), lambda _: 8.0, FORM, context) == 8.0
    later = StoredForm(2, FORM.pack, FORM.unpack)
    assert work.get(KEY, lambda _: 9.0, later, context) == 9.0
    for path in tmp_path.glob("*.npz"):
        path.write_bytes(content)
    assert work.get(KEY, lambda _: 10.0, FORM, context) == 10.0
    assert work.get(KEY, lambda _: 11.0, FORM, context) == 10.0


def test_a_folder_that_cannot_be_written_costs_only_the_sharing(tmp_path):
    (tmp_path / "file").touch()
    work = KeptWork(tmp_path / "file" / "shared")
    assert [work.get(KEY, lambda _, v=v: v, FORM, Context(Seed(0))) for v in (1.0, 2.0)] == [1, 2]


def test_it_goes_when_the_run_ends_and_with_its_audit(make_spec, graph, tmp_path, monkeypatch):
    store, spec = Store(tmp_path), make_spec()
    audit_id = run_inline(spec, graph, tmp_path, store=store).summary.id
    folder = files.shared_folder(store.home, audit_id)
    for ends in ("run", "audit"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "work.npz").touch()
        if ends == "run":
            lease = store.claim_audit(audit_id)
            run = coordinate.AuditRun(store, None, coordinate.InFlight(), lease, spec, [], 0.0)
            monkeypatch.setattr(run, "_compute_all", lambda: (State.DONE, ""))
            run.run()
        else:
            store.delete_audit(audit_id)
        assert not folder.exists(), ends
    store.close()
