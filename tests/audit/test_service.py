"""The embedded cluster: reuse, cancel, killed workers, killed processes."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from core.audit import service as module
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.parts import PARTS
from core.audit.asked.publish_spec import PublishSpec
from core.audit.computing import plan
from core.audit.jobs.cluster import EmbeddedCluster, count_workers, list_preloaded
from core.audit.jobs.publish import RETENTION_DAYS
from core.audit.results.export import describe_audit
from core.audit.results.provenance import is_outdated
from core.audit.service import AuditService
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.estimate import TimeRange
from core.errors import InputError
from core.findings.policy import find_policy
from tests.inline import run_inline

USUAL = [name for name, part in PARTS.items() if part.is_usual]

ROOT = Path(__file__).parents[2]
RETRY_S = 300.0
"""For machines under load; on an idle one everything here takes seconds."""
SLOW = {"key": "gae_cosine", "config": {"epochs": 5000}}


def wait_for(condition, seconds=RETRY_S):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def list_workers(pid):
    """The processes that compute: forked from the one below the cluster's that imports."""
    forking = [
        process
        for process in psutil.Process(pid).children()
        if "forkserver" in " ".join(process.cmdline())
    ]
    return [worker for process in forking for worker in process.children()]


def list_loaded(names):
    kept = gc.get_freeze_count() if gc.isenabled() else 0
    return sorted(set(names) & set(sys.modules)), os.getppid(), kept


def is_training(service, audit_id):
    running = service.get_progress(audit_id).running
    return any(cell.method.startswith("gae") and cell.fraction > 0 for cell in running)


def test_an_audit_is_named_by_graph_recipient_and_day(tmp_path, graph, make_spec, monkeypatch):
    monkeypatch.setattr(module.AuditRun, "start", lambda run: None)
    started, service = datetime.now(UTC), AuditService(tmp_path)
    service.save_graph(graph)
    policy = find_policy("partner").model_dump(mode="json")
    for fields in ({}, {"policy": policy}):
        service.start_audit(make_spec(graph_name="staff", **fields))
    service.start_audit(make_spec(), "own")
    title, ended = policy["title"], datetime.now(UTC)
    names = {audit.name: audit.policy for audit in service.list_audits()}
    service.close()
    possible = [
        {f"staff, {day}": "", f"staff, {title}, {day}": title, "own": ""}
        for day in (f"{moment.day} {moment:%b %Y}" for moment in (started, ended))
    ]
    assert names in possible


