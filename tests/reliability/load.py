"""Many sessions at once, and many audits one after the other: seconds, memory, handles.

    python -m tests.reliability.load [--sessions 20] [--rounds 3] [--quiet]
    python -m tests.reliability.load --soak 500

The first form starts the app on a home with a finished audit, starts a long audit beside it
(unless --quiet), and lets each session open one page after the other without a pause, by the
protocol of the browser: a WebSocket that asks for a page and waits until its script has finished.
What a browser does with the answer, and its polling of a running job, is not in it. Each page is
opened once before anything is counted. The second form runs audits that differ in their seed in
one process, opens and deletes them, and prints memory, handles and threads as they go.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import psutil
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

ROOT = Path(__file__).parents[2]
PAGES = (
    *("decision", "data", "attack", "defend", "risk", "map"),
    *("homophily", "tradeoff", "report", "audits"),
)
"""Pages that are opened; `tests/reliability/test_load_errors.py` holds that each exists."""

CORE = [sys.executable, "-m", "core", "audit", "--graph", "social", "--private", "affiliation"]
FINISHED = [*CORE, "--hide-links", "0.1", "--attack", "common_neighbors", "--attack", "adamic_adar"]
FINISHED += ["--attack", "label_propagation", "--defense", "random_deletion:strength=0.3"]
FINISHED += ["--defense", "edge_rand:epsilon=6", "--repeats", "3"]
RUNNING = [*CORE, "--attack", "gps", "--hide-links", "0.1", "--attack", "gae_cosine"]
RUNNING += ["--repeats", "40"]
RETRY_S = 300


@dataclass
class Tally:
    """Seconds by page, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    num_bytes: int = 0


class Session:
    """One browser tab, as far as the server can tell."""

    def __init__(self, port: int, audit_id: str, cookie: str = "") -> None:
        self._port, self._query = port, f"audit={audit_id}"
        self._cookie = cookie
        self._hashes: dict[str, str] = {"": ""}

    async def open(self) -> None:
        url = f"ws://127.0.0.1:{self._port}/_stcore/stream"
        origin = {"Origin": f"http://127.0.0.1:{self._port}"}
        if self._cookie:
            origin["Cookie"] = self._cookie
        self._socket = await websocket_connect(
            HTTPRequest(url, headers=origin, request_timeout=RETRY_S), subprotocols=["streamlit"]
        )
        await self.load("", Tally())

    async def load(self, page: str, tally: Tally) -> None:
        """Ask for a page and wait for its end."""
        message = BackMsg()
        message.rerun_script.query_string = self._query
        message.rerun_script.page_script_hash = self._hashes[page]
        started = time.monotonic()
        await self._socket.write_message(message.SerializeToString(), binary=True)
        while True:
            answer = await asyncio.wait_for(self._socket.read_message(), RETRY_S)
            if answer is None:
                tally.errors.append(f"{page}: closed")
                return
            tally.num_bytes += len(answer)
            told = ForwardMsg.FromString(answer)
            kind = told.WhichOneof("type")
            if kind == "navigation":
                found = {p.url_pathname or "overview": p for p in told.navigation.app_pages}
                self._hashes |= {name: p.page_script_hash for name, p in found.items()}
            elif kind == "delta":
                error = find_error(told.delta.new_element)
                if error:
                    tally.errors.append(f"{page}: {error}")
            elif (
                kind == "script_finished"
                and told.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            ):
                if told.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                    tally.errors.append(f"{page}: {told.script_finished}")
                tally.seconds.setdefault(page, []).append(time.monotonic() - started)
                return

    def close(self) -> None:
        self._socket.close()


def find_error(element: Element) -> str:
    """What an element tells that went wrong: an exception, or an error that a page shows."""
    if element.WhichOneof("type") == "exception":
        return str(element.exception.message)
    if element.WhichOneof("type") == "alert" and element.alert.format == Alert.ERROR:
        return str(element.alert.body)
    return ""


async def visit(port: int, audit_id: str, number: int, rounds: int, tally: Tally) -> None:
    """A session that opens all pages `rounds` times, each session from another one on."""
    session = Session(port, audit_id)
    try:
        await session.open()
        start = number % len(PAGES)
        for page in (PAGES[start:] + PAGES[:start]) * rounds:
            await session.load(page, tally)
        session.close()
    except (OSError, TimeoutError) as error:
        tally.errors.append(repr(error))


def measure_family(process: psutil.Process) -> int:
    """Bytes of a process and all that it started; what they share counts once."""
    family = [process, *process.children(recursive=True)]
    return sum(member.memory_full_info().pss for member in family)


