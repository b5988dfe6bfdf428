"""A page is photographed when its last chart is drawn, not when its progress has gone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.benchmarks import gallery

pytestmark = pytest.mark.browser

LATE = """<div data-testid="stApp" data-test-script-state="notRunning"><h1>Map</h1>
<button>Cancel the map</button></div><script>
  const app = document.querySelector('div'), button = document.querySelector('button');
  const chart = app.appendChild(document.createElement('div'));
  setTimeout(() => { app.dataset.testScriptState = 'running'; button.remove(); }, 300);
  setTimeout(() => { chart.dataset.testid = 'stPlotlyChart'; chart.textContent = 'a skeleton';
    app.dataset.testScriptState = 'notRunning'; }, 1500);
  setTimeout(() => { chart.innerHTML = '<svg class="main-svg"></svg>'; }, 2500);
</script>"""


def test_a_map_is_not_photographed_half_drawn(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gap of a chart, or half of one, was photographed as the map of an audit that runs."""
    monkeypatch.setattr(gallery, "REST_MS", 0)
    page.route("**/*", lambda route: route.fulfill(body=LATE, content_type="text/html"))
    gallery.open_page(page, "http://gallery.test", "map")
    assert page.locator(".main-svg").count() == 1


def test_a_page_that_is_redrawn_is_looked_at_twice(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an audit that runs fades for a moment has too little contrast just then."""
    fault = "color-contrast at p: Fix any of the following: 3.26 in <p>{} of 5748 parts</p>"
    found = iter([[fault.format(1), "gone"], [fault.format(2), "new"]])
    monkeypatch.setattr(gallery, "find_faults", lambda _page: next(found))
    monkeypatch.setattr(gallery, "find_stumbles", lambda _page: [])
    monkeypatch.setattr(gallery, "_wait_until_drawn", lambda _page: None)
    assert gallery.find_lasting(page) == [fault.format(2)]
    found = iter([[]])
    assert gallery.find_lasting(page) == []
