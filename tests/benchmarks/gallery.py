"""Photographs every page of finished and running audits and of an empty home, in both themes and
two widths, and prints what axe-core and the layout check find on each.

    python -m tests.benchmarks.gallery HOME [AUDIT …] [--pages decision,risk] [--schemes light,dark]
        [--widths 1440,1024] [--state NAME] [--out DIR]

Serves the app on HOME, so that an audit that runs there is shown as running. Without an audit, the
pages are opened with nothing loaded. Exits with 1 where anything is found. A line a page: the
share of the first screen that is picture, its charts, those without colour, and slanted labels,
titles of vertical axes apart.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.benchmarks.finite import print_finite
from tests.browser.accessibility import find_faults
from tests.browser.conftest import find_free_port, wait_for_server
from tests.browser.driver import settle
from tests.browser.layout import DRAWN, find_stumbles
from tests.conftest import BROWSER
from tests.reliability.load import PAGES

ROOT = Path(__file__).parents[2]
REST_MS = 2_000
"""For charts, which are drawn after the page."""
MAP_MS = 300_000
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
"""Nothing tells a page that is still blank from one that is done but this."""
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]


PICTURES = "[data-testid=stPlotlyChart] .js-plotly-plot, [data-testid=stImage] img, iframe"
_MEASURE = """pictures => {
  const shown = [...document.querySelectorAll(pictures)].map(e => [e, e.getBoundingClientRect()])
    .filter(([e, r]) => r.width > 60 && r.height > 60 && e.checkVisibility());
  const seen = shown.map(([e, r]) =>
    Math.max(0, Math.min(r.right, innerWidth) - Math.max(r.left, 0))
    * Math.max(0, Math.min(r.bottom, innerHeight) - Math.max(r.top, 0)));
  const charts = shown.filter(([e]) => e.matches('.js-plotly-plot'));
  const slanted = charts.flatMap(([e]) => [...e.querySelectorAll('svg text')].filter(t =>
    t.textContent.trim() && !/y\\d*title/.test(t.getAttribute('class') || '')
    && /rotate\\((?!0[,)])/.test(t.getAttribute('transform') || '')));
  return {share: seen.reduce((a, b) => a + b, 0) / innerWidth / innerHeight,
    slanted: slanted.map(t => t.textContent),
    boxes: charts.map(([e, r]) => [r.left, r.top, r.right, r.bottom])};
}"""
MIN_CHROMA, MIN_COLORED = 40, 0.001
"""Difference of a pixel's channels from which it has a colour, and share of such of a chart."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("audits", nargs="*")
    parser.add_argument("--pages", default=",".join(("", *PAGES, "help")))
    parser.add_argument("--schemes", default="light,dark")
    parser.add_argument("--widths", default="1440,1024")
    parser.add_argument("--state", default="done", help="prefix of the pictures' names")
    parser.add_argument("--out", type=Path, default=Path("gallery"))
    options = parser.parse_args()
    if unknown := set(options.pages.split(",")) - {"", *PAGES, "help"}:
        parser.error(f"no such page: {', '.join(sorted(unknown))}")
    options.out.mkdir(parents=True, exist_ok=True)
    with open_browser(options.home) as (browser, address):
        found = [
            fault
            for scheme, width in product(options.schemes.split(","), options.widths.split(","))
            for fault in photograph(browser, address, scheme, int(width), options)
        ]
    print(f"{len(found)} found")
    sys.exit(bool(found))


@contextmanager
def open_browser(home: Path) -> Iterator[tuple[Browser, str]]:
    """Chromium, and the address of the app that is served on a home."""
    port = find_free_port()
    serve = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "AUDIT_HOME": str(home)}
    server = subprocess.Popen(serve, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for_server(address, server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
            yield browser, address
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=60)


def open_page(page: Page, address: str, name: str, audit: str = "") -> None:
    """Wait until everything on a page is drawn."""
    page.goto(f"{address}/{name}" + (f"?audit={audit}" if audit else ""))
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    _wait_until_drawn(page)
    # The page of a finished layout is drawn anew: its progress goes first, the map comes last.
    expect(page.get_by_role("button", name="Cancel the map")).to_have_count(0, timeout=MAP_MS)
    _wait_until_drawn(page)
    page.wait_for_timeout(REST_MS)


def _wait_until_drawn(page: Page) -> None:
    expect(page.locator(IDLE)).to_have_count(1)
    settle(page)
    page.wait_for_function(DRAWN)


def photograph(
    browser: Browser, address: str, scheme: str, width: int, options: argparse.Namespace
) -> list[str]:
    """One theme and width: a picture a page and audit, and a line for whatever is found."""
    lines = []
    page = browser.new_page(
        viewport={"width": width, "height": 1100},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page.set_default_timeout(180_000)
    expect.set_options(timeout=180_000)
    for audit, name in product(options.audits or [""], options.pages.split(",")):
        open_page(page, address, name, audit)
        title = "-".join(filter(None, (options.state, audit, name or "overview", scheme)))
        page.screenshot(path=options.out / f"{title}-{width}.png")
        share = page.evaluate(_MEASURE, PICTURES)["share"]
        whole = photograph_rest(page, options.out / f"{title}-{width}-whole.png")
        print(f"{title}-{width}: {share:.0%} picture, {whole}", flush=True)
        for fault in find_lasting(page):
            lines.append(f"{title}-{width}: {fault}")
            print(lines[-1], flush=True)
    page.close()
    return lines


def find_lasting(page: Page) -> list[str]:
    """What is found twice: a page that follows a run is redrawn in between, half faded."""
    first = _find_all(page)
    if not first:
        return []
    _wait_until_drawn(page)
    page.wait_for_timeout(REST_MS // 2)
    return [text for key, text in _find_all(page).items() if key in first]


def _find_all(page: Page) -> dict[str, str]:
    """Fault without its changing figures → fault."""
    found = map(str, (*find_faults(page), *find_stumbles(page)))
    return {text.split(": Fix any")[0]: text for text in found}


def photograph_rest(page: Page, path: Path) -> str:
    """The whole page, which scrolls inside its frame: the window is made as high as it is. Returns
    how many charts it has, without colour, and with slanted labels."""
    assert page.viewport_size is not None
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    whole = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": width, "height": max(height, min(whole, 6000))})
    page.wait_for_timeout(REST_MS // 2)
    page.screenshot(path=path)
    found = page.evaluate(_MEASURE, PICTURES)
    page.set_viewport_size({"width": width, "height": height})
    with Image.open(path) as picture:
        grey = sum(is_grey(picture.crop(tuple(map(round, box)))) for box in found["boxes"])
    slanted = "; ".join(found["slanted"])
    return f"{len(found['boxes'])} charts, {grey} grey, {len(found['slanted'])} slanted {slanted}"


def is_grey(picture: Image.Image) -> bool:
    """Whether a chart has no colour that could mean something."""
    pixels = np.asarray(picture.convert("RGB"), int)
    return bool((np.ptp(pixels, axis=2) >= MIN_CHROMA).mean() < MIN_COLORED)


if __name__ == "__main__":
    print_finite(main)
