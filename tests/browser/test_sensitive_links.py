"""A file of sensitive links: withheld, defended by PPGSL and baselines, compared, published."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.data.synthetic import generate_social
from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]

NUM_SENSITIVE = 40
STEPS = 1000
"""Long enough to be seen training."""
RELEASES = ("PPGSL", "Random deletion", "EdgeRand")


@dataclass(frozen=True)
class Files:
    links: Path
    nodes: Path
    sensitive: Path
    pairs: frozenset[frozenset[str]]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """The generated network with a header each, and some of its links as the sensitive ones."""
    graph = generate_social(200, seed=2)
    links, nodes, sensitive = (tmp_path / name for name in ("links.csv", "people.csv", "keep.txt"))
    ids = np.array(graph.node_ids)
    _write(links, [("from", "to"), *ids[graph.edges]])
    label = graph.column("label")
    _write(
        nodes,
        [
            ("person", "interest"),
            *zip(ids, [label.classes[code] for code in label.codes], strict=True),
        ],
    )
    chosen = np.random.default_rng(0).choice(graph.num_edges, NUM_SENSITIVE, replace=False)
    pairs = ids[graph.edges[chosen]]
    _write(sensitive, [pair[::-1] for pair in pairs])
    return Files(links, nodes, sensitive, frozenset(frozenset(pair) for pair in pairs.tolist()))


def test_from_a_file_of_sensitive_links_to_the_release(
    page: Page, files: Files, tmp_path: Path
) -> None:
    _load(page, files)
    _defend(page)
    _compare(page)
    _publish(page, files, tmp_path)


def _load(page: Page, files: Files) -> None:
    driver.open_page(page, "", "Overview")
    driver.pick(page, "Upload files")
    page.locator("input[type=file]").first.set_input_files([files.nodes, files.links])
    expect(page.get_by_role("combobox", name="Id column")).to_be_visible()
    driver.press(page, "Load the graph")
    expect(page.locator(".st-key-answer")).to_contain_text("200 people")
    driver.settle(page)
    driver.choose(page, "Sensitive links", "from a file")
    asked = page.get_by_test_id("stFileUploader").filter(has_text="Pairs of ids")
    asked.locator("input[type=file]").set_input_files(files.sensitive)
    expect(page.get_by_text(f"{NUM_SENSITIVE} sensitive links, such as")).to_be_visible()
    driver.settle(page)


def _defend(page: Page) -> None:
    """PPGSL and two baselines, attacked by the quick look; the curves show while it trains."""
    driver.follow(page, "Attack")
    driver.clear_attacks(page)
    driver.tick(page, "Common neighbours")
    driver.tick(page, "Degree product")
    driver.fill_number(page, "Repeats", 1)
    driver.press(page, "Run the attacks")
    driver.wait_for_audit(page)
    driver.follow(page, "Defend")
    driver.tick(page, "PPGSL")
    driver.fill_number(page, "Candidates per link (k)", 1)
    driver.fill_number(page, "Steps", STEPS)
    driver.tick(page, "Random deletion")
    driver.tick(page, "EdgeRand")
    driver.fill_number(page, "Privacy budget ε", 6)
    driver.press(page, "Make and attack the releases")
    live = page.locator(".st-key-live-0 .js-plotly-plot")
    expect(live.get_by_text("loss", exact=False).first).to_be_visible(timeout=driver.RUN_MS)
    expect(page.get_by_test_id("stMain").get_by_text("Making PPGSL")).to_be_visible()
    driver.wait_for_audit(page)
    assert "Original" in driver.read_exact(page)
    text = page.get_by_test_id("stMain").inner_text()
    assert "failed" not in text
    driver.choose(page, "Release", f"PPGSL (α = 0.015, steps = {STEPS})")
    driver.open_tab(page, "Training")
    expect(page.locator(".js-plotly-plot").nth(1)).to_be_visible()


def _compare(page: Page) -> None:
    """Nearness explains the risk; all four points have names."""
    driver.follow(page, "Homophily (GHRatio)")
    expect(page.get_by_text("the ends of withheld links are").first).to_be_visible()
    driver.follow(page, "Trade-off")
    chart = page.locator(".st-key-tradeoff .js-plotly-plot")
    for name in ("Original", *RELEASES):
        expect(chart.get_by_text(name).first).to_be_visible()
    expect(page.locator(".st-key-answer")).to_contain_text("publish")


def _publish(page: Page, files: Files, folder: Path) -> None:
    """What is downloaded holds people's ids, as asked, and no sensitive link."""
    driver.follow(page, "Report")
    driver.choose(page, "Release to publish", f"PPGSL (α = 0.015, steps = {STEPS})")
    driver.decide_to_publish(page)
    driver.press(page, "Make the release")
    expect(page.get_by_text("is ready:")).to_be_visible(timeout=driver.RUN_MS)
    page.get_by_text("Replace ids", exact=True).click()
    page.wait_for_timeout(1500)  # the button's file is made anew with the page
    driver.settle(page)
    archive = driver.download(page, "Download the release", folder)
    with zipfile.ZipFile(archive) as content:
        names = content.namelist()
        links = next(n for n in names if n.endswith(".csv") and ".nodes." not in n)
        rows = list(csv.DictReader(io.StringIO(content.read(links).decode())))
        record = next(n for n in names if n.endswith("provenance.json"))
        provenance = json.loads(content.read(record))
    released = {frozenset((row["source"], row["target"])) for row in rows}
    assert len(released) == provenance["release"]["num_edges"] > 100
    assert all(name.startswith("p") for pair in released for name in pair)
    assert not released & files.pairs
    assert provenance["release"]["facts"]["links_added"] > 0  # of the candidates
    assert provenance["release"]["config"]["steps"] == STEPS


def _write(path: Path, rows: list) -> None:
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
