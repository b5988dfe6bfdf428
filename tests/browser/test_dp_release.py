"""A release with differential privacy: made, its claim put to the test, handed over."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.data.synthetic import generate_social
from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.nightly]

RELEASE = "edge_rand:epsilon=2.0"
TRIALS = 500


@pytest.fixture
def links(tmp_path: Path) -> Path:
    """A small generated network as somebody else's list of links."""
    path = tmp_path / "friends.txt"
    np.savetxt(path, generate_social(200, seed=5).edges + 1000, fmt="%d", delimiter="\t")
    return path


def test_a_private_release_is_made_checked_and_published(
    page: Page, links: Path, tmp_path: Path
) -> None:
    _attack(page, links)
    _defend(page)
    lower_bound = _check(page)
    _report(page, tmp_path, lower_bound)
    _publish(page, tmp_path)


def _attack(page: Page, links: Path) -> None:
    driver.open_page(page, "", "Overview")
    driver.pick(page, "Upload files")
    page.locator("input[type=file]").first.set_input_files(links)
    driver.press(page, "Load the graph")
    expect(page.locator(".st-key-answer")).to_contain_text("people and")
    driver.settle(page)
    driver.follow(page, "Attack")
    driver.clear_attacks(page)
    driver.tick(page, "Common neighbours")
    driver.fill_number(page, "Repeats", 1)
    driver.press(page, "Run the attacks")
    driver.wait_for_audit(page)


def _defend(page: Page) -> None:
    driver.follow(page, "Defend")
    driver.tick(page, "EdgeRand")
    driver.fill_number(page, "Privacy budget ε", 2)
    driver.press(page, "Make and attack the releases")
    driver.wait_for_audit(page)
    driver.open_tab(page, "Guarantee")
    main = page.get_by_test_id("stMain")
    for part in ("edge-DP, ε = 2", "central", "88 %", "node features"):
        expect(main).to_contain_text(part)


def _check(page: Page) -> float:
    """Plays the game; returns the lower bound that the page shows."""
    driver.choose(page, "Trials", "500, quick")
    driver.press(page, "Check the claim")
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("was not refuted", timeout=driver.RUN_MS)
    driver.settle(page)
    expect(main).to_contain_text("does not prove the claim")
    assert "allowed by ε = 2" in driver.read_charts(page)
    found = re.search(r"game shows ε ≥ (\d\.\d\d) with 95 % confidence in 500", main.inner_text())
    assert found
    assert 0.3 < float(found.group(1)) <= 2
    page.reload()
    driver.settle(page, "Defend")
    driver.open_tab(page, "Guarantee")
    expect(main).to_contain_text(found.group(0))
    return float(found.group(1))


def _report(page: Page, folder: Path, lower_bound: float) -> None:
    driver.follow(page, "Report")
    path = driver.download(page, "Download the PDF", folder)
    shown = subprocess.run(
        ["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True
    ).stdout
    text = " ".join(shown.split())
    for part in (
        "EdgeRand (ε = 2)",
        "edge-DP, ε = 2",
        "Not covered",
        "88 %",
        "not refuted",
        f"ε ≥ {lower_bound:.2f}",
        "does not prove the claim",
    ):
        assert part in text, part
    described = json.loads(driver.download(page, "Results as JSON", folder).read_text())
    assert described["guarantees"][RELEASE]["epsilon"] == 2
    filed = json.loads(driver.download(page, "Assessment (JSON)", folder).read_text())
    assert [p["epsilon"] for p in filed["privacy_guarantees"]] == [2]
    (check,) = described["claim_checks"]
    assert (check["release"], check["trials"], check["claimed"]) == (RELEASE, TRIALS, 2)
    assert round(check["lower_bound"], 2) == lower_bound


def _publish(page: Page, folder: Path) -> None:
    driver.choose(page, "Release to publish", "EdgeRand (ε = 2)")
    driver.decide_to_publish(page)
    driver.press(page, "Make the release")
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("is ready", timeout=driver.RUN_MS)
    driver.settle(page)
    expect(main).to_contain_text("was not refuted")  # the card stands beside the download
    path = driver.download(page, "Download the release", folder)
    with zipfile.ZipFile(path) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("provenance.json"))
        provenance = json.loads(archive.read(name))
    assert provenance["guarantee"]["epsilon"] == 2
    assert "operating-system entropy" in provenance["randomness"]
