"""The app answers to this machine's own names, asks nobody outside, and sweeps at its start."""

from __future__ import annotations

import http.client
import os
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
def port(tmp_path_factory, outside, left_over) -> Iterator[int]:
    """Of a running app without a browser."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    home = tmp_path_factory.mktemp("hosts") / "home"
    environment = {**os.environ, "AUDIT_HOME": str(home), "AUDIT_DEVICE": "cpu"}
    environment["TMPDIR"] = str(left_over.parent)
    proxy = f"http://127.0.0.1:{outside.getsockname()[1]}"
    environment |= dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy)
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(number)]
    with (home.parent / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                if ask(number, f"127.0.0.1:{number}", "/_stcore/health").startswith("200"):
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
        port,
        host,
        "/_stcore/stream",
        **upgrade,
        Sec_WebSocket_Key=KEY,
        Sec_WebSocket_Version="13",
    )


def test_own_names_are_answered(port):
    for name in ("127.0.0.1", "localhost"):
        assert ask(port, f"{name}:{port}", "/").startswith("200")
        own = open_socket(port, f"{name}:{port}", f"http://{name}:{port}")
        assert own.startswith("101"), own


def test_a_rebound_name_is_refused(port):
    refused = open_socket(port, f"evil.test:{port}", f"http://evil.test:{port}")
    assert refused[:3] in ("400", "403"), refused


def test_a_foreign_origin_makes_it_ask_nobody_outside(port, outside):
    refused = open_socket(port, f"127.0.0.1:{port}", "http://evil.test")
    assert refused[:3] in ("400", "403"), refused
    with pytest.raises(BlockingIOError):
        outside.accept()


def test_uploads_of_a_killed_server_are_gone(port, left_over):
    assert left_over.parent.is_dir()
    assert not left_over.exists()
