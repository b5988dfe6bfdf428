"""The service on either database: the same audit, the same numbers, nothing left when deleted."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa

import core.cli.main as command
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.publish_spec import PublishSpec
from core.audit.results.export import describe_audit
from core.audit.service import AuditService
from core.audit.store.database import Store
from tests.inline import run_inline

RETRY_S = 300.0
DEFENSE = {"key": "edge_rand", "config": {"epsilon": 1.0}}


@pytest.mark.xdist_group("audit cluster")
def test_an_audit_its_check_and_its_release(database, tmp_path, graph, make_spec, monkeypatch):
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    spec = make_spec(defenses=[DEFENSE])
    service = AuditService(tmp_path / "home")
    try:
        service.save_graph(graph)
        audit_id = service.start_audit(spec, "a name: ’é\u2028")
        assert service.wait(audit_id, RETRY_S)
        view = service.get_view(audit_id)
        assert (view.summary.state, view.summary.cells_failed) == ("done", 0)
        results = describe_audit(view)["results"]
        claim = service.claims.start(audit_id, view.releases[1].id, 100)
        choice = MethodChoice.model_validate(DEFENSE)
        run = service.start_publish(PublishSpec.of_audit(spec, choice), audit_id)
        assert service.claims.wait(claim, RETRY_S)
        assert service.publishing.wait(run, RETRY_S)
        assert service.claims.get(claim).check is not None
        assert service.get_publish(run).release is not None
        assert service.find_same_audit(spec) == audit_id
        service.resume_audit(audit_id)
        assert service.wait(audit_id, RETRY_S)
        service.delete_audit(audit_id)
        with service._store.read() as connection:
            for table in ("audits", "audit_cells", "jobs", "graphs"):
                assert connection.scalar(sa.text(f"SELECT count(*) FROM {table}")) == 0
    finally:
        service.close()
    monkeypatch.delenv("AUDIT_DATABASE", raising=False)
    inline = run_inline(spec, graph, tmp_path / "inline")
    assert results == describe_audit(inline)["results"]


@pytest.mark.xdist_group("audit cluster")
def test_the_command(database, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    arguments = ["audit", "--graph", "karate", "--attack", "common_neighbors", "--repeats", "1"]
    for name in "ab":
        assert command.main([*arguments, "--test-links", "0", "--out", str(tmp_path / name)]) == 0
    capsys.readouterr()
    first, second = (json.loads((tmp_path / x / "audit.json").read_text()) for x in "ab")
    assert first["results"] == second["results"]
    store = Store(tmp_path / "home")
    assert [audit.state for audit in store.list_audits()] == ["done"]
    assert (tmp_path / "home" / "audit.db").exists() == (database == "sqlite")
    store.close()
