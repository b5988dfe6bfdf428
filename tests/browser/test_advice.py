"""From a node's panel to the few links whose hiding lowers its risk."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.data.synthetic import generate_social
from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]

NODE = "1003"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A small generated network as the files of somebody else."""
    graph = generate_social(200, seed=3)
    links, people = tmp_path / "links.txt", tmp_path / "people.csv"
    np.savetxt(links, graph.edges + 1000, fmt="%d", delimiter="\t")
    attribute = graph.column("affiliation")
    rows = [
        f"{node + 1000},{attribute.classes[attribute.codes[node]]}"
        for node in range(graph.num_nodes)
    ]
    people.write_text("\n".join(["person_id,affiliation", *rows]) + "\n")
    return [links, people]


def test_advice_from_the_node_panel(page: Page, files: list[Path], tmp_path: Path) -> None:
    driver.open_page(page, "", "Overview")
    driver.pick(page, "Upload files")
    page.locator("input[type=file]").first.set_input_files(files)
    expect(page.get_by_role("combobox", name="Id column")).to_be_visible()
    driver.choose(page, "Id column", "person_id")
    driver.choose(page, "Private column", "affiliation")
    driver.press(page, "Load the graph")
    expect(page.locator(".st-key-answer")).to_contain_text("200 people")
    driver.settle(page)
    driver.choose(page, "Sensitive links", "none")

    driver.follow(page, "Attack")
    driver.clear_attacks(page)
    driver.tick(page, "Label propagation")
    driver.fill_number(page, "Repeats", 2)
    driver.press(page, "Run the attacks")
    driver.wait_for_audit(page)

    driver.follow(page, "Risk")
    search = page.get_by_role("textbox", name="Find a node")
    search.fill(NODE)
    search.press("Enter")
    panel = page.locator(".st-key-node-panel")
    expect(panel.get_by_role("heading", name=f"Node {NODE}")).to_be_visible()
    driver.fill_number(page, "Maximum links", 2)
    driver.press(page, "Find links to hide")
    result = page.locator(".st-key-advice-result")
    expect(result).to_be_visible(timeout=driver.RUN_MS)
    driver.settle(page)
    expect(result).to_contain_text(re.compile(r"Hid(e|ing) these 2 links"))
    expect(result).to_contain_text(re.compile(r"costs 2 of [\d,]+ links"))
    expect(page.locator(".st-key-advice-cancel")).to_have_count(0)
    text = result.inner_text()
    estimates = driver.read_estimates(text)
    assert len(estimates) >= 2, text  # before and after
    for value, low, high in estimates[:2]:
        assert 0 <= low <= value <= high <= 1
    expect(panel).to_contain_text("Dashed red: links that the advice hides.")
    table = driver.download(page, "CSV", tmp_path, within=panel)
    assert table.exists()

    page.reload()
    driver.settle(page, "Risk")
    expect(result).to_contain_text("costs 2 of")
    assert result.inner_text() == text