@pytest.mark.own_cluster
@pytest.mark.xdist_group("audit cluster")
class TestService:
    @pytest.fixture(autouse=True)
    def stored(self, service, graph):
        """The graph goes with its last audit, and the tests may run in parts and in any order."""
        service.save_graph(graph)

    def test_it_computes_what_one_process_computes(self, service, graph, make_spec, tmp_path):
        spec = make_spec(
            num_repeats=2,
            attacks=[
                {"key": "common_neighbors"},
                {"key": "class_prior"},
                {"key": "gae_cosine", "config": {"epochs": 5}},
            ],
        )
        audit_id = service.start_audit(spec, "first")
        assert service.get_progress(audit_id).is_active
        assert service.wait(audit_id, RETRY_S)
        view = service.get_view(audit_id)
        assert view.summary.state == "done"
        assert view.summary.cells_failed == 0
        inline = run_inline(spec, graph, tmp_path)
        assert describe_audit(view)["results"] == describe_audit(inline)["results"]
        assert service.get_view(audit_id) is view
        assert "first" in [audit.name for audit in service.list_audits()]

    def test_what_the_store_has_takes_no_time(self, service, make_spec):
        attacks = [{"key": "class_prior"}]
        spec = make_spec(num_repeats=2, root_seed=71, attacks=attacks)
        assert service.estimate_time(spec).high > 0
        service.rest()  # the cluster starts again for what follows
        assert not service._engine.is_alive
        assert service.wait(service.start_audit(spec), RETRY_S)
        assert service.estimate_time(spec) == TimeRange(0.0, 0.0)
        more = make_spec(num_repeats=3, root_seed=71, attacks=attacks)
        assert 0 < service.estimate_time(more).low < 60

    def test_an_estimate_draws_nothing(self, service, make_spec, monkeypatch):
        """Of a million people a draw takes half a minute, and every card of a page asks."""

        def refuse(*arguments):
            raise AssertionError("a threat was drawn")

        monkeypatch.setattr(plan, "draw_repeat", refuse)
        assert service.estimate_time(make_spec(root_seed=72)).low > 0

    def test_what_workers_need_is_imported_once_for_all(self, service):
        service.warm_up()
        names = list_preloaded()
        futures = [
            service._engine.submit(list_loaded, names, key=f"loaded-{number}")
            for number in range(2 * count_workers())
        ]
        found = [future.result() for future in futures]
        assert all(loaded == sorted(names) for loaded, _, _ in found)
        assert len({parent for _, parent, _ in found}) == 1
        assert min(kept for *_, kept in found) > 100_000  # objects that no collection visits
        cluster = service._engine._cluster._process.pid
        assert found[0][1] in [process.pid for process in psutil.Process(cluster).children()]

    def test_another_audit_takes_the_cells_that_are_known(self, service, make_spec):
        attacks = [{"key": "common_neighbors"}, {"key": "class_prior"}]
        larger = service.start_audit(make_spec(num_repeats=2, attacks=attacks), "larger")
        assert service.wait(larger, RETRY_S)
        known = list_done(service.home, larger)
        audit_id = service.start_audit(make_spec(num_repeats=2, attacks=attacks[:1]))
        assert service.wait(audit_id, RETRY_S)
        assert service.get_progress(audit_id).cells_done == 2 * (1 + 2 * (1 + len(USUAL)))
        assert list_done(service.home, audit_id).items() <= known.items()
        service.delete_audit(audit_id)
        (kept,) = (audit for audit in service.list_audits() if audit.id == larger)
        assert kept.cells_done == kept.cells_total
        assert list_done(service.home, larger) == known

    def test_cancelling_while_training_stops_it_long_before_its_end(self, service, make_spec):
        spec = make_spec(attacks=[SLOW], defenses=[])
        audit_id = service.start_audit(spec)
        wait_for(lambda: is_training(service, audit_id))
        running = service.get_progress(audit_id).running
        service.cancel_audit(audit_id)
        wait_for(lambda: not service.get_progress(audit_id).is_active)
        view = service.get_view(audit_id)
        assert view.summary.state == "cancelled"
        assert set(view.cells[view.cells.method.str.startswith("gae")].state) == {"cancelled"}
        assert any(cell.curves for cell in running)
        service.delete_audit(audit_id)

    def test_a_killed_worker_costs_only_what_it_had_in_hand(self, service, make_spec):
        attack = {"key": "gae_cosine", "config": {"epochs": 400}}
        spec = make_spec(num_repeats=2, attacks=[{"key": "adamic_adar"}, attack], defenses=[])
        audit_id = service.start_audit(spec)
        wait_for(lambda: is_training(service, audit_id))
        done = list_done(service.home, audit_id)
        workers = list_workers(service._engine._cluster._process.pid)
        assert len(workers) == count_workers()
        for process in workers:
            process.send_signal(signal.SIGKILL)
        assert service.wait(audit_id, RETRY_S)
        view = service.get_view(audit_id)
        assert set(view.cells.state) == {"done"}
        assert done
        assert done.items() <= list_done(service.home, audit_id).items()

    def test_a_publishing_run_draws_new_noise_each_time(self, service, graph):
        choice = MethodChoice.parse("random_deletion:strength=0.5")
        spec = PublishSpec(graph_hash=graph.content_hash, defense=choice, private="private")
        releases = []
        for _ in range(2):
            run_id = service.start_publish(spec)
            wait_for(lambda run_id=run_id: not service.get_publish(run_id).is_active)
            result = service.get_publish(run_id)
            assert (result.state, result.reason) == ("done", "")
            assert result.release.graph.num_edges == graph.num_edges // 2
            assert "seed" not in str(result.provenance)
            releases.append(result.release.graph.content_hash)
        assert releases[0] != releases[1]
        service._releases.clear()  # as after a restart of the server
        assert service.get_publish(run_id).release.graph.content_hash == releases[1]

    def test_a_published_release_goes_with_its_audit_and_after_its_time(
        self, service, graph, make_spec
    ):
        audit_id = service.start_audit(make_spec(defenses=[]), "publishes")
        other = service.start_audit(make_spec(defenses=[], root_seed=5), "keeps the graph")
        choice = MethodChoice.parse("random_deletion:strength=0.5")
        spec = PublishSpec(graph_hash=graph.content_hash, defense=choice)
        old, kept, own = (
            service.start_publish(spec),
            service.start_publish(spec),
            service.start_publish(spec, audit_id),
        )
        for run_id in (old, kept, own):
            assert service.publishing.wait(run_id, RETRY_S)
        assert [run.id for run in service.publishing.list(audit_id)] == [own]
        assert service.wait(audit_id, RETRY_S)
        assert service.wait(other, RETRY_S)
        service.delete_audit(audit_id)
        past = datetime.now(UTC) - timedelta(days=RETENTION_DAYS + 1)
        service._store.update_job(old, created=past.isoformat())
        service.publishing.sweep()
        for run_id in (old, own):
            with pytest.raises(InputError, match="publishing"):
                service.get_publish(run_id)
            assert not files.cell_folder(service.home, run_id).exists()
        assert service.publishing.load_release(kept).defense == "random_deletion"

    def test_unknown_ids_are_errors(self, service):
        for call in (
            service.get_view,
            service.get_progress,
            service.resume_audit,
            service.cancel_audit,
            service.delete_audit,
            service.get_publish,
        ):
            with pytest.raises(InputError):
                call("nothing")

    def test_the_server_process_does_not_load_torch(self, tmp_path):
        code = (
            "import sys; from core.audit.service import AuditService as S;"
            "import core.audit.results.export; S(sys.argv[1]).find_device_title();"
            "sys.exit('torch' in sys.modules)"
        )
        environment = {**os.environ, "AUDIT_DEVICE": "cpu"}
        run = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, env=environment, check=False
        )
        assert run.returncode == 0


