"""A unique person, by clicks: from the heatmap to the panel to the release that hides them."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.audit.run import run_inline
from core.audit.spec import AuditSpec
from core.data.catalogue import load_dataset
from tests.browser import driver

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def audit_id(server: str, server_home: Path) -> str:
    graph = load_dataset("karate").graph
    spec = AuditSpec.check_spec(
        {
            "graph_name": "karate",
            "graph_hash": graph.content_hash,
            "identity": {"seeds_known": 3},
            "num_repeats": 2,
            "attacks": [{"key": key} for key in ("degree", "degree_triangles", "random_match")],
            "defenses": [{"key": "k_degree_anonymity"}],
        }
    )
    return run_inline(spec, graph, server_home, "people").summary.id


def test_from_the_heatmap_to_where_the_person_is_not_unique(page: Page, audit_id: str) -> None:
    driver.open_page(page, f"risk?audit={audit_id}", "Risk")
    driver.click_heatmap(page)
    panel = page.locator(".st-key-node-panel")
    expect(panel).to_be_visible()
    driver.settle(page)
    expect(panel).to_contain_text("One of 1 with these")
    expect(panel).to_contain_text("Not unique by this on: k-degree anonymity")
    before = panel.get_by_text("Fingerprint in this release:").inner_text()
    panel.get_by_role("button", name="See it in k-degree anonymity").click()
    driver.settle(page)
    expect(panel.get_by_text("Fingerprint in this release:")).not_to_have_text(before)
    expect(panel.get_by_role("combobox", name="Neighbourhood in")).to_have_value(
        "k-degree anonymity"
    )
