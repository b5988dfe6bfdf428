"""Writes the README's pictures: audits the generated network and photographs three pages.

    python -m tests.browser.screenshots [--pages decision,risk,tradeoff] [--scheme light]
        [--width 1440] [--out assets/screenshots]

The audit runs by the command line in a home of its own, so that the pictures show what this
commit computes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from core.audit.store.database import Store
from tests.browser.conftest import find_free_port, wait_for_server
from tests.browser.driver import settle
from tests.conftest import BROWSER

ROOT = Path(__file__).parents[2]
AUDIT = """audit --graph social --private affiliation --hide-links 0.1 --attack quick
    --defense random_deletion:strength=0.3 --defense edge_rand:epsilon=6
    --defense random_rewiring --policy partner --repeats 2"""
SETTLE_MS = 15_000
"""For charts, which are drawn after the page."""


def main() -> None:
    """Audit, serve, photograph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pages", default="decision,risk,tradeoff")
    parser.add_argument("--scheme", default="light", choices=("light", "dark"))
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--out", type=Path, default=ROOT / "assets/screenshots")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "AUDIT_HOME": f"{folder}/home", "AUDIT_DEVICE": "cpu"}
        environment.pop("AUDIT_DATABASE", None)
        command = [sys.executable, "-m", "core", *AUDIT.split(), "--out", f"{folder}/audit"]
        done = subprocess.run(command, cwd=ROOT, env=environment)
        assert done.returncode in (0, 3), done.returncode
        audit_id = Store(f"{folder}/home").list_audits()[0].id
        port = find_free_port()
        serve = ["-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        server = subprocess.Popen([sys.executable, *serve], cwd=ROOT, env=environment)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for_server(address, server)
            photograph(address, audit_id, options)
        finally:
            server.terminate()
            server.wait(timeout=60)


def photograph(address: str, audit_id: str, options: argparse.Namespace) -> None:
    """One picture a page, as high as its first screen and a half."""
    arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=arguments)
        page = browser.new_page(
            viewport={"width": options.width, "height": 1100}, color_scheme=options.scheme
        )
        page.set_default_timeout(120_000)
        for name in options.pages.split(","):
            page.goto(f"{address}/{name}?audit={audit_id}")
            settle(page)
            page.wait_for_timeout(SETTLE_MS)
            page.screenshot(path=options.out / f"{name}-{options.scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
