"""From a fresh home to a filled Risk page in three clicks at most, and ten seconds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest
from playwright.sync_api import expect

from core.audit.store.database import Store
from core.audit.store.ledger import describe_revision
from tests.browser import driver
from tests.browser.conftest import ROOT, find_free_port, wait_for_server

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

LIMIT_S, CORES = 10.0, 2
"""On two cores that do nothing else. On others the clock shows nothing: there, no more processor
time than these have in ten seconds."""


@pytest.fixture
def started(tmp_path) -> Iterator[tuple[float, psutil.Process, str]]:
    """When `streamlit run app.py` was started on a fresh home, its process and address."""
    port, begin = find_free_port(), time.monotonic()
    environment = {**os.environ, "AUDIT_HOME": str(tmp_path / "home"), "AUDIT_DEVICE": "cpu"}
    environment.pop("AUDIT_DATABASE", None)
    serve = ["-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    process = subprocess.Popen([sys.executable, *serve], cwd=ROOT, env=environment)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for_server(address, process)
        yield begin, psutil.Process(process.pid), address
    finally:
        process.terminate()
        process.wait(timeout=60)


def test_from_nothing_to_who_is_exposed(browser, started, tmp_path) -> None:
    begin, process, address = started
    page = browser.new_page(base_url=address, viewport={"width": 1440, "height": 1000})
    page.set_default_timeout(driver.WAIT_MS)
    driver.open_page(page, "", "Overview")
    expect(page.get_by_role("img", name="Chart.")).to_have_count(3)
    driver.press(page, "Explore a finished audit")
    expect(page.locator(".st-key-answer").first).to_contain_text("Publish Blink")
    driver.follow(page, "Risk")
    expect(page.locator(".st-key-chart-heatmap .main-svg").first).to_be_visible()
    wall, used = time.monotonic() - begin, process.cpu_times()
    spent = (wall, (used.user + used.system) / CORES)
    assert min(spent) < LIMIT_S, spent
    page.close()
    store, other = Store(tmp_path / "home"), Store(tmp_path / "other")
    assert len(store.list_audits()) == 1
    assert describe_revision(store) == describe_revision(other)
    for each in (store, other):
        each.close()
