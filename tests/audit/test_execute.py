"""Cells in one process: what they leave, how they fail, how they stop."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import core.registry
from core.audit.asked.attack import parse_attack
from core.audit.computing.link_sample import LinkSample
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.computing.threat_sampling import draw_repeat
from core.audit.jobs import cells as execute
from core.audit.jobs.cells import Job, execute_cell
from core.audit.jobs.worker import MAX_CURVE_POINTS, StoredProgress
from core.audit.results.export import SCENARIO_COLUMNS, describe_audit
from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.results.view import (
    CELL_COLUMNS,
    PROFILE_COLUMNS,
    REPEATS,
    REPR_ROWS,
    RESULT_COLUMNS,
)
from core.audit.store import files
from core.audit.store.database import Store
from core.errors import RunCancelled, UnsupportedError
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.methods import LinkAttack, MethodInfo
from core.results import PairScores
from tests.inline import run_inline


def make_attack(name, behave):
    """A link attack that calls `behave(context)` before it scores all pairs alike."""

    class Attack(LinkAttack):
        info: ClassVar[MethodInfo] = MethodInfo(
            key=name, title=name.capitalize(), summary="For a test.", source="test", group="test"
        )

        def supports(self, release, threat):
            return "it never can" if name == "declines" else None

        def score(self, release, threat, context):
            behave(context)
            return PairScores(np.zeros(len(threat.pairs)))

    return Attack


@pytest.fixture
def add_attack(monkeypatch):
    def add(name, behave=lambda context: None):
        known = core.registry.LINK_ATTACKS
        monkeypatch.setattr(core.registry, "LINK_ATTACKS", (*known, make_attack(name, behave)))
        return {"key": name}

    return add


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def view(home, graph, make_spec):
    spec = make_spec(
        num_repeats=2,
        utility="label",
        attacks=[{"key": "common_neighbors"}, {"key": "class_prior"}],
    )
    return run_inline(spec, graph, home)


def test_an_audit_fills_every_table(view, graph):
    assert view.summary.state == "done"
    assert (view.summary.cells_done, view.summary.cells_failed) == (2 * (1 + 2 * (2 + 4)), 0)
    assert tuple(view.results) == (*RESULT_COLUMNS, REPEATS, "attack", "made")
    assert tuple(view.nodes.to_frame()) == NODE_COLUMNS
    assert tuple(view.profile) == PROFILE_COLUMNS
    assert tuple(view.cells) == CELL_COLUMNS
    assert set(view.results.release) == {"original", "random_deletion"}
    assert set(view.rocs) == {
        (release, attack)
        for release in ("original", "random_deletion")
        for attack in ("common_neighbors", "class_prior")
    }
    assert len(view.profile) == 2 * graph.num_nodes
    visible = view.load_release("original", 0)
    assert view.releases[1].facts["links_removed"].value == round(0.3 * visible.num_edges)


def test_who_reads_no_links_finds_the_same_on_every_release(tmp_path, graph, make_spec):
    """Random numbers of their own made features look more exposed with one defense than another."""
    attacks = [{"key": key} for key in ("mlp", "feature_boosting")]
    defenses = [{"key": "random_deletion"}, {"key": "edge_rand"}]
    spec = make_spec(hide_links=None, attacks=attacks, defenses=defenses)
    results = run_inline(spec, graph, tmp_path).results
    for _, rows in results[results.method.isin(["mlp", "feature_boosting"])].groupby(
        ["method", "metric"]
    ):
        assert len(rows) == 3
        assert rows.value.nunique(dropna=False) == 1


def test_a_sample_of_the_links_is_stored_with_the_release(view, home, monkeypatch):
    """Drawing it anew gives the same; a release of an earlier version has none stored."""
    stored = view.load_sample("random_deletion")
    drawn = LinkSample.draw(
        view.load_release("original", 0), view.load_release("random_deletion", 0)
    )
    assert set(drawn.changes.state) == {"kept", "removed"}
    with monkeypatch.context() as patch:
        patch.setattr(LinkSample, "unpack", staticmethod(lambda _arrays: None))
        late = view.load_sample("random_deletion")
    for sample in (stored, late):
        assert sample.nodes.tolist() == drawn.nodes.tolist()
        pd.testing.assert_frame_equal(sample.changes, drawn.changes, check_dtype=False)
    with monkeypatch.context() as patch:  # no graph is loaded for what is stored
        patch.setattr(LinkSample, "draw", staticmethod(lambda *_graphs: pytest.fail("drawn")))
        view.load_sample("random_deletion")


def test_a_notebook_shows_the_first_results_and_escapes_names(view):
    name = '<script>alert("x")</script>'
    results = view.results.assign(release=view.results.release.replace("original", name))
    hostile = replace(view, results=results, summary=replace(view.summary, name=name))
    text = hostile._repr_html_()
    assert "<script>" not in text
    assert text.count("&lt;script&gt;") > 1
    assert text.count("<tr") == 1 + min(len(results), REPR_ROWS)
    assert f"{len(results) - REPR_ROWS:,} more rows" in text
    assert f"{view.summary.cells_done} of {view.summary.cells_total} cells done" in text


def test_an_estimate_is_the_mean_over_the_repeats_own_splits(view, graph):
    from core.attacks.link.common_neighbors import CommonNeighbors
    from core.context import Context
    from core.release import Release
    from core.seeding import Seed

    values = []
    for repeat in range(2):
        threats = draw_repeat(PreparedAudit.build(view.spec, graph), repeat)
        release = Release(view.load_release("random_deletion", repeat))
        scores = CommonNeighbors().score(release, threats.link, Context(Seed(0))).scores
        values.append(roc_auc_score(threats.link.truth, scores))
    estimate = view.estimate("random_deletion", "common_neighbors", "auc")
    assert estimate.value == pytest.approx(np.mean(values), abs=1e-12)
    assert (estimate.seeds, estimate.low < estimate.value < estimate.high) == (2, True)


def test_node_risks_are_means_over_the_repeats_at_stake(view, home):
    store = Store(home)
    cells = [
        files.load_cell(store.home, row.key)
        for row in store.list_cells(view.summary.id)
        if row.method == "class_prior" and row.release == "original"
    ]
    store.close()
    table = view.nodes.to_frame([("original", parse_attack("class_prior"))])
    for row in table.itertuples():
        node = int(row.node)
        risks = [c["risk"][c["nodes"] == node] for c in cells]
        risks = np.concatenate(risks)
        assert row.seeds == len(risks)
        assert row.risk == pytest.approx(risks.mean())
        assert np.isnan(row.low) == (len(risks) == 1)


def test_a_second_run_computes_nothing_and_says_the_same(view, graph, tmp_path, monkeypatch):
    first = run_inline(view.spec, graph, tmp_path)
    assert describe_audit(first)["results"] == describe_audit(view)["results"]
    monkeypatch.setattr(execute, "compute_cell", None)  # calling it would be an error
    again = run_inline(view.spec, graph, tmp_path)
    assert describe_audit(again)["results"] == describe_audit(first)["results"]


def test_a_failed_cell_is_a_result_and_the_others_go_on(graph, make_spec, add_attack, tmp_path):
    def fail(context):
        raise ValueError("two\nlines")

    spec = make_spec(
        attacks=[add_attack("fails", fail), add_attack("declines"), {"key": "common_neighbors"}]
    )
    view = run_inline(spec, graph, tmp_path)
    table = view.results[view.results.release == "original"].set_index(["method", "metric"])
    assert table.loc[("fails", "auc"), ["status", "reason"]].tolist() == [
        "failed",
        "ValueError: two lines",
    ]
    assert table.loc[("declines", "auc"), "status"] == "skipped"
    assert "it never can" in table.loc[("declines", "auc"), "reason"]
    assert table.loc[("common_neighbors", "auc"), "status"] == "done"
    assert view.summary.cells_failed == 2
    assert not view.estimate("original", "fails", "auc").is_known


def test_a_crash_after_a_decline_is_what_is_told(graph, make_spec, add_attack, tmp_path):
    """An attack that declined in repeat 0 and crashed in the others did "not apply"."""
    tries = []

    def behave(context):
        tries.append(1)
        if len(tries) == 1:
            raise UnsupportedError("not here", "needs more")
        raise ValueError("crashed")

    attacks = [add_attack("both", behave), {"key": "common_neighbors"}]
    spec = make_spec(attacks=attacks, defenses=[], num_repeats=3)
    view = run_inline(spec, graph, tmp_path)
    states = view.cells[view.cells.method == "both"].sort_values("seed").state
    assert states.tolist() == ["skipped", "failed", "failed"]
    row = view.results[view.results.method == "both"].iloc[0]
    assert (row.status, row.reason) == ("failed", "ValueError: crashed")
    release = judge(view, find_policy("internal")).find("original")
    assert any("did not finish: ValueError: crashed" in text for text in release.untried)
    assert release.decision != "publish"


def test_what_needs_a_failed_release_names_its_reason(graph, make_spec, monkeypatch, tmp_path):
    from core.defenses.random_deletion import RandomDeletion

    def fail(self, graph, threats, context):
        raise RuntimeError("no luck")

    monkeypatch.setattr(RandomDeletion, "publish", fail)
    view = run_inline(make_spec(), graph, tmp_path)
    states = view.cells.set_index(["kind", "release"]).state
    assert states[("publish", "random_deletion")] == "failed"
    rows = view.results[view.results.release == "random_deletion"]
    assert set(rows.status) == {"failed"}
    assert rows.reason.str.contains("no release: RuntimeError: no luck").all()
    assert (view.results[view.results.release == "original"].status != "failed").all()


@pytest.mark.parametrize("failures", [1, 2])
def test_out_of_memory_retries_in_smaller_chunks_once(
    graph, make_spec, add_attack, tmp_path, failures
):
    budgets = []

    def run_out(context):
        budgets.append(context.memory_budget)
        if len(budgets) <= failures:
            raise MemoryError("too much")

    spec = make_spec(attacks=[add_attack("hungry", run_out)], defenses=[])
    view = run_inline(spec, graph, tmp_path)
    cell = view.cells[view.cells.method == "hungry"].iloc[0]
    assert budgets[1] == budgets[0] // 4
    assert cell.state == ("done" if failures == 1 else "failed")
    assert ("smaller chunks" if failures == 1 else "MemoryError") in cell.reason


def test_memory_of_a_gpu_ends_on_the_cpu_and_the_note_says_so(
    graph, make_spec, add_attack, tmp_path, monkeypatch
):
    from core.device import Device

    class OutOfMemoryError(RuntimeError):
        """By the name that torch gives it."""

    seen = []

    def run_out(context):
        seen.append(context.device.torch_name)
        if context.device.is_gpu:
            raise OutOfMemoryError

    attack = add_attack("trains", run_out)
    method = core.registry.LINK_ATTACKS[-1]
    monkeypatch.setattr(method, "info", MethodInfo(**{**vars(method.info), "uses_gpu": True}))
    monkeypatch.setattr(execute, "_find_device", lambda: Device("cuda:0", "Pretend GPU"))
    monkeypatch.setattr(execute, "compute_memory_budget", lambda device: 1 << 20)
    view = run_inline(make_spec(attacks=[attack], defenses=[]), graph, tmp_path)
    cell = view.cells[view.cells.method == "trains"].iloc[0]
    # asked twice in the end: for the pairs at stake, and for further ones
    assert seen == ["cuda:0", "cuda:0", "cpu", "cpu"]
    assert (cell.state, cell.reason) == ("done", "out of memory: on the CPU")
    assert cell.device.startswith("CPU")


def test_progress_and_curves_reach_the_store_and_a_flag_stops(tmp_path, graph, make_spec):
    store = Store(tmp_path)
    store.save_graph(graph)
    cells = plan_audit(PreparedAudit.build(make_spec(), graph))
    store.add_audit("a", "a", make_spec(), cells, {})
    flag = files.flag_path(store.home, "a")
    progress = StoredProgress(store, cells[0].key, "a")
    for step in range(1000):
        progress.record("loss", step, 1 / (step + 1))
    progress.record("loss", 1000, float("nan"))
    progress.update(1, 4, "training")
    row = store.find_job(cells[0].key)
    assert (row.progress, row.message) == (0.25, "training")
    assert len(row.curves["loss"]) <= MAX_CURVE_POINTS + 1
    assert row.curves["loss"][-1] == [999, 0.001]
    flag.touch()
    time.sleep(2 * StoredProgress.CHECK_EVERY_S)
    with pytest.raises(RunCancelled):
        progress.update(2, 4)
    job = Job(str(store.home), store.url, "a", make_spec().model_dump_json(), cells[0])
    assert execute_cell(job) == "cancelled"
    store.close()


def test_an_interrupted_write_leaves_no_half_cell(tmp_path, monkeypatch):
    files.save_cell(tmp_path, "k" * 64, {"x": np.arange(3)})

    def fail(path, arrays):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(files, "write_npz", fail)
    with pytest.raises(OSError, match="disk full"):
        files.save_cell(tmp_path, "j" * 64, {"x": np.arange(3)})
    assert [path.name for path in tmp_path.glob("cells/*/*")] == ["k" * 64]
    assert files.load_cell(tmp_path, "k" * 64)["x"].tolist() == [0, 1, 2]


def test_results_hold_no_nan(view):
    import json

    text = json.dumps(describe_audit(view), allow_nan=False)
    row = json.loads(text)["results"][0]
    assert tuple(row) == (*RESULT_COLUMNS, *SCENARIO_COLUMNS)
    assert row["config"] == {}
