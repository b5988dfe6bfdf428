"""A cluster of separate processes, and who is let in."""

from __future__ import annotations

import gc
import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import dask
import psutil
import pytest

from core.audit.jobs import cluster
from core.audit.jobs import engine as engine_module
from core.audit.jobs.cluster import NICENESS, EmbeddedCluster
from core.audit.jobs.engine import Engine
from core.errors import InputError

ROOT = Path(__file__).parents[2]
RETRY_S = 300.0

pytestmark = pytest.mark.own_cluster


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
    end = time.monotonic() + RETRY_S
    while time.monotonic() < end and process.poll() is None:
        for line in log.read_text().splitlines():
            if line.startswith(f"{arguments[0]} at "):
                return process, line.rpartition(" ")[2]
        time.sleep(0.05)
    raise AssertionError(log.read_text())


@pytest.mark.xdist_group("audit cluster")
def test_another_version_is_refused_in_one_line(tmp_path, monkeypatch):
    process, address = start(tmp_path, "scheduler", "scheduler", "--port", "0")
    monkeypatch.setenv("AUDIT_SCHEDULER", address)
    monkeypatch.setattr(engine_module, "describe_version", lambda: "abc")
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
        assert engine.submit(engine_module.describe_version, key="v").result() == (
            engine_module.describe_version()
        )
        # What the scheduler passes on it does not import: that would delay the first cell.
        is_loaded = "'core.audit.jobs.engine' in __import__('sys').modules"
        assert engine.submit(eval, is_loaded, key="worker").result()
        assert not engine.connect().run_on_scheduler(eval, is_loaded)
        # Processes that watch themselves cost six times the processor time while idle.
        profiles = engine.connect().run(dask.config.get, "distributed.worker.profile.enabled")
        assert list(profiles.values()) == [False]
        assert oct((tmp_path / "cluster.log").stat().st_mode & 0o777) == "0o600"
        # Workers yield to the process that draws the pages.
        assert set(engine.connect().run(os.nice, 0).values()) == {os.nice(0) + NICENESS}
    finally:
        engine.close()


def test_a_cluster_that_nobody_needed_ends_at_once(tmp_path, monkeypatch):
    """A command starts it before it knows whether a cell is missing."""
    monkeypatch.delenv("AUDIT_SCHEDULER", raising=False)
    early = EmbeddedCluster(tmp_path)
    process = psutil.Process(early._process.pid)
    while not (children := process.children()):  # the process that workers are forked from
        assert early.is_alive
        time.sleep(0.01)
    began = time.monotonic()
    Engine(tmp_path, early).close()
    assert time.monotonic() - began < 3
    assert not early.is_alive
    assert not psutil.wait_procs(children, timeout=3)[1]


@pytest.mark.xdist_group("audit cluster")
def test_a_cluster_that_is_starting_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    monkeypatch.delenv("AUDIT_SCHEDULER", raising=False)
    early = EmbeddedCluster(tmp_path)
    engine = Engine(tmp_path, early)
    try:
        # glibc reads its environment at the start of the process that workers are forked from.
        started_with = engine.submit(Path("/proc/self/environ").read_bytes, key="env").result()
        for name, value in cluster.KEPT_MEMORY.items():
            assert f"{name}={value}".encode() in started_with.split(b"\0")
        assert engine.submit(os.getppid, key="parent").result() in [
            process.pid for process in psutil.Process(early._process.pid).children()
        ]
        engine.rest()
        assert not engine.is_alive
        assert early._process.wait(RETRY_S) == 0
    finally:
        engine.close()


def list_listening(process: psutil.Process) -> list[psutil._common.pconn]:
    """What a process and its children listen on."""
    family = [process, *process.children(recursive=True)]
    found = (member.net_connections("inet") for member in family)
    return [c for connections in found for c in connections if c.status == psutil.CONN_LISTEN]


@pytest.mark.xdist_group("audit cluster")
def test_nodes_listen_for_each_other_and_for_nobody_else(tmp_path, monkeypatch):
    """A scheduler, a nanny and a worker have one port each, which is no page's."""
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    monkeypatch.delenv("AUDIT_SCHEDULER", raising=False)
    engine = Engine(tmp_path)
    try:
        assert engine.submit(engine_module.describe_version, key="v").result()
        assert engine._cluster is not None
        listening = list_listening(psutil.Process(engine._cluster._process.pid))
        assert len(listening) == 3
        assert {connection.laddr.ip for connection in listening} == {"127.0.0.1"}
        for connection in listening:
            with pytest.raises((OSError, http.client.HTTPException)):
                urlopen(f"http://127.0.0.1:{connection.laddr.port}/json/identity.json", timeout=5)
    finally:
        engine.close()


