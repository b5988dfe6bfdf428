"""The map in a browser at scale: `python -m tests.benchmarks.map_page [PEOPLE LINKS]`.

Lays a planted partition out, opens its map in the system's Chromium, once as a server's first page
and once again, then clicks a person and searches for one. Prints seconds, and the CPU seconds of
the server and of the browser apart; WebGL is drawn by the CPU where there is no GPU.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

from core.audit.service import AuditService
from core.audit.store.states import State
from core.graph import Graph
from tests.benchmarks.finite import print_finite
from tests.benchmarks.map_scale import draw_planted
from tests.reliability.load import run_app

DRAWN = """() => {
  const plot = document.querySelector('.js-plotly-plot');
  return plot?._fullLayout?.xaxis?._length > 100 && plot._fullData.some(t => t.x.length > 5);
}"""
LONELIEST = """() => {
  const plot = document.querySelector('.js-plotly-plot'), axes = plot._fullLayout;
  const trace = plot._fullData.filter(t => t.mode === 'markers' && t.customdata)
    .reduce((a, b) => b.x.length > a.x.length ? b : a);
  const cells = new Map(), found = [];
  for (let i = 0; i < trace.x.length; i++) {
    const at = [axes.xaxis.l2p(trace.x[i]), axes.yaxis.l2p(trace.y[i]), trace.text[i]];
    const key = Math.floor(at[0] / 8) + ',' + Math.floor(at[1] / 8);
    cells.set(key, (cells.get(key) || 0) + 1); found.push([at, key]);
  }
  const inside = found.filter(([a]) => a[0] > 40 && a[1] > 60 && a[0] < axes.xaxis._length - 40
                                       && a[1] < axes.yaxis._length - 60);
  const [best] = inside.reduce((a, b) => cells.get(b[1]) < cells.get(a[1]) ? b : a);
  return [best[0] + axes.xaxis._offset, best[1] + axes.yaxis._offset, best[2]];
}"""
"""The person of the map with most room around: x, y in pixels of the plot, and the name."""
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]
MS = 240_000


def lay_out(home: Path, graph: Graph) -> tuple[str, float]:
    """The stored graph's hash, and the seconds that its layout as a job took."""
    service = AuditService(home)
    try:
        graph_hash = service.save_graph(graph)
        service.layouts.start(graph_hash)
        while (run := service.layouts.find(graph_hash)) is not None and run.is_active:
            time.sleep(0.1)
        assert run is not None
        assert run.state is State.DONE, run
        return graph_hash, run.seconds
    finally:
        service.close()


def read_cpu(process: psutil.Process) -> float:
    """CPU seconds of a process and its living children."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


class Watch:
    """Prints what a step took: seconds, CPU seconds of the server and of the browser."""

    def __init__(self, server: psutil.Process) -> None:
        self._server, self._own = server, psutil.Process()
        self.start()

    def start(self) -> None:
        self._wall, self._cpu = time.monotonic(), self._read()

    def stop(self, what: str) -> None:
        wall = time.monotonic() - self._wall
        server, browser = (b - a for a, b in zip(self._cpu, self._read(), strict=True))
        print(f"{what}: {wall:.2f} s, server {server:.2f}, browser {browser:.2f}", flush=True)

    def _read(self) -> tuple[float, float]:
        browsers = [c for c in self._own.children(recursive=True) if "chrom" in c.name()]
        alone = (c.cpu_times() for c in browsers if c.is_running())
        return read_cpu(self._server), sum(t.user + t.system for t in alone)


def measure(page: Page, watch: Watch, graph_hash: str) -> None:
    page.goto(f"/audits?graph={graph_hash}")
    page.get_by_role("heading", level=1, name="Audits").wait_for()
    page.wait_for_timeout(3000)
    sidebar = page.get_by_test_id("stSidebarNav")
    for visit in ("first visit", "again"):
        watch.start()
        sidebar.get_by_role("link", name="Map", exact=False).click()
        page.wait_for_function(DRAWN)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        watch.stop(f"map shown, {visit}")
        page.wait_for_timeout(3000)
        if visit == "again":
            break
        sidebar.get_by_role("link", name="Audits", exact=False).click()
        page.get_by_role("heading", level=1, name="Audits").wait_for()
        page.wait_for_timeout(1500)
    x, y, person = page.evaluate(LONELIEST)
    plot = page.locator(".js-plotly-plot").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.wait_for_timeout(1500)
    watch.start()
    page.mouse.click(box["x"] + x, box["y"] + y)
    page.locator(".st-key-map-person").get_by_role("heading").first.wait_for()
    watch.stop(f"click on {person}: the panel is there")
    page.wait_for_timeout(3000)
    for name in ("17", "4242"):
        search = page.get_by_role("textbox", name="Find a person")
        search.fill(name)
        watch.start()
        search.press("Enter")
        page.get_by_role("heading", name=f"Person {name}", exact=True).wait_for()
        watch.stop(f"search for {name}: the panel is there")
        page.wait_for_timeout(3000)


def main(num_people: int = 100_000, num_links: int = 506_000) -> None:
    os.umask(0o077)
    home = Path(tempfile.mkdtemp(prefix="audit-map-"))
    graph = draw_planted(num_people, num_links)
    graph_hash, seconds = lay_out(home, graph)
    print(f"{graph.num_nodes:,} people, {graph.num_edges:,} links: laid out in {seconds:.1f} s")
    with run_app(home) as (port, server), sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = browser.new_context(
            viewport={"width": 1440, "height": 1000}, base_url=f"http://127.0.0.1:{port}"
        ).new_page()
        page.set_default_timeout(MS)
        measure(page, Watch(server), graph_hash)
        browser.close()


if __name__ == "__main__":
    print_finite(main, *map(int, sys.argv[1:]))
