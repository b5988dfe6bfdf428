"""Attackers who know more, by clicks: released links, the defense, several releases; the ledger."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.data.synthetic import generate_social
from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "friends.txt"
    np.savetxt(path, generate_social(200, seed=3).edges + 1000, fmt="%d", delimiter="\t")
    return path


def test_attackers_who_know_more_and_the_ledger(page: Page, links: Path) -> None:
    _attack(page, links)
    _defend(page)
    _read_attackers(page)
    _publish(page)


def _attack(page: Page, links: Path) -> None:
    driver.open_page(page, "", "Overview")
    driver.pick(page, "Upload files")
    page.locator("input[type=file]").first.set_input_files(links)
    driver.press(page, "Load the graph")
    expect(page.locator(".st-key-answer")).to_contain_text("people and")
    driver.settle(page)
    driver.follow(page, "Attack")
    driver.clear_attacks(page)
    driver.tick(page, "Adamic–Adar")
    driver.tick(page, "Adaptive attackers")
    driver.tick(page, "Released links")
    driver.fill_number(page, "Composition", 3)
    driver.choose(page, "Compare withheld links with", "pairs with the same degrees")
    driver.fill_number(page, "Repeats", 1)
    driver.press(page, "Run the attacks")
    driver.wait_for_audit(page)


def _defend(page: Page) -> None:
    driver.follow(page, "Defend")
    driver.tick(page, "EdgeRand")
    driver.fill_number(page, "Privacy budget ε", 3)
    driver.press(page, "Make and attack the releases")
    driver.wait_for_audit(page)


def _read_attackers(page: Page) -> None:
    """Each threat has a sentence with an interval."""
    driver.follow(page, "Attack")
    driver.open_tab(page, "Stronger attackers")
    main = page.get_by_test_id("stMain")
    for drawn in ("an adaptive attacker reaches", "at a precision of 90 %"):
        expect(main).to_contain_text(drawn)
    for pattern in (
        r"With EdgeRand \(ε = 3\), an adaptive attacker reaches .+ "
        r"by .+, adaptive, a standard one .+",
        r"With EdgeRand \(ε = 3\), .+ of the links is real. .+ at a precision of 90 %",
    ):
        sentence = re.search(pattern, main.inner_text())
        assert sentence, pattern
        estimates = driver.read_estimates(sentence.group())
        assert len(estimates) == 2
        assert all(low <= value <= high for value, low, high in estimates)
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()


def _publish(page: Page) -> None:
    driver.follow(page, "Report")
    driver.choose(page, "Release to publish", "EdgeRand (ε = 3)")
    driver.decide_to_publish(page)
    driver.press(page, "Make the release")
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("is ready", timeout=driver.RUN_MS)
    driver.settle(page)
    expect(main).to_contain_text("One link: ε = 3 over 1 publishing run.")