@pytest.mark.xdist_group("audit cluster")
def test_the_commands_of_a_cluster_open_one_port_each(tmp_path):
    scheduler, address = start(tmp_path, "scheduler", "scheduler", "--port", "0")
    worker, _ = start(tmp_path, "worker", "worker", address)
    try:
        assert [c.laddr.port for c in list_listening(psutil.Process(scheduler.pid))] == [
            int(address.rpartition(":")[2])
        ]
        assert len(list_listening(psutil.Process(worker.pid))) == 2  # a nanny and its worker
    finally:
        for process in (worker, scheduler):
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


def test_a_cluster_that_dies_at_its_start_is_started_again(tmp_path, monkeypatch):
    waits: list[float] = []
    started: list[int] = []

    def die(cluster: EmbeddedCluster, home: Path) -> None:
        started.append(1)
        raise RuntimeError("the computing cluster did not start")

    monkeypatch.setattr(EmbeddedCluster, "__init__", die)
    monkeypatch.setattr("core.audit.jobs.engine.time.sleep", waits.append)
    monkeypatch.delenv("AUDIT_SCHEDULER", raising=False)
    with pytest.raises(RuntimeError, match="did not start"):
        Engine(tmp_path).connect()
    assert len(started) == 4
    assert waits == sorted(waits)
    assert len(set(waits)) == 3


class Unclosed:
    """What is garbage only to the collector, as a client is that never connected."""

    def __init__(self, closed: list[str]) -> None:
        self.myself, self.closed = self, closed

    def __del__(self) -> None:
        self.closed.append("closed")


def test_clients_that_never_connected_are_gone_before_the_next_one_starts(tmp_path, monkeypatch):
    closed: list[str] = []

    def start_cluster(engine: Engine):
        assert closed == ["closed"]
        raise InterruptedError

    monkeypatch.setattr(Engine, "_start_cluster", start_cluster)
    monkeypatch.delenv("AUDIT_SCHEDULER", raising=False)
    gc.disable()
    try:
        Unclosed(closed)
        with pytest.raises(InterruptedError):
            Engine(tmp_path).connect()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("cores", "memory_gib", "devices"),
    [
        (16, [], []),
        (16, [8], [0]),
        (16, [6], [0]),
        (16, [141], [0] * 8),
        (16, [24], [0] * 3),
        (16, [24, 8], [0, 1, 0, 0]),
        (16, [141, 141], [0, 1] * 4),
        (2, [141], [0]),
        (2, [24, 24, 24], [0, 1, 2]),
    ],
)
def test_cells_share_a_gpu_that_has_memory_for_them(monkeypatch, cores, memory_gib, devices):
    monkeypatch.setattr(cluster.os, "cpu_count", lambda: cores)
    assert cluster.place_gpu_workers([gib * 2**30 for gib in memory_gib]) == devices


def test_workers_that_share_a_gpu_share_its_memory(monkeypatch):
    monkeypatch.delenv("AUDIT_MEMORY_MB", raising=False)
    shared = cluster.make_worker_env(0, is_shared=True)["AUDIT_MEMORY_MB"]
    assert float(shared) * 2**20 == cluster.GPU_WORKER_BYTES / 2
    assert "AUDIT_MEMORY_MB" not in cluster.make_worker_env(0)
    assert "AUDIT_MEMORY_MB" not in cluster.make_worker_env(None)
    monkeypatch.setenv("AUDIT_MEMORY_MB", "100")
    assert "AUDIT_MEMORY_MB" not in cluster.make_worker_env(0, is_shared=True), "the person's own"


def test_torch_is_not_imported_before_a_fork_where_cuda_may_be_used(monkeypatch):
    monkeypatch.delenv("AUDIT_DEVICE", raising=False)
    monkeypatch.setattr(cluster.shutil, "which", lambda name: f"/usr/bin/{name}")
    with_cuda = cluster.list_preloaded()
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    without = cluster.list_preloaded()
    assert without[: len(with_cuda)] == with_cuda
    code = "import sys"
    for modules in (with_cuda, without):
        code += f"\nimport {', '.join(modules)}"
        code += "\nprint([name for name in ('torch', 'torch._dynamo') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # Its compiler takes a second, and nothing uses it.
    assert done.stdout.splitlines() == ["[]", "['torch']"]
