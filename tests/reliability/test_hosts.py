"""The app answers to this machine's own names, asks nobody outside, and sweeps at its start."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEY = "dGhlIHNhbXBsZSBub25jZQ=="


@pytest.fixture(scope="module")
def outside() -> Iterator[socket.socket]:
    """What stands for the world: whoever asks for a page of it is connected here."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        yield proxy


@pytest.fixture(scope="module")
def left_over(tmp_path_factory) -> Path:
    """An upload of a server that was killed: no process has such a number."""
    folder: Path = tmp_path_factory.mktemp("temporary") / "audit-upload-4194305-abc"
    folder.mkdir()
    (folder / "links.csv").write_text("a,b\n")
    return folder


@pytest.fixture(scope="module")
def trace(tmp_path_factory) -> Path:
    """What addresses the app and its workers turn to, where strace can tell."""
    return tmp_path_factory.mktemp("trace") / "calls"


@pytest.fixture(scope="module")
def port(tmp_path_factory, outside, left_over, trace) -> Iterator[int]:
    """Of a running app without a browser."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    home = tmp_path_factory.mktemp("hosts") / "home"
    environment = {**os.environ, "AUDIT_HOME": str(home), "AUDIT_DEVICE": "cpu"}
    environment["TMPDIR"] = str(left_over.parent)
    environment["STREAMLIT_SERVER_ALLOWED_HOSTS"] = "localhost 127.0.0.1 audit.test"
    proxy = f"http://127.0.0.1:{outside.getsockname()[1]}"
    environment |= dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy)
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(number)]
    if shutil.which("strace"):
        calls = "--trace=bind,connect,sendto,sendmsg"
        command = ["strace", "-D", "-f", "-qq", "--seccomp-bpf", calls, "-o", str(trace), *command]
    with (home.parent / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                if ask(number, f"127.0.0.1:{number}", "/api/health").startswith("200"):
                    break
            except OSError:
                time.sleep(0.2)
        assert home.stat().st_mode & 0o077 == 0
        yield number
    finally:
        process.terminate()
        process.wait(60)


def ask(port: int, host: str, path: str, **headers: str) -> str:
    """Status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET", path, headers={"Host": host, **names})
    answer = connection.getresponse()
    body = b"" if answer.status == 101 else answer.read(200)
    connection.close()
    return f"{answer.status} {body!r}"


def open_socket(port: int, host: str, origin: str) -> str:
    """Status of a WebSocket's handshake."""
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Origin": origin}
    return ask(
        port, host, "/_stcore/stream", **upgrade, Sec_WebSocket_Key=KEY, Sec_WebSocket_Version="13"
    )


def test_own_names_are_answered(port):
    for name in ("127.0.0.1", "localhost"):
        assert ask(port, f"{name}:{port}", "/").startswith("200")
        own = open_socket(port, f"{name}:{port}", f"http://{name}:{port}")
        assert own.startswith("101"), own


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/static/index.js", "/nowhere"])
@pytest.mark.parametrize("host", ["evil.test", "localhost:{other}", "localhost", "[bad"])
def test_every_route_answers_to_the_own_name_and_port_only(port, path, host):
    refused = ask(port, host.format(other=port + 1), path)
    assert refused.startswith("403"), refused


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("evil.test:{port}", "http://evil.test:{port}"),  # a rebound name
        ("localhost:{port}", "http://localhost:{other}"),  # another server of this machine
        ("localhost:{port}", "http://evil.test:{port}"),
        ("localhost:{port}", "null"),
        ("localhost:{other}", "http://localhost:{port}"),
    ],
)
def test_a_foreign_page_is_refused(port, host, origin):
    names = {"port": port, "other": port + 1}
    refused = open_socket(port, host.format(**names), origin.format(**names))
    assert refused.startswith("403"), refused
    refused = ask(port, host.format(**names), "/_stcore/health", Origin=origin.format(**names))
    assert refused.startswith("403"), refused


def test_a_foreign_origin_makes_it_ask_nobody_outside(port, outside):
    refused = open_socket(port, f"127.0.0.1:{port}", "http://evil.test")
    assert refused[:3] in ("400", "403"), refused
    with pytest.raises(BlockingIOError):
        outside.accept()


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace here")
def test_nothing_is_asked_of_any_other_machine(port, trace):
    """Not even which address this machine has, to know its own by: no socket is bound or pointed
    outside, whatever a page under another of its names asks."""
    open_socket(port, f"localhost:{port}", f"http://audit.test:{port}")
    lines = trace.read_text(errors="replace").splitlines()
    asked = [line for line in lines if "sin_addr" in line or "sin6_addr" in line]
    outside = [line for line in asked if '"127.' not in line and '"::1"' not in line]
    assert asked
    assert outside == []


def test_uploads_of_a_killed_server_are_gone(port, left_over):
    assert left_over.parent.is_dir()
    assert not left_over.exists()
