"""Two server processes behind the proxy of assets/deploy: a browser stays on one, and survives it.

`python -m tests.reliability.two_servers` signs in through the proxy, opens an audit, ends the
server that the browser is on, and goes on with the other. Needs caddy and Chromium.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import psutil
from playwright.sync_api import expect, sync_playwright

from core.audit.run import run_inline
from core.audit.spec import AuditSpec
from core.audit.store.database import Store
from tests.browser.conftest import ROOT, find_free_port, wait_for_server
from tests.conftest import BROWSER
from tests.deploy.test_deploy import run_caddy
from tests.openid import run_provider, write_secrets
from tests.oracles.graphs import two_communities

ADA = {"name": "Ada", "email": "ada@example.org", "email_verified": True}


def make_audit(home: Path, owner: str) -> str:
    """A small audit of somebody's."""
    graph = two_communities()
    fields = {"graph_hash": graph.content_hash, "attacks": [{"key": "common_neighbors"}]}
    spec = AuditSpec.check_spec({**fields, "hide_links": 0.1, "test_links": 0.0, "num_repeats": 1})
    store = Store(home)
    audit_id = run_inline(spec, graph, home, store=store).summary.id
    store.move_audit(audit_id, owner)
    store.close()
    return audit_id


def main() -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        provider = stack.enter_context(run_provider({"ada": ADA}))
        home, outer = folder / "home", find_free_port()
        audit_id = make_audit(home, f"{provider.address} ada")
        (home / "roles.toml").write_text('[emails]\n"ada@example.org" = "analyst"\n')
        address = f"http://127.0.0.1:{outer}"
        (folder / "secrets.toml").write_text(write_secrets(provider, address))
        ports, servers = [find_free_port(), find_free_port()], []
        environment = {**os.environ, "AUDIT_HOME": str(home), "AUDIT_DEVICE": "cpu"}
        for port in ports:
            command = [sys.executable, "-m", "streamlit", "run", "app.py"]
            command += ["--server.port", str(port), "--browser.serverPort", str(outer)]
            command += ["--secrets.files", str(folder / "secrets.toml")]
            log = stack.enter_context((folder / f"{port}.log").open("wb"))
            servers.append(
                subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
            )
            stack.callback(servers[-1].kill)
            wait_for_server(f"http://127.0.0.1:{port}", servers[-1])
        stack.enter_context(run_caddy(folder, ports, outer))
        wait_for_server(address, servers[0])
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        context = browser.new_context(base_url=address)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto("/")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("button", name="Ada").click()
        expect(page.get_by_text("Signed in as Ada, analyst")).to_be_visible(timeout=60_000)
        seen = []
        for _ in range(4):
            page.goto(f"/attack?audit={audit_id}")
            expect(page.get_by_text("Signed in as Ada")).to_be_visible(timeout=60_000)
            seen.append(find_server(context.cookies()))
        mine = find_busy(ports)
        servers[ports.index(mine)].kill()
        started = time.monotonic()
        page.goto(f"/attack?audit={audit_id}")
        expect(page.get_by_text("Signed in as Ada")).to_be_visible(timeout=60_000)
        seconds = time.monotonic() - started
        seen.append(find_server(context.cookies()))
        outcome = {
            "pages": len(seen),
            "stayed": len(set(seen[:4])) == 1,
            "moved": seen[-1] != seen[0],
            "seconds_to_move": round(seconds, 1),
        }
        print(json.dumps(outcome))
        browser.close()
        assert outcome["stayed"]
        assert outcome["moved"]


def find_server(cookies: list) -> str:
    """The proxy's cookie."""
    return next(c["value"] for c in cookies if c["name"] == "audit_server")


def find_busy(ports: list[int]) -> int:
    """The port of the server that holds the browser's WebSocket; the other has health checks."""
    counts = {port: 0 for port in ports}
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_ESTABLISHED and connection.laddr.port in counts:
            counts[connection.laddr.port] += 1
    return max(counts, key=counts.__getitem__)


if __name__ == "__main__":
    main()