@contextmanager
def run_app(home: Path) -> Iterator[tuple[int, psutil.Process]]:
    """Port and process of the app on a home."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "AUDIT_HOME": str(home), "AUDIT_DEVICE": "cpu"}
    with (home / "app.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + RETRY_S
        while True:
            try:
                with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5):
                    break
            except OSError:
                if time.monotonic() > end or process.poll() is not None:
                    raise
                time.sleep(0.2)
        yield port, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(60)


def run_audit(home: Path, command: list[str]) -> str:
    """The id of an audit made by the command line."""
    environment = {**os.environ, "AUDIT_HOME": str(home), "AUDIT_DEVICE": "cpu"}
    subprocess.run(
        [*command, "--out", str(home / "out")],
        check=True,
        cwd=ROOT,
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    audit = json.loads((home / "out" / "audit.json").read_text())
    return str(audit["provenance"]["audit"])


def measure_load(home: Path, num_sessions: int, rounds: int, is_quiet: bool) -> int:
    """Print what the sessions met; 1 if one met an error."""
    audit_id = run_audit(home, FINISHED)
    background = None
    with run_app(home) as (port, server):
        first, tally = Tally(), Tally()
        asyncio.run(visit(port, audit_id, 0, 1, first))
        print_seconds("first visits, one session", first)
        if not is_quiet:
            environment = {**os.environ, "AUDIT_HOME": str(home), "AUDIT_DEVICE": "cpu"}
            background = subprocess.Popen(
                [*RUNNING, "--out", str(home / "other")],
                cwd=ROOT,
                env=environment,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(10)
        try:
            before, started = server.cpu_times(), time.monotonic()

            async def visit_all() -> None:
                visits = (visit(port, audit_id, k, rounds, tally) for k in range(num_sessions))
                await asyncio.gather(*visits)

            asyncio.run(visit_all())
            wall, after = time.monotonic() - started, server.cpu_times()
        finally:
            if background is not None:
                background.send_signal(signal.SIGINT)
                background.wait(60)
        pages = sum(map(len, tally.seconds.values()))
        cpu = after.user + after.system - before.user - before.system
        print_seconds(f"{num_sessions} sessions", tally)
        print(
            f"{pages} pages in {wall:.0f} s, {cpu / max(pages, 1):.3f} CPU s each, "
            f"{tally.num_bytes / max(pages, 1) / 1e3:.0f} kB each; "
            f"server {server.memory_info().rss / 1e6:.0f} MB, with its workers "
            f"{measure_family(server) / 1e6:.0f}; {len(tally.errors)} errors"
        )
    for error in sorted(set(first.errors + tally.errors))[:10]:
        print(error)
    return bool(first.errors or tally.errors)


def print_seconds(what: str, tally: Tally) -> None:
    every = np.concatenate([*tally.seconds.values(), [0.0]][:-1] or [np.zeros(1)])
    shown = ", ".join(f"{page} {np.median(times):.2f}" for page, times in tally.seconds.items())
    p50, p95 = np.percentile(every, [50, 95])
    print(f"{what}: p50 {p50:.2f} s, p95 {p95:.2f} s; medians {shown}", flush=True)


def soak(home: Path, count: int) -> None:
    """Print memory, handles and threads of a process and its workers after every tenth."""
    from core.audit.asked.spec import AuditSpec
    from core.audit.service import AuditService
    from tests.oracles.graphs import two_communities

    os.environ["AUDIT_DEVICE"] = "cpu"
    service, graph, process = AuditService(home), two_communities(), psutil.Process()
    service.save_graph(graph)
    fields = {
        "graph_hash": graph.content_hash,
        "private": "private",
        "known": 0.3,
        "num_repeats": 1,
    }
    attacks = [{"key": "common_neighbors"}, {"key": "label_propagation"}]
    fields |= {"attacks": attacks, "defenses": [{"key": "random_deletion"}], "hide_links": 0.1}
    failed = 0
    try:
        for number in range(1, count + 1):
            service.save_graph(graph)
            audit_id = service.start_audit(AuditSpec.check_spec({**fields, "root_seed": number}))
            service.wait(audit_id, RETRY_S)
            view = service.get_view(audit_id)
            failed += view.summary.state != "done" or view.summary.cells_failed > 0
            service.delete_audit(audit_id)
            if number % 10 == 0 or number == count:
                tree = process.children(recursive=True)
                workers = sum(child.memory_info().rss for child in tree if child.is_running())
                stored = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
                print(
                    f"{number} audits: {process.memory_info().rss / 1e6:.0f} MB, "
                    f"{process.num_fds()} handles, {threading.active_count()} threads, "
                    f"cluster {workers / 1e6:.0f} MB, home {stored / 1e6:.1f} MB, {failed} failed",
                    flush=True,
                )
    finally:
        service.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3, help="how often each opens all pages (3)")
    parser.add_argument("--quiet", action="store_true", help="no audit beside the sessions")
    parser.add_argument("--soak", type=int, metavar="N", help="N audits in one process instead")
    options = parser.parse_args()
    os.umask(0o077)
    home = Path(tempfile.mkdtemp(prefix="audit-load-"))
    code = 0
    try:
        if options.soak:
            soak(home, options.soak)
        else:
            code = measure_load(home, options.sessions, options.rounds, options.quiet)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
