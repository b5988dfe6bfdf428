"""axe-core on every page, with nothing loaded and with a finished audit, in both themes."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from core.audit.run import run_inline
from core.audit.spec import AuditSpec
from core.data.catalogue import load_dataset
from tests.browser import driver
from tests.browser.accessibility import find_faults

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EMPTY = {"verdict": "Verdict", "": "Data", "attack": "Attack", "risk": "Risk"}
DONE = ("Verdict", "Data", "Attack", "Defend", "Homophily", "Trade-off", "Report", "Audits")


@pytest.fixture(scope="session")
def audit_id(server_home: Path, server: str) -> str:
    """A small finished audit in the home of the running app."""
    graph = load_dataset("karate").graph
    spec = AuditSpec.check_spec(
        {
            "graph_name": "karate",
            "graph_hash": graph.content_hash,
            "private": "label",
            "known": 0.3,
            "hide_links": 0.2,
            "num_repeats": 2,
            "attacks": [
                {"key": key} for key in ("common_neighbors", "degree_product", "label_propagation")
            ],
            "defenses": [{"key": "random_deletion"}],
        }
    )
    return run_inline(spec, graph, server_home, "karate").summary.id


def open_session(browser: Browser, server: str, scheme: str, width: int) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": 1000},
        color_scheme=scheme,  # type: ignore[arg-type]
        base_url=server,
    )
    page = context.new_page()
    page.set_default_timeout(driver.WAIT_MS)
    return page


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1024), pytest.param("dark", 1440, marks=pytest.mark.nightly)]
)
def test_no_page_breaks_a_rule(
    browser: Browser, server: str, audit_id: str, scheme: str, width: int
) -> None:
    page = open_session(browser, server, scheme, width)
    faults = {}
    for path, title in EMPTY.items():
        driver.open_page(page, path, title)
        faults[f"{title}, empty"] = find_faults(page)
    driver.open_page(page, f"risk?audit={audit_id}&threat=attribute&node=34", "Risk")
    page.locator(".st-key-node-panel").wait_for()
    driver.settle(page)
    faults["a person"] = find_faults(page)
    page.keyboard.press("Escape")
    page.locator(".st-key-node-panel").wait_for(state="detached")
    driver.settle(page)
    faults["Risk"] = find_faults(page)
    for title in DONE:
        driver.follow(page, title)
        faults[title] = find_faults(page)
    page.context.close()
    assert not {title: list(map(str, found)) for title, found in faults.items() if found}


def test_faults_are_found(browser: Browser) -> None:
    """Faint words, a picture without a name, and a heading that skips a level."""
    page = browser.new_page()
    page.set_content(
        "<h1>A</h1><h4>B</h4><p style='color:#ccc;background:#fff'>faint</p><svg role='img'></svg>"
    )
    found = {fault.rule for fault in find_faults(page)}
    page.close()
    assert found >= {"color-contrast", "heading-order", "svg-img-alt"}
