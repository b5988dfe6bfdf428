"""The benchmark that comes with the program, beside the graph that is open."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


def test_what_works_on_graphs_like_mine(page) -> None:
    driver.load_example(page)
    driver.follow(page, "Defend")
    page.get_by_text("Results on similar graphs").click()
    graph = page.get_by_role("combobox", name="Graph (most similar first)")
    expect(graph).to_have_value(re.compile("^social, 200 nodes"))
    main = page.get_by_test_id("stMain")
    for part in ("Strongest attack.", "lower bound"):
        expect(main).to_contain_text(part)
    driver.choose(page, "Threat", "Re-identification")
    expect(main).to_contain_text("Expected share found")