@pytest.mark.xdist_group("audit cluster")
def test_a_resumed_audit_is_of_the_versions_that_computed_it(tmp_path, graph, make_spec):
    spec = make_spec(num_repeats=1, attacks=[{"key": "adamic_adar"}], defenses=[])
    run_inline(spec, graph, tmp_path)
    with closing(AuditService(tmp_path)) as service:
        audit_id = service.list_audits()[0].id
        today = service.get_view(audit_id).provenance
        assert not is_outdated(spec, today)
        versions = today["method_versions"]
        for name, old in (
            ("results_version", today["results_version"] - 1),
            ("method_versions", versions | {"adamic_adar": versions["adamic_adar"] - 1}),
        ):
            service._store.update_audit(audit_id, provenance=today | {name: old})
            assert is_outdated(spec, service.get_view(audit_id).provenance)
            service.resume_audit(audit_id)
            service.wait(audit_id)
            assert service.get_view(audit_id).provenance == today


def test_after_a_killed_process_a_resume_computes_only_the_rest(tmp_path, graph, make_spec):
    attacks = [{"key": "adamic_adar"}, {"key": "gae_cosine", "config": {"epochs": 400}}]
    spec = make_spec(num_repeats=2, attacks=attacks, defenses=[])
    store = Store(tmp_path)
    store.save_graph(graph)
    code = (
        "import sys; from core.audit.service import AuditService;"
        "from core.audit.asked.spec import AuditSpec; s = AuditService(sys.argv[1]);"
        "a = s.start_audit(AuditSpec.model_validate_json(sys.argv[2])); s.wait(a)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), spec.model_dump_json()], cwd=ROOT
    )
    wait_for(store.list_audits)
    audit_id = store.list_audits()[0].id
    wait_for(lambda: any(r.method.startswith("gae") for r in store.list_running(audit_id)))
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert len(children) >= 2
    _, alive = psutil.wait_procs(children, timeout=15)
    # no orphans; one that has ended may wait for a busy machine to remove it from the list
    assert [child for child in alive if child.status() != psutil.STATUS_ZOMBIE] == []
    done = list_done(tmp_path, audit_id)
    service = AuditService(tmp_path)
    try:
        assert service.list_audits()[0].state == "interrupted"
        assert 0 < len(done) < service.list_audits()[0].cells_total
        service.resume_audit(audit_id)
        assert service.wait(audit_id, RETRY_S)
        assert service.get_view(audit_id).summary.state == "done"
        assert done.items() <= list_done(tmp_path, audit_id).items()
    finally:
        service.close()
        store.close()


def test_a_cluster_that_cannot_start_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="did not start"):
        EmbeddedCluster(tmp_path).wait_until_ready()


def list_done(home, audit_id):
    """key → time of writing of the cells that are finished."""
    store = Store(home)
    rows = store.list_cells(audit_id, "key", "state")
    store.close()
    return {
        row.key: (files.cell_folder(Path(home), row.key) / "arrays.npz").stat().st_mtime_ns
        for row in rows
        if row.state == "done"
    }
