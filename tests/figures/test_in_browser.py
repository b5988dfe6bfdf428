"""What only a browser can tell: clicks reach the node, names run no script."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from core.audit.asked.release_info import ReleaseInfo
from core.figures.ego_page import render_ego_html
from core.figures.risk_heatmap import risk_heatmap
from core.figures.theme import style_figure
from core.figures.transfer import transfer_matrix
from core.findings.risk import compute_heatmap
from core.graph import Graph
from tests.oracles.audits import tabulate_results

from .conftest import result_row
from .test_ego import HOSTILE

pytestmark = pytest.mark.browser


def test_ego_page_runs_offline_and_no_name_becomes_script(browser, tmp_path):
    graph = Graph.from_pairs(np.array([[0, i] for i in range(1, 6)]), 6, node_ids=HOSTILE)
    file = tmp_path / "ego.html"
    file.write_text(render_ego_html(graph, 0), encoding="utf-8")
    page = browser.new_page()
    dialogs, requests = [], []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("#mynetwork canvas", timeout=30_000)
    assert page.evaluate("nodes.length") == 6
    box = page.locator("#mynetwork canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(400)
    assert dialogs == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()


def test_a_click_near_the_edge_of_a_cell_finds_its_node(browser, view, tmp_path):
    table = compute_heatmap(view.nodes, "original")
    chart = risk_heatmap({ReleaseInfo("original"): table})
    body = chart.figure.to_html(include_plotlyjs=False, full_html=False, div_id="heat")
    file = tmp_path / "heat.html"
    file.write_text(
        f"<html><body><script>{get_plotlyjs()}</script>{body}<script>"
        "document.getElementById('heat').on('plotly_click',"
        " e => { window.clicked = e.points.map(p => p.customdata); });</script></body></html>",
        encoding="utf-8",
    )
    page = browser.new_page(viewport={"width": 1200, "height": 700})
    page.goto(file.as_uri())
    page.wait_for_selector("#heat .plotly", timeout=60_000)
    page.wait_for_timeout(500)
    plot = page.locator("#heat .nsewdrag").first.bounding_box()
    attacks = [attack.id for attack in table.columns[5:]]
    rank, row = 8, 2
    assert not np.isnan(chart.table[attacks[row]].iloc[rank - 1])
    places = sorted(set(chart.figure.data[1].x))
    page.mouse.click(
        plot["x"] + plot["width"] * (places[rank - 1] + 0.5) / (places[-1] + 1),
        plot["y"] + plot["height"] * (row + 0.9) / len(attacks),
    )
    page.wait_for_function("window.clicked", timeout=10_000)
    assert page.evaluate("window.clicked")[0] == [
        chart.table.node.iloc[rank - 1],
        attacks[row],
        rank,
        rank,
    ]
    page.close()


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_a_title_of_several_lines_is_not_cut_and_stays_above_the_plot(browser, tmp_path, lines):
    figure = style_figure(go.Figure(go.Bar(x=[1], y=["a"])), "light", 300, "word " * 18 * lines)
    assert figure.layout.title.text.count("<br>") == lines - 1
    file = tmp_path / "title.html"
    figure.write_html(file, include_plotlyjs=True)
    page = browser.new_page(viewport={"width": 1000, "height": 420})
    page.goto(file.as_uri())
    title = page.locator(".gtitle").bounding_box()
    plot = page.locator(".nsewdrag").first.bounding_box()
    above = page.locator(".main-svg").first.bounding_box()
    assert title["y"] >= above["y"]
    assert title["y"] + title["height"] < plot["y"]
    page.close()


def test_slanted_names_stay_below_the_title(browser, tmp_path):
    releases = ["original", "edge_rand", "dice", "random_rewiring:strength=0.3", "blink"]
    rows = [result_row(release, "jaccard", "auc", 0.7) for release in releases]
    table = tabulate_results(rows)
    figure = transfer_matrix(table[table.release != "dice"], "auc", "link").figure
    body = figure.to_html(include_plotlyjs=False, full_html=False, div_id="matrix")
    file = tmp_path / "matrix.html"
    script = f"<script>{get_plotlyjs()}</script>"
    file.write_text(f"<html><body>{script}{body}</body></html>", encoding="utf-8")
    page = browser.new_page(viewport={"width": 700, "height": 600})
    page.goto(file.as_uri())
    title = page.locator(".gtitle").bounding_box()
    names = page.locator(".xtick text")
    assert "on Blink" in page.locator(".gtitle").text_content()
    assert names.count() == 4
    for name in names.all():
        assert name.bounding_box()["y"] > title["y"] + title["height"]
    page.close()
