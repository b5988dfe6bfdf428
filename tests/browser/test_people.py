"""Sign-in with a real OpenID provider: two analysts, an approver, somebody without a role."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from core.audit.asked.spec import AuditSpec
from core.audit.store.database import Store
from tests.browser.conftest import ROOT, find_free_port, wait_for_server
from tests.browser.driver import RUN_MS, choose, decide_to_publish, press, settle
from tests.inline import run_inline
from tests.openid import Provider, run_provider, write_secrets
from tests.oracles.graphs import two_communities

pytestmark = pytest.mark.browser

USERS = {
    name.lower(): {"name": name, "email": f"{name.lower()}@example.org", "email_verified": True}
    for name in ("Ada", "Bob", "Eve", "Ned")
}
ROLES = """[emails]
"ada@example.org" = "analyst"
"bob@example.org" = "analyst"
"eve@example.org" = "approver"
"""


@dataclass(frozen=True)
class App:
    """A running app with sign-in, and Ada's audit in it."""

    address: str
    provider: Provider
    audit_id: str
    graph_hash: str
    home: Path


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("people")
    home, port = folder / "home", find_free_port()
    address = f"http://127.0.0.1:{port}"
    graph = two_communities()
    spec = AuditSpec.check_spec(
        {
            "graph_name": "mine alone",
            "graph_hash": graph.content_hash,
            "hide_links": 0.1,
            "test_links": 0.0,
            "num_repeats": 1,
            "attacks": [{"key": "common_neighbors"}],
            "defenses": [{"key": "edge_rand", "config": {"epsilon": 2.0}}],
        }
    )
    with run_provider(USERS) as provider, pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUDIT_DATABASE", raising=False)
        store = Store(home)
        audit_id = run_inline(spec, graph, home, store=store).summary.id
        store.move_audit(audit_id, f"{provider.address} ada")
        store.close()
        (home / "roles.toml").write_text(ROLES)
        (folder / "secrets.toml").write_text(write_secrets(provider, address))
        environment = {**os.environ, "AUDIT_HOME": str(home), "AUDIT_DEVICE": "cpu"}
        environment["AUDIT_WORKERS"] = "1"
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        command += ["--secrets.files", str(folder / "secrets.toml")]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
            try:
                wait_for_server(address, process)
                yield App(address, provider, audit_id, graph.content_hash, home)
            finally:
                process.terminate()
                process.wait(30)


@pytest.fixture
def sign_in(browser: Browser, app: App) -> Iterator[Callable[[str], Page]]:
    """`sign_in(name)`: a browser of theirs, on the first page after the provider."""
    contexts = []

    def enter(name: str) -> Page:
        context = browser.new_context(
            viewport={"width": 1440, "height": 1000}, accept_downloads=True, base_url=app.address
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto("/")
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        expect(page.get_by_test_id("stSidebarNav")).to_have_count(0)
        press(page, "Sign in")
        expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
        page.get_by_role("button", name=name).click()
        return page

    yield enter
    for context in contexts:
        context.close()


@contextmanager
def opened(page: Page, path: str) -> Iterator[Page]:
    page.goto(path)
    expect(page.get_by_test_id("stSidebar").get_by_text("Signed in as")).to_be_visible()
    settle(page)
    yield page


@pytest.mark.nightly
def test_a_release_needs_two_people_and_a_stranger_sees_nothing(app, sign_in, tmp_path):
    ada = sign_in("Ada")
    expect(ada.get_by_text("Signed in as Ada, analyst")).to_be_visible()
    report = f"/report?audit={app.audit_id}"
    with opened(ada, report):
        choose(ada, "Release to publish", "EdgeRand (ε = 2)")
        decide_to_publish(ada)
        press(ada, "Make the release")
        waiting_text = ada.get_by_text("waits for the signature of an approver")
        expect(waiting_text).to_be_visible(timeout=RUN_MS)
        expect(ada.get_by_text("Only an approver may sign it.")).to_be_visible()
        expect(ada.get_by_role("button", name="Sign the release")).to_have_count(0)
        expect(ada.get_by_role("button", name="Download the release")).to_have_count(0)

    bob = sign_in("Bob")
    expect(bob.get_by_text("Signed in as Bob, analyst")).to_be_visible()
    for path in (report, f"/audits?audit={app.audit_id}&graph={app.graph_hash}"):
        with opened(bob, path):
            body = bob.locator("body").inner_text()
            assert "mine alone" not in body, path
            for verb in ("Delete", "Cancel", "Resume", "Make the release", "Sign the release"):
                expect(bob.get_by_role("button", name=verb)).to_have_count(0)
    expect(bob.get_by_text("No audit has been run yet.")).to_be_visible()

    eve = sign_in("Eve")
    with opened(eve, report):
        expect(eve.get_by_text("This audit was started by Ada")).to_be_visible()
        expect(eve.get_by_role("button", name="Make the release")).to_have_count(0)
        press(eve, "Sign the release")
        expect(eve.get_by_text("Prepared by Ada, signed by you")).to_be_visible()

    with opened(ada, report), ada.expect_download() as waiting:
        expect(ada.get_by_text("Prepared by you, signed by Eve")).to_be_visible()
        press(ada, "Download the release")
    waiting.value.save_as(tmp_path / "release.zip")
    assert (tmp_path / "release.zip").stat().st_size > 0

    store = Store(app.home)
    with store.read() as connection:
        rows = connection.exec_driver_sql("SELECT name, event FROM trail ORDER BY number").all()
    store.close()
    done = [tuple(row) for row in rows]
    for event in (("Ada", "prepare release"), ("Eve", "sign release"), ("Ada", "hand out release")):
        assert event in done
    assert ("Bob", "refused: get view") in done


def test_without_a_role_there_is_nothing(app, sign_in):
    ned = sign_in("Ned")
    expect(ned.get_by_text("have no role")).to_be_visible()
    expect(ned.get_by_text(f"{app.provider.address} ned")).to_be_visible()
    ned.goto(f"/audits?audit={app.audit_id}")
    expect(ned.get_by_text("have no role")).to_be_visible()
    expect(ned.get_by_test_id("stSidebarNav")).to_have_count(0)
    press(ned, "Sign out")
    expect(ned.get_by_role("button", name="Sign in")).to_be_visible()
