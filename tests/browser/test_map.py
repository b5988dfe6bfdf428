"""The map of everyone: laid out in the background, a click opens the person, a search finds one."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

LONELIEST = """plot => {
  const axes = plot._fullLayout, found = [];
  const trace = plot._fullData.find(t => t.mode === 'markers' && t.customdata && t.x.length > 5);
  for (let i = 0; i < trace.x.length; i++)
    found.push([axes.xaxis.l2p(trace.x[i]), axes.yaxis.l2p(trace.y[i]), trace.text[i]]);
  const apart = (a, b) => a === b ? Infinity : Math.hypot(a[0] - b[0], a[1] - b[1]);
  const gap = a => Math.min(...found.map(b => apart(a, b)));
  const inside = found.filter(a => a[0] > 40 && a[1] > 60 && a[0] < axes.xaxis._length - 40
                                && a[1] < axes.yaxis._length - 60);
  const best = inside.reduce((a, b) => gap(b) > gap(a) ? b : a);
  return [best[0] + axes.xaxis._offset, best[1] + axes.yaxis._offset, best[2]];
}"""
"""The point of the map with most room around it: x, y in pixels of the plot, its person."""


def test_a_click_on_the_map_opens_the_person(page: Page) -> None:
    driver.load_example(page)
    driver.follow(page, "Map")
    plot = page.locator(".js-plotly-plot").first
    expect(plot).to_be_visible(timeout=driver.RUN_MS)
    driver.settle(page)
    expect(page.locator(".st-key-answer")).to_contain_text("The graph falls into")
    page.wait_for_function(
        "() => document.querySelector('.js-plotly-plot')?._fullLayout?.xaxis?._length > 100"
    )
    x, y, person = plot.evaluate(LONELIEST)
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.wait_for_timeout(300)
    page.mouse.click(box["x"] + x, box["y"] + y)
    card = page.locator(".st-key-map-person")
    expect(card.get_by_role("heading", name=f"Node {person}", exact=True)).to_be_visible()

    search = page.get_by_role("textbox", name="Find a node")
    search.fill("p0017")
    search.press("Enter")
    expect(card.get_by_role("heading", name="Node p0017", exact=True)).to_be_visible()
    driver.settle(page)
    page.reload()
    driver.settle(page, "Map")
    expect(card.get_by_role("heading", name="Node p0017", exact=True)).to_be_visible()
