"""A home of an earlier version opens: audit, decisions, release, layout and ledger as they were.

`recorded_home.tar.xz` holds a home of the commit 01dc619e, the tables that were loaded, and the
audit.json that it wrote then.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

import core.cli.main as command
from core.audit import service as module
from core.audit.asked.spec import AuditSpec
from core.audit.asked.spec_parts import PARTS
from core.audit.jobs import layout
from core.audit.jobs.layout import lay_out
from core.audit.results.export import describe_audit
from core.audit.service import AuditService
from core.audit.store.files import delete_cell
from core.findings.policy import find_policy
from core.findings.verdict import judge
from tests.benchmarks.same_results import compare_results
from tests.oracles.graphs import two_communities

ARCHIVE = Path(__file__).with_name("recorded_home.tar.xz")


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """The unpacked folder, with AUDIT_HOME set to its home."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    return tmp_path


def test_the_audit_and_its_decisions_are_the_same(recorded):
    before = json.loads((recorded / "audit.json").read_text())
    service = AuditService()
    try:
        (summary,) = service.list_audits()
        view = service.get_view(summary.id)
        found = json.loads(json.dumps(describe_audit(view)))
        # An adaptive attack on the original is its standard form, and has no row of its own since.
        before["results"] = [
            row
            for row in before["results"]
            if (row["release"], row["knowledge"]) != ("original", "adaptive")
        ]
        # What finished and measured nothing has a status of its own since.
        for row in before["results"]:
            if row["status"] == "skipped" and row["n"] > 0:
                row["status"] = next(
                    new["status"]
                    for new in found["results"]
                    if all(new[k] == row[k] for k in ("release", "method", "metric", "knowledge"))
                )
        assert compare_results(before["results"], found["results"]) == []
        for part, fields in found["spec"].items():
            then = before["spec"].get(part, fields)
            new = {k: v for k, v in fields.items() if k not in then} if part in PARTS else {}
            assert fields == (then | new if part in PARTS else then), part
        assert found["guarantees"] == before["guarantees"]
        verdict = judge(view, find_policy("partner"))
        assert {r.release: r.decision for r in verdict.releases} == {
            name: release["decision"] for name, release in before["verdict"]["releases"].items()
        }
        assert len(view.nodes.to_frame()) > 0
        for release in view.releases:
            assert view.load_release(release.id, 1).num_nodes == view.load_graph().num_nodes
    finally:
        service.close()


def test_the_layout_is_the_stored_one(recorded, monkeypatch):
    service = AuditService()
    try:
        (summary,) = service.list_audits()
        key = service.layouts.find(summary.graph_hash).id
        view = service.get_view(summary.id)
        stored = service.layouts.load(summary.graph_hash)
        again = lay_out(view.load_graph())
        assert (stored.communities == again.communities).all()
        assert again.positions == pytest.approx(stored.positions, abs=1e-3)
        with monkeypatch.context() as patch:
            patch.setattr(layout, "lay_out", None)  # nothing is computed
            patch.setattr(layout, "divide", None)
            assert (view.load_layout().positions == stored.positions).all()
            assert (view.load_communities() == stored.communities).all()
        delete_cell(service.home, key)  # and computed where it is gone
        assert (view.load_layout().positions == again.positions).all()
        assert (view.load_communities() == again.communities).all()
        monkeypatch.setattr(layout, "MAX_DIVIDED", view.load_graph().num_nodes - 1)
        assert view.load_communities() is None
    finally:
        service.close()


def test_its_spec_is_read_and_asks_for_the_same_graph(recorded):
    before = json.loads((recorded / "audit.json").read_text())["spec"]
    spec = AuditSpec.check_spec(before)
    assert spec.graph_hash == before["graph_hash"]
    assert {choice.id for choice in spec.defenses} == {
        "random_deletion:strength=0.5", "edge_rand"
    }  # fmt: skip


def test_the_lineage_is_recognised(recorded, capsys):
    tables = ["--graph", str(recorded / "links.csv"), "--nodes", str(recorded / "nodes.csv")]
    assert command.main(["ledger", *tables, "--id", "id"]) == 0
    assert "ε = 2 over 1 publishing run" in "".join(capsys.readouterr())
    renamed = recorded / "renamed.csv"
    rows = (recorded / "links.csv").read_text().splitlines()
    renamed.write_text("\n".join([rows[0], *reversed(rows[2:])]) + "\n")
    assert command.main(["ledger", "--graph", str(renamed)]) == 0
    assert "ε = 2 over 1 publishing run" in "".join(capsys.readouterr())


def test_an_audit_is_planned_once_when_it_starts(recorded, monkeypatch):
    planned = []

    def count(audit):
        planned.append(audit)
        return plan_audit(audit)

    plan_audit = module.plan_audit
    monkeypatch.setattr(module, "plan_audit", count)
    monkeypatch.setattr(module.AuditRun, "start", lambda run: None)
    service = AuditService()
    try:
        (summary,) = service.list_audits()
        spec = service.get_view(summary.id).spec
        service.start_audit(spec.update(root_seed=1))
        assert len(planned) == 1
    finally:
        service.close()


def test_nodes_that_are_kept_have_the_places_and_communities_of_the_whole_graph(tmp_path):
    graph = two_communities()
    members = np.arange(graph.num_nodes) % 4 > 0
    kept, whole = graph.subgraph(members), lay_out(graph)
    assert (layout.find_partition(tmp_path, graph, kept) == whole.communities[members]).all()
    found = layout.find_layout(tmp_path, graph, kept)
    assert (found.communities == whole.communities[members]).all()
    assert (found.positions == whole.positions[members]).all()
