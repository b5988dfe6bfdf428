"""A server of the tests' own, on a free port and an empty AUDIT_HOME, and a browser on it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.liveness import find_state

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
START_S = 60
WAIT_MS = 60_000


@pytest.fixture(scope="session")
def server_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app's AUDIT_HOME."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def server(server_home: Path) -> Iterator[str]:
    """Address of the running app."""
    home = server_home
    port = find_free_port()
    environment = {**os.environ, "AUDIT_HOME": str(home), "AUDIT_DEVICE": "cpu"}
    environment.pop("AUDIT_DATABASE", None)
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for_server(address, process)
            yield address
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def page(browser: Browser, server: str, server_home: Path) -> Iterator[Page]:
    """A fresh session, 1440 px wide. An audit that its test leaves running is cancelled."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 1000}, accept_downloads=True, base_url=server
    )
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    yield page
    context.close()
    store = Store(server_home)
    for audit in store.list_audits():
        if find_state(audit).is_active:
            files.raise_flag(server_home, audit.id)
    store.close()


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_server(address: str, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended while starting"
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f"the server did not answer within {START_S} s")
