"""Calls with direction, time, kind and amount: from upload to files that other libraries read."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser import driver
from tests.oracles.graphs import two_communities

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]

COLUMNS = ("weight", "at", "kind", "direction")
LIMIT_MS = 300_000
"""Longest wait for a page: a busy machine draws one in minutes."""


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    rng, graph = np.random.default_rng(0), two_communities(40, seed=5)
    count = graph.num_edges
    hours = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(90 * 24, size=count), "h")
    table = pd.DataFrame(graph.edges, columns=["source", "target"]).assign(
        direction=rng.choice(["->", "<->"], count),
        at=hours.strftime("%Y-%m-%d %H:%M"),
        kind=rng.choice(["text", "voice"], count),
        weight=rng.integers(1, 400, count),
    )
    path = tmp_path / "calls.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(autouse=True)
def patient(page: Page) -> None:
    page.set_default_timeout(LIMIT_MS)
    expect.set_options(timeout=LIMIT_MS)
    yield
    expect.set_options(timeout=driver.WAIT_MS)


def test_columns_of_links_from_upload_to_files(page: Page, calls: Path, tmp_path: Path) -> None:
    main = page.get_by_test_id("stMain")
    driver.open_page(page, "", "Overview")
    driver.pick(page, "Upload files")
    page.locator("input[type=file]").first.set_input_files(calls)
    for use in ("direction of a link", "time of a link", "kind of a link"):
        expect(main).to_contain_text(use)
    driver.press(page, "Load the graph")
    expect(page.locator(".st-key-answer")).to_contain_text("40 people")
    expect(main).to_contain_text("6 columns of the input, 0 left out")
    expect(main).to_contain_text("Times of “at” lie between 2026-01-0")
    _publish_coarse_columns(page)
    driver.follow(page, "Attack")
    driver.clear_attacks(page)
    driver.tick(page, "Value join")
    driver.fill_number(page, "Repeats", 1)
    driver.press(page, "Run the attacks")
    driver.wait_for_audit(page)
    expect(page.locator(".st-key-answer")).to_contain_text("behind their pseudonyms")
    driver.follow(page, "Defend")
    driver.tick(page, "Random deletion")
    driver.press(page, "Make and attack the releases")
    driver.wait_for_audit(page)
    _check_decision(page)
    _publish(page, calls, tmp_path)


def _publish_coarse_columns(page: Page) -> None:
    """Publish every column of the links, times by month alone and amounts by one digit."""
    driver.pick(page, "chosen columns")
    box = page.get_by_role("combobox", name="Published columns; all others are withheld")
    for name in COLUMNS[1:]:
        box.click()
        box.fill(f"link.{name}")
        page.get_by_role("option", name=f"link.{name}", exact=True).first.click()
        driver.settle(page)
    box.press("Escape")
    for name, rule in (("at", "date: year and month"), ("weight", "rounded")):
        driver.choose(page, "Generalise column", f"link.{name}")
        driver.choose(page, "Rule", rule)
        if name == "weight":
            page.get_by_role("textbox", name="significant digits").fill("1")
        page.locator(".st-key-rule-add button").click()
        expect(page.get_by_test_id("stMain")).to_contain_text(f"link.{name}: ")
        driver.settle(page)
    said = "link.weight (rounded to 1 significant digit), link.at (year and month)"
    expect(page.get_by_test_id("stMain")).to_contain_text(f"Published with the links: {said}")


def _check_decision(page: Page) -> None:
    """Every column is a channel of the decision. The join reads all of them, but what kinds, times
    and directions tell of withheld links is read by no attack."""
    driver.follow(page, "Release decision")
    expect(page.locator(".st-key-banner")).to_contain_text(re.compile("(Do not p|P)ublish|Review"))
    driver.unfold(page, "What leaves: ")
    table = page.locator(".st-key-limits-channels")
    weights = table.get_by_role("row").filter(has_text="Link weights")
    expect(weights).not_to_contain_text("not attacked")
    expect(weights).to_contain_text("Value join")
    for name in COLUMNS[1:]:
        row = table.get_by_role("row").filter(has_text=f"Values of link.{name}")
        expect(row).to_contain_text("not attacked")
    expect(table).to_contain_text("coarsened (year and month), not attacked")
    expect(table.get_by_role("row").filter(has_text="Links")).to_contain_text("not attacked")


def _publish(page: Page, calls: Path, folder: Path) -> None:
    """The report names what leaves; both files hold the columns, coarsened as chosen."""
    driver.follow(page, "Report")
    path = driver.download(page, "Download the PDF", folder)
    text = subprocess.run(
        ["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True
    ).stdout
    assert "What leaves with Random deletion (strength = 0.3): 6 of 9 channels" in text
    assert all(f"Values of link.{name}" in text for name in COLUMNS[1:])
    driver.choose(page, "Release to publish", "Random deletion (strength = 0.3)")
    driver.decide_to_publish(page)
    driver.press(page, "Make the release")
    expect(page.get_by_test_id("stMain")).to_contain_text("is ready", timeout=driver.RUN_MS)
    expect(page.get_by_role("switch", name="Replace ids", exact=True)).to_be_disabled()
    driver.add_option(page, "Formats", "GraphML")
    with zipfile.ZipFile(driver.download(page, "Download the release", folder)) as archive:
        archive.extractall(folder / "release")
    (path,) = (folder / "release").glob("*[!s].csv")
    table, original = pd.read_csv(path), pd.read_csv(calls)
    assert set(table.columns) == {"source", "target", *COLUMNS}
    network = nx.read_graphml(path.with_suffix(".graphml"))
    rows = pd.DataFrame([data for _, _, data in network.edges(data=True)])[[*COLUMNS]]
    assert sorted(rows.values.tolist()) == sorted(table[[*COLUMNS]].values.tolist())
    assert len(rows) < len(original)
    assert set(table["kind"]) == {"text", "voice"}
    assert set(table["direction"]) == {"→", "←", "↔"}  # ids in another order turn links round
    assert set(table["at"]) <= set(original["at"].str[:7])
    assert {str(int(weight)).rstrip("0") for weight in table["weight"]} <= set("123456789")
    assert set(table["source"]) | set(table["target"]) <= {f"n{node}" for node in range(1, 41)}
