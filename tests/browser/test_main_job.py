"""The main job, from files to PDF, as an analyst does it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from core.data.synthetic import generate_social
from tests.browser import driver
from tests.conftest import find_data_root

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]

ATTACKS = (
    "Common neighbours",
    "GAE \\+ cosine",
    "GPS",
    "Label propagation",
    "Degree product",
    "Class prior",
)
SEEDS = 2


@dataclass(frozen=True)
class Upload:
    """Two files, what their columns are, and what the profile must say."""

    links: Path
    nodes: Path
    id_column: str
    private: str
    utility: str
    unknown: str
    people: int
    num_links: int


@pytest.fixture
def nba(data_root: Path) -> Upload:
    folder = data_root / "nba"
    return Upload(
        folder / "nba_relationship.txt",
        folder / "nba.csv",
        "user_id",
        "country",
        "SALARY",
        "-1",
        403,
        10_621,
    )


@pytest.fixture
def generated(tmp_path: Path) -> Upload:
    """The generated network as the files of somebody else, with −1 for some labels."""
    graph = generate_social(200, seed=1)
    links, nodes = tmp_path / "links.txt", tmp_path / "people.csv"
    np.savetxt(links, graph.edges + 1000, fmt="%d", delimiter="\t")
    columns = [graph.column("affiliation"), graph.column("label")]
    rows = ["person_id,affiliation,label"]
    for node in range(graph.num_nodes):
        values = [a.classes[a.codes[node]] for a in columns]
        if node % 20 == 0:
            values[1] = "-1"
        rows.append(",".join([str(node + 1000), *values]))
    nodes.write_text("\n".join(rows) + "\n")
    return Upload(links, nodes, "person_id", "affiliation", "label", "-1", 200, graph.num_edges)


@pytest.fixture
def upload(request: pytest.FixtureRequest) -> Upload:
    """NBA where the raw files are; the generated network as files elsewhere."""
    root = find_data_root()
    has_nba = root is not None and (root / "nba" / "nba.csv").exists()
    return request.getfixturevalue("nba" if has_nba else "generated")


def test_from_files_to_report(page: Page, upload: Upload, tmp_path: Path) -> None:
    _load(page, upload)
    audit = _attack(page)
    _defend(page)
    node = _find_exposed(page)
    _compare(page)
    _report(page, tmp_path, node)
    _reload(page, audit)


def _load(page: Page, upload: Upload) -> None:
    driver.open_page(page, "", "Overview")
    driver.pick(page, "Upload files")
    page.locator("input[type=file]").first.set_input_files([upload.links, upload.nodes])
    expect(page.get_by_role("combobox", name="Id column")).to_be_visible()
    driver.choose(page, "Id column", upload.id_column)
    driver.choose(page, "Private column", upload.private)
    driver.choose(page, "Utility column", upload.utility)
    driver.add_option(page, "Which values mean", upload.unknown)
    driver.press(page, "Load the graph")
    answer = page.locator(".st-key-answer")
    expect(answer).to_contain_text(f"{upload.people:,} people and {upload.num_links:,} links")
    driver.settle(page)


def _attack(page: Page) -> str:
    """Runs the attacks on the original; the numbers have intervals around them."""
    driver.follow(page, "Attack")
    driver.clear_attacks(page)
    for title in ATTACKS:
        driver.tick(page, title)
    driver.fill_number(page, "Repeats", SEEDS)
    driver.press(page, "Run the attacks")
    driver.wait_for_audit(page)
    estimates = driver.read_estimates(driver.read_exact(page))
    assert len(estimates) >= 2
    for value, low, high in estimates:
        assert 0 <= low <= value <= high <= 1
    assert max(value for value, _, _ in estimates) > 0
    for threat, titles in (
        ("Withheld links", ("Common neighbours", "GAE + cosine")),
        ("Private attribute", ("GPS", "Label propagation")),
    ):
        driver.pick(page, threat)
        for title in titles:
            expect(page.locator(".js-plotly-plot", has_text=title).first).to_be_visible()
    assert "failed" not in page.get_by_test_id("stMain").inner_text()
    found = re.search(r"audit=([0-9a-f]+)", page.url)
    assert found
    return found.group(1)


def _defend(page: Page) -> None:
    driver.follow(page, "Defend")
    driver.tick(page, "Random deletion")
    driver.fill_number(page, "Share of links removed", 0.3)
    driver.tick(page, "EdgeRand")
    driver.fill_number(page, "Privacy budget ε", 6)
    driver.press(page, "Make and attack the releases")
    driver.wait_for_audit(page)
    answer = driver.read_exact(page)
    assert "on Original" in answer
    assert len(driver.read_estimates(answer)) >= 2
    assert "failed" not in page.get_by_test_id("stMain").inner_text()


def _find_exposed(page: Page) -> str:
    """Clicks a cell of the heatmap through to a node."""
    driver.follow(page, "Risk")
    assert re.search(r"\d+ of [\d,]+ (people|likely)", driver.read_answer(page))
    driver.click_heatmap(page)
    panel = page.locator(".st-key-node-panel")
    expect(panel).to_be_visible()
    driver.settle(page)
    heading = panel.get_by_role("heading").first.inner_text()
    assert heading.startswith("Node ")
    # A person may have been at stake in one repeat only; then there is no interval, and it says so.
    text = panel.inner_text()
    assert driver.read_estimates(text) or "It was seen in one repeat" in text
    expect(panel.locator("iframe").first).to_be_visible()
    expect(page).to_have_url(re.compile("node="))
    _reopen(page, heading)
    return heading.removeprefix("Node ").strip()


def _reopen(page: Page, heading: str) -> None:
    """The same cell opens the same node again once its panel is closed."""
    panel = page.locator(".st-key-node-panel")
    _close(page, panel)
    driver.click_heatmap(page)
    expect(panel.get_by_role("heading").first).to_have_text(heading)
    driver.settle(page)
    _close(page, panel)


def _close(page: Page, panel: Locator) -> None:
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    driver.settle(page)


def _compare(page: Page) -> None:
    driver.follow(page, "Homophily (GHRatio)")
    assert "chance" in driver.read_answer(page)
    driver.follow(page, "Trade-off")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    assert "publish" in driver.read_answer(page)


def _report(page: Page, folder: Path, node: str) -> None:
    driver.follow(page, "Report")
    path = driver.download(page, "Download the PDF", folder)
    assert path.read_bytes().startswith(b"%PDF")
    shown = subprocess.run(
        ["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True
    ).stdout
    text = " ".join(shown.split())
    for words in (
        "Privacy audit",
        "Common neighbours",
        "Random deletion",
        "EdgeRand",
        "empirical only",
        "Sign",
    ):
        assert words.lower() in text.lower(), words
    assert driver.read_estimates(text)
    assert "N-001" in text  # people appear under pseudonyms
    pages = [" ".join(page.split()) for page in shown.split("\f")]
    annex = next(number for number, text in enumerate(pages) if " A.1 " in text)
    assert 4 <= annex <= 8  # pages before it


def _reload(page: Page, audit: str) -> None:
    """What is on screen survives a reload; the audit of the attack is in the history."""
    driver.follow(page, "Risk")
    before = driver.read_answer(page)
    page.reload()
    driver.settle(page, "Risk")
    assert driver.read_answer(page) == before
    driver.follow(page, "Audits")
    assert "audits stored" in driver.read_answer(page)
