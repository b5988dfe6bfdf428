"""Every page in a real browser: it draws, nothing fails, nothing is fetched from elsewhere."""

from __future__ import annotations

import pytest

from tests.browser import driver

pytestmark = pytest.mark.browser

PAGES = {
    "": "Overview",
    "decision": "Release decision",
    "data": "Data",
    "attack": "Attack",
    "defend": "Defend",
    "risk": "Risk",
    "map": "Map",
    "homophily": "Homophily (GHRatio)",
    "tradeoff": "Trade-off",
    "report": "Report",
    "audits": "Audits",
    "help": "Help",
}


@pytest.mark.parametrize("path", PAGES)
def test_deep_link_draws_the_page_in_its_frame(page, server: str, path: str) -> None:
    foreign: list[str] = []
    page.on(
        "request",
        lambda request: (
            foreign.append(request.url)
            if not request.url.startswith((server, "ws://127.0.0.1", "data:", "blob:"))
            else None
        ),
    )
    driver.open_page(page, path, PAGES[path])
    sidebar = page.get_by_test_id("stSidebarNav")
    assert [
        link.inner_text().split("\n")[-1] for link in sidebar.get_by_role("link").all()
    ] == list(PAGES.values())
    assert "No graph is open" in page.get_by_test_id("stSidebar").inner_text()
    assert not foreign


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_follow_the_system(browser, server: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme, base_url=server)
    page = context.new_page()
    driver.open_page(page, "attack", "Attack")
    color = page.get_by_test_id("stApp").evaluate("e => getComputedStyle(e).backgroundColor")
    brightness = sum(int(part) for part in color[4:-1].split(",")[:3])
    assert (brightness > 600) == (scheme == "light")
    context.close()
