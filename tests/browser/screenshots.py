"""Writes the pictures of the README and of the Overview, all of the finished example.

    python -m tests.browser.screenshots [--pages decision,risk,tradeoff] [--scheme light]
        [--width 1440] [--out assets/screenshots] [--overview]

A fresh home is served and the example opened by its button. With --overview the pictures of the
empty Overview are drawn instead, in both themes: the charts of the pages, smaller.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import get_args

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright
from plotly.graph_objects import Figure

from core.audit.results.view import AuditView
from core.audit.service import AuditService
from core.figures.releases import before_after
from core.figures.risk_heatmap import risk_heatmap
from core.figures.tradeoff_points import tradeoff
from core.findings.palette import NO_FILL, Theme
from core.findings.people import Secret, rank_people
from core.findings.policy import find_policy
from core.findings.risk import compute_heatmap
from core.findings.tradeoff import choose_axes
from core.findings.verdict import judge
from core.release import ORIGINAL
from tests.browser.conftest import find_free_port, wait_for_server
from tests.browser.driver import open_page, press, settle
from tests.conftest import BROWSER

ROOT = Path(__file__).parents[2]
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]
SETTLE_MS, DRAW_MS = 15_000, 1_000
"""For charts, which are drawn after the page."""
SHOWN = {"risk": "&threat=attribute"}
"""Page → what of it is shown, where that is not what it opens with."""
FOLDER = ROOT / "assets/overview"
SIZE: ViewportSize = {"width": 390, "height": 280}
MARGIN = {"l": 50, "r": 10, "t": 45, "b": 45}
NODE_SIZE = 7
NUM_COLORS = 96


def main() -> None:
    """Serve, open the example, photograph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pages", default="decision,risk,tradeoff")
    parser.add_argument("--scheme", default="light", choices=("light", "dark"))
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--out", type=Path, default=ROOT / "assets/screenshots")
    parser.add_argument("--overview", action="store_true")
    options = parser.parse_args()
    if options.overview:
        with tempfile.TemporaryDirectory() as folder:
            service = AuditService(folder)
            draw_overview(service.get_view(service.open_example()))
            service.close()
        return
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "AUDIT_HOME": f"{folder}/home", "AUDIT_DEVICE": "cpu"}
        environment.pop("AUDIT_DATABASE", None)
        port = find_free_port()
        serve = ["-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        server = subprocess.Popen([sys.executable, *serve], cwd=ROOT, env=environment)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for_server(address, server)
            photograph(address, options)
        finally:
            server.terminate()
            server.wait(timeout=60)


def draw_overview(view: AuditView) -> None:
    """Write assets/overview/NAME-THEME.png for each picture of the Overview."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        page = browser.new_page(viewport=SIZE, device_scale_factor=2)
        for theme in get_args(Theme):
            for name, figure in make_figures(view, theme).items():
                figure.update_layout(**SIZE, title_text="", showlegend=False, margin=MARGIN)
                page.set_content(figure.to_html(config={"staticPlot": True}))
                page.wait_for_selector(".main-svg")
                page.wait_for_timeout(DRAW_MS)
                drawn = page.locator(".js-plotly-plot").screenshot(omit_background=True)
                small = Image.open(io.BytesIO(drawn)).quantize(
                    NUM_COLORS, Image.Quantize.FASTOCTREE
                )
                small.save(FOLDER / f"{name}-{theme}.png", optimize=True)
        browser.close()


def make_figures(view: AuditView, theme: Theme) -> dict[str, Figure]:
    """Name of each picture → the chart that a page of the example shows."""
    verdict = judge(view, find_policy(view.spec.policy["key"]))
    assert verdict.recommended is not None
    best = view.get_release(verdict.recommended)
    secret = Secret("attribute")
    nodes = view.nodes.select(secret=secret)
    order = rank_people(view.nodes, secret, ORIGINAL).number.to_numpy(int)
    made = [view.get_release(ORIGINAL), best]
    tables = {each: compute_heatmap(nodes, each.id, order=order) for each in made}
    risk, utility = choose_axes(view.results, "link")
    limit = find_policy(view.spec.policy["key"]).find_limit("link", risk)
    sample, graph = view.load_sample(best.id), view.load_graph()
    heatmap = risk_heatmap(tables, theme=theme).figure
    heatmap.update_yaxes(showticklabels=False, title_text="")
    heatmap.update_coloraxes(colorbar_title_text="")
    heatmap.update_layout(yaxis_domain=(0.58, 1), yaxis2_domain=(0, 0.44))  # room for names
    points = tradeoff(view.results, risk, utility, None, "link", limit, theme, verdict)
    thin_labels(points.figure)
    column = graph.column(str(view.spec.threats.private))
    titles = made[0].title, best.title
    compared = before_after(sample, graph.node_ids, titles, theme, column)
    compared.figure.update_traces(marker_size=NODE_SIZE, selector={"mode": "markers"})
    return {"risk": heatmap, "defend": compared.figure, "tradeoff": points.figure}


def thin_labels(figure: Figure) -> None:
    """Of the releases name the original and the recommended one alone: a picture of 390 pixels has
    no room for labels that were placed in one of 600."""
    kept = [a for a in figure.layout.annotations if not a.showarrow or "<b>" in a.text]
    kept += [a for a in figure.layout.annotations if a.showarrow and a.text == "Original"]
    figure.layout.annotations = kept
    beside, below = {"ax": 14, "ay": 0, "xanchor": "left"}, {"ax": 0, "ay": 18, "xanchor": "center"}
    for label in [a for a in figure.layout.annotations if a.showarrow]:
        label.update(below if label.text == "Original" else beside, arrowcolor=NO_FILL)
    figure.update_traces(mode="lines", selector={"mode": "lines+text"})


def photograph(address: str, options: argparse.Namespace) -> None:
    """One picture a page, as high as its first screen and a half."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        page = browser.new_page(
            viewport={"width": options.width, "height": 1100},
            color_scheme=options.scheme,
            base_url=address,
        )
        page.set_default_timeout(120_000)
        audit_id = open_example(page)
        for name in options.pages.split(","):
            page.goto(f"/{name}?audit={audit_id}{SHOWN.get(name, '')}")
            settle(page)
            page.wait_for_timeout(SETTLE_MS)
            page.screenshot(path=options.out / f"{name}-{options.scheme}.png")
        browser.close()


def open_example(page: Page) -> str:
    """Open the finished example from the Overview; returns its audit's id."""
    open_page(page, "", "Overview")
    press(page, "Explore a finished audit")
    settle(page, "Release decision")
    expect(page).to_have_url(re.compile("audit="))
    return page.url.rpartition("audit=")[2].partition("&")[0]


if __name__ == "__main__":
    main()
