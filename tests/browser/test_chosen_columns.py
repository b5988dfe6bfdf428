"""Two columns read as features, chosen on Data: from upload to the column of the decision."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from core.data.columns import MAX_FLAGS
from core.data.synthetic import generate_social
from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]

COLUMNS = ["mature", "partner"]
NUM_PEOPLE = 200


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A network whose table has more columns of two values than are proposed as classes."""
    graph, rng = generate_social(NUM_PEOPLE, seed=3), np.random.default_rng(0)
    flags = rng.integers(0, 2, (NUM_PEOPLE, MAX_FLAGS + 1)).astype(bool)
    people = pd.DataFrame(flags, columns=[f"word_{i}" for i in range(MAX_FLAGS - 1)] + COLUMNS)
    nodes, links = tmp_path / "people.csv", tmp_path / "links.csv"
    people.assign(mature=graph.column("affiliation").codes == 0).to_csv(nodes, index_label="id")
    pd.DataFrame(graph.edges, columns=["from", "to"]).to_csv(links, index=False)
    return nodes, links


def test_what_is_audited_is_what_was_chosen(page: Page, files: tuple[Path, Path]) -> None:
    driver.open_page(page, "", "Overview")
    driver.pick(page, "Upload files")
    page.locator("input[type=file]").first.set_input_files(list(files))
    expect(page.get_by_role("combobox", name="Id column")).to_be_visible(timeout=driver.RUN_MS)
    driver.press(page, "Load the graph")
    answer = page.locator(".st-key-answer")
    expect(answer).to_contain_text(f"{NUM_PEOPLE} people", timeout=driver.RUN_MS)
    expect(answer).to_contain_text("0 attributes")
    driver.settle(page)
    driver.unfold(page, "Change attributes and features")
    for label in ("Attributes", "Features"):  # "partner" is an attribute from here on
        lists = page.get_by_test_id("stMultiSelect")
        box = lists.filter(has_text=re.compile(f"^{label}")).locator("input").first
        box.click()
        if label == "Attributes":
            box.fill("partner")
            page.get_by_role("option", name="partner", exact=True).first.click()
        else:
            box.press("Backspace")  # the last of the features
        driver.settle(page)
        box.press("Escape")
    driver.press(page, "Apply", exact=True)
    expect(answer).to_contain_text("1 attribute and", timeout=driver.RUN_MS)
    driver.settle(page)
    driver.choose(page, "Private column", "mature")
    driver.choose(page, "Utility column", "partner")
    expect(answer).to_contain_text("2 attributes")
    driver.choose(page, "Show classes of", "partner")
    page.locator(".st-key-next button").click()
    driver.settle(page, "Release decision")
    page.get_by_test_id("stRadio").get_by_text("Anybody").first.click()
    column = page.get_by_role("combobox", name="Which column is private?")
    expect(column).to_have_value("mature")
    driver.press(page, "Run the audit")
    page.wait_for_url(re.compile(r"audit=\w"), timeout=driver.RUN_MS)
    address = page.url
    cancel = page.get_by_role("button", name="Cancel the audit")
    expect(cancel).to_be_visible(timeout=driver.RUN_MS)
    driver.settle(page)  # a click on a page that is still being drawn may be lost
    cancel.click()
    expect(cancel).to_have_count(0, timeout=60_000)
    page.goto("about:blank")  # the session ends: what is shown now is the audit's own
    page.goto(address)
    driver.settle(page, "Release decision")
    driver.unfold(page, "Start a new audit with other answers")
    expect(column).to_have_value("mature")
    driver.follow(page, "Data")
    for label, name in (("Private column", "mature"), ("Utility column", "partner")):
        expect(page.get_by_role("combobox", name=label, exact=True)).to_have_value(name)
