"""The help page's commands for several machines, on one: and then they fail, one by one."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

import core.cli.main as command
from core.audit.store.database import Store
from core.audit.store.states import State
from tests.postgres import create_database
from tests.test_readme import read_block

ROOT = Path(__file__).parents[2]
BLOCK = read_block("More than one machine")
RETRY_S = 540.0
AUDIT = """audit --graph karate --attack gae_cosine:epochs=400 --repeats 2 --hide-links 0.1
    --test-links 0 --out"""


class Machines:
    """The commands of the block as processes of this machine."""

    def __init__(self, folder: Path, database: str) -> None:
        self._folder, self._started = folder, list[subprocess.Popen[bytes]]()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        text = BLOCK.replace("postgresql+psycopg://audit@DATABASE/audit", database)
        text = text.replace("/srv/audit", str(folder / "home")).replace("8786", port)
        text = re.sub(r"\b(cert|key)\.pem", rf"{folder}/\1.pem", text)
        text = re.sub(r"\b(SCHEDULER|WORKER)\b(?=[: \n])", "127.0.0.1", text)
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        self._exports = "\n".join(line for line in lines if line.startswith("export "))
        self._commands = {
            line.partition(" -m core ")[2].partition(" ")[0] or line.partition(" ")[0]: line
            for line in lines
            if not line.startswith("export ")
        }
        assert list(self._commands) == ["openssl", "scheduler", "worker", "audit"]

    def run(self, name: str) -> None:
        script = f"{self._exports}\n{self._commands[name]}"
        subprocess.run(["bash", "-ec", script], check=True, capture_output=True, timeout=60)

    def start(self, name: str, log: str, say: str = "") -> subprocess.Popen[bytes]:
        """A command of the block; returns when it says that it listens."""
        line = self._commands[name] if name != "audit" else f".venv/bin/python -m core {AUDIT} out"
        line = " ".join(shlex.split(line.replace(" out", f" {self._folder}/out")))
        line = line.replace(".venv/bin/python", shlex.quote(sys.executable))
        path = self._folder / log
        with path.open("wb") as errors:
            process = subprocess.Popen(
                ["bash", "-c", f"{self._exports}\nexec {line}"],
                cwd=ROOT,
                stderr=errors,
                env={**os.environ, "AUDIT_DEVICE": "cpu"},
            )
        self._started.append(process)
        wait_for(lambda: process.poll() is not None or say in path.read_text(), path)
        assert process.poll() is None, path.read_text()
        return process

    def stop(self) -> None:
        for process in reversed(self._started):
            process.send_signal(signal.SIGTERM)
        for process in self._started:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(condition: Callable[[], bool], log: Path) -> None:
    end = time.monotonic() + RETRY_S
    while not condition():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)


@pytest.fixture
def machines(tmp_path, postgres_server) -> Iterator[Machines]:
    started = Machines(tmp_path, create_database(postgres_server.url))
    yield started
    started.stop()


def list_computing(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return [
        process
        for process in psutil.Process(worker.pid).children(recursive=True)
        if "spawn_main" in " ".join(process.cmdline())
    ]


def read_output(folder: Path) -> dict[str, bytes]:
    """What an audit left, less what names the run."""
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in (".parquet", ".csv")
    }
    audit = json.loads((folder / "audit.json").read_text())
    return {**found, "results": json.dumps(audit["results"]).encode()}


@pytest.mark.slow
@pytest.mark.xdist_group("audit cluster")
def test_lost_workers_scheduler_and_database_lose_nothing(
    machines, postgres_server, tmp_path, monkeypatch
):
    machines.run("openssl")
    scheduler = machines.start("scheduler", "scheduler.log", "scheduler at tls://")
    workers = [machines.start("worker", f"worker{i}.log", "worker at tls://") for i in "ab"]
    audit = machines.start("audit", "audit.log")
    log = tmp_path / "audit.log"
    url = re.search(r"AUDIT_DATABASE=(\S+)", machines._exports)[1]
    wait_for(lambda: "parts" in log.read_text(), log)
    store = Store(tmp_path / "home", url)

    def list_states(method: str = "") -> list[str]:
        return [row.state for row in store.list_jobs() if row.method.startswith(method)]

    wait_for(lambda: State.RUNNING in list_states("gae"), log)
    (lost,) = list_computing(workers[0])
    lost.kill()
    wait_for(lambda: State.DONE in list_states("gae"), log)
    kept = {row.key: row.finished for row in store.list_jobs() if row.state is State.DONE}
    scheduler.kill()
    scheduler.wait()
    postgres_server.restart()
    machines.start("scheduler", "scheduler2.log", "scheduler at tls://")
    assert audit.wait(RETRY_S) == 0, log.read_text()
    rows = {row.key: row for row in store.list_jobs()}
    store.close()
    assert {row.state for row in rows.values()} <= {State.DONE, State.SKIPPED}
    assert {key: rows[key].finished for key in kept} == kept  # nothing was computed twice
    assert len(kept) < len(rows)

    for name in ("AUDIT_DATABASE", "AUDIT_SCHEDULER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "embedded"))
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    assert command.main([*AUDIT.split(), str(tmp_path / "alone")]) == 0
    found, alone = read_output(tmp_path / "out"), read_output(tmp_path / "alone")
    assert found == alone
    assert list(found) == ["nodes.parquet", "results"]
