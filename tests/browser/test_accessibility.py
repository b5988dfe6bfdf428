"""axe-core on every page, with nothing loaded and with a finished audit, in both themes; and
whether anything is cut off, lies on something else or cannot be seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from tests.browser import driver
from tests.browser.accessibility import find_faults
from tests.browser.layout import find_stumbles
from tests.inline import run_inline

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EMPTY = {"": "Overview", "decision": "Release decision", "data": "Data", "help": "Help"}
DONE = (
    *("Overview", "Release decision", "Data", "Attack", "Defend", "Homophily (GHRatio)"),
    *("Trade-off", "Report", "Audits", "Help"),
)
FIRST = ("Release decision", "Trade-off", "Report")
"""What every run looks at, beside the empty pages and the one on risk; the others are nightly."""


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
    ("scheme", "width", "titles"),
    [
        ("light", 1024, FIRST),
        pytest.param("light", 1024, DONE, marks=pytest.mark.nightly),
        pytest.param("dark", 1440, DONE, marks=pytest.mark.nightly),
    ],
    ids=["first", "light", "dark"],
)
def test_no_page_breaks_a_rule(
    browser: Browser, server: str, audit_id: str, scheme: str, width: int, titles: tuple[str, ...]
) -> None:
    page = open_session(browser, server, scheme, width)
    faults: dict[str, list[object]] = {}

    def look(title: str) -> None:
        faults[title] = [*find_faults(page), *find_stumbles(page)]

    for path, title in EMPTY.items():
        driver.open_page(page, path, title)
        look(f"{title}, empty")
    driver.open_page(page, f"risk?audit={audit_id}&threat=attribute&node=34", "Risk")
    page.locator(".st-key-node-panel").wait_for()
    driver.settle(page)
    look("a person")
    page.keyboard.press("Escape")
    page.locator(".st-key-node-panel").wait_for(state="detached")
    driver.settle(page)
    look("Risk")
    for title in titles:
        driver.follow(page, title)
        look(title)
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


def test_what_an_eye_stumbles_over_is_found(browser: Browser) -> None:
    """Two labels on each other, a cut one, faint circle and button, a hidden choice, a gap."""
    page = browser.new_page()
    page.set_content(
        "<div data-testid=stApp style='background:rgb(18,23,29);width:600px'>"
        "<div data-testid=stMain><div class=js-plotly-plot style='width:300px'>"
        "<svg width=300 height=60 style='overflow:visible'><text x=10 y=20>above all</text>"
        "<text x=20 y=24>below</text><text x=280 y=50>far too long</text></svg></div>"
        "<label data-testid=stRadioOption><div><div style='border:1px solid rgb(45,55,67);"
        "width:9px;height:9px'></div>A</div></label>"
        "<button disabled style='color:rgb(18,23,29)'>Run</button>"
        "<div data-testid=stMultiSelectTagsContainer style='width:50px;height:20px;"
        "white-space:nowrap;overflow:hidden'><span data-tag>one of many</span></div>"
        "<p style='width:50px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis'>"
        "ends in three points</p>"
        "<div data-testid=stHorizontalBlock style='display:flex;flex-wrap:wrap;gap:64px'>"
        "<div style='width:100%'>above</div><div style='width:100%'>far below</div></div>"
        "</div></div>"
    )
    found = " ".join(find_stumbles(page))
    page.close()
    for what in (
        *("on each other: above all", "cut: far", "cut: ends in"),
        *("hardly seen", "cannot be read: Run"),
    ):
        assert what in found
    assert "a gap of 64 pixels above: far below" in found
    assert "hidden choice: one of many" in found
