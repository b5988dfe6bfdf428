"""Two private columns, one of numbers, and a comparison of groups, by clicks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from core.data.synthetic import generate_social
from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The generated network: an age that goes with the site, and a gender."""
    graph, rng = generate_social(200, seed=3), np.random.default_rng(0)
    site = graph.column("affiliation").codes
    people = {
        "person": graph.node_ids,
        "age": (30 + 12 * site + rng.normal(0, 3, 200)).round(2),
        "site": np.array(["north", "south", "west"])[site],
        "gender": np.array(["f", "m"])[rng.integers(0, 2, 200)],
    }
    nodes, links = tmp_path / "people.csv", tmp_path / "links.csv"
    pd.DataFrame(people).to_csv(nodes, index=False)
    pairs = np.array(graph.node_ids)[graph.edges]
    pd.DataFrame(pairs, columns=["from", "to"]).to_csv(links, index=False)
    return nodes, links


def test_a_private_number_another_column_and_groups(page: Page, files: tuple[Path, Path]) -> None:
    driver.open_page(page, "", "Overview")
    driver.pick(page, "Upload files")
    page.locator("input[type=file]").first.set_input_files(list(files))
    expect(page.get_by_role("combobox", name="Id column")).to_be_visible()
    driver.choose(page, "Private column", "age")
    driver.press(page, "Load the graph")
    expect(page.locator(".st-key-answer")).to_contain_text("200 people")
    driver.settle(page)
    driver.choose(page, "Sensitive links", "none")
    more = page.get_by_text("More private columns and auxiliary knowledge")
    expect(more).to_have_count(1)  # a redrawn page shows the old one a moment longer
    more.click()
    driver.add_option(page, "Further private columns", "site")
    driver.add_option(page, "Attackers who combine the private columns", "know the other columns")
    driver.add_option(page, "Compare groups by", "gender")

    driver.follow(page, "Attack")
    driver.clear_attacks(page)
    driver.tick(page, "Label propagation")
    driver.tick(page, "Class prior")
    driver.fill_number(page, "Repeats", 3)
    driver.press(page, "Run the attacks")
    driver.wait_for_audit(page)
    driver.open_tab(page, "Stronger attackers")
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("age is a number")
    expect(main).to_contain_text("Knowing the others, an attacker on age reaches AUC")
    assert "failed" not in main.inner_text()

    driver.follow(page, "Risk")
    driver.open_tab(page, "Groups")
    expect(main).to_contain_text("by gender")
