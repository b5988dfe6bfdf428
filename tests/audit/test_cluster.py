"""A cluster of separate processes, and who is let in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.audit.export import describe_audit
from core.audit.jobs import versions
from core.audit.jobs.engine import Engine
from core.audit.run import run_inline
from core.audit.service import AuditService
from core.errors import InputError

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0


def start(folder: Path, name: str, *arguments: str) -> tuple[subprocess.Popen[bytes], str]:
    """A command of the project and the address that it says it listens on."""
    log = folder / f"{name}.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "core", *arguments],
            cwd=ROOT,
            stderr=errors,
            env={**os.environ, "AUDIT_DEVICE": "cpu"},
        )
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        for line in log.read_text().splitlines():
            if line.startswith(f"{arguments[0]} at "):
                return process, line.rpartition(" ")[2]
        time.sleep(0.05)
    raise AssertionError(log.read_text())


@pytest.fixture
def scheduler(tmp_path, monkeypatch) -> Iterator[str]:
    """Address of a scheduler with two workers, all started by the commands."""
    process, address = start(tmp_path, "scheduler", "scheduler", "--port", "0")
    started = [process]
    try:
        started += [start(tmp_path, f"worker{i}", "worker", address)[0] for i in range(2)]
        monkeypatch.setenv("AUDIT_SCHEDULER", address)
        yield address
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
        for process in started:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.mark.xdist_group("audit cluster")
def test_a_cluster_of_commands_computes_what_one_process_computes(
    scheduler, tmp_path, graph, make_spec
):
    attacks = [{"key": "common_neighbors"}, {"key": "gae_cosine", "config": {"epochs": 150}}]
    spec = make_spec(seeds=2, attacks=attacks, defenses=[])
    service = AuditService(tmp_path / "home")
    try:
        service.save_graph(graph)
        audit_id = service.start_audit(spec)
        end = time.monotonic() + PATIENCE_S
        while not any(c.method.startswith("gae") for c in service.get_progress(audit_id).running):
            assert time.monotonic() < end
            time.sleep(0.02)
        commands = [
            process
            for process in psutil.Process().children(recursive=True)
            if "spawn_main" in " ".join(process.cmdline())
        ]
        assert len(commands) == 2  # the processes that compute
        commands[0].kill()
        assert service.wait(audit_id, PATIENCE_S)
        view = service.get_view(audit_id)
        assert (view.summary.state, view.summary.cells_failed) == ("done", 0)
        inline = run_inline(spec, graph, tmp_path / "inline")
        assert describe_audit(view)["results"] == describe_audit(inline)["results"]
    finally:
        service.close()


@pytest.mark.xdist_group("audit cluster")
def test_another_version_is_refused_in_one_line(tmp_path, monkeypatch):
    process, address = start(tmp_path, "scheduler", "scheduler", "--port", "0")
    monkeypatch.setenv("AUDIT_SCHEDULER", address)
    monkeypatch.setattr(versions, "describe_version", lambda: "abc")
    engine = Engine(tmp_path)
    try:
        with pytest.raises(InputError, match="must run the version abc") as caught:
            engine.connect()
        assert "\n" not in str(caught.value)
    finally:
        engine.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_nobody_at_the_address_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("core.audit.jobs.engine.CONNECT_S", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense"):
        monkeypatch.setenv("AUDIT_SCHEDULER", address)
        with pytest.raises(InputError, match="AUDIT_SCHEDULER must be reachable") as caught:
            Engine(tmp_path).connect()
        assert "\n" not in str(caught.value)


@pytest.mark.xdist_group("audit cluster")
def test_the_embedded_cluster_lets_in_only_its_parent(tmp_path, monkeypatch):
    """Another user of this machine can reach its ports, but has no credentials."""
    from distributed import Client
    from distributed.security import Security

    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    monkeypatch.delenv("AUDIT_SCHEDULER", raising=False)
    engine = Engine(tmp_path)
    try:
        scheduler = engine.connect().scheduler.address
        (worker,) = engine.connect().scheduler_info()["workers"]
        assert scheduler.startswith("tls://")
        assert worker.startswith("tls://")
        for security in (None, Security.temporary()):
            address = scheduler if security else scheduler.replace("tls", "tcp")
            with pytest.raises(OSError):  # noqa: PT011
                Client(address, security=security, timeout=2)
        assert engine.submit(versions.describe_version, key="v").result() == (
            versions.describe_version()
        )
        assert oct((tmp_path / "cluster.log").stat().st_mode & 0o777) == "0o600"
    finally:
        engine.close()
