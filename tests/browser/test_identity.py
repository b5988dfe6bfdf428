"""A unique person, by clicks: from the heatmap to the panel to a release that hides them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from core.findings.identity import find_depth_risks
from core.release import ORIGINAL
from tests.browser import driver
from tests.inline import run_inline

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

HIDING = "random_deletion"


def test_from_the_heatmap_to_where_the_person_is_not_unique(
    page: Page, server: str, server_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read on the way is what the audit found of this person."""
    monkeypatch.delenv("AUDIT_DATABASE", raising=False)
    graph = load_dataset("karate").graph
    fields = {
        "graph_name": "karate",
        "graph_hash": graph.content_hash,
        "identity": {"seeds_known": 3},
        "test_links": 0.0,
        "num_repeats": 2,
        "attacks": [{"key": key} for key in ("degree", "degree_triangles", "random_match")],
        "defenses": [{"key": HIDING, "config": {"strength": 0.7}}],
    }
    view = run_inline(AuditSpec.check_spec(fields), graph, server_home, "people")
    release = next(r.id for r in view.releases if r.id != ORIGINAL)

    driver.open_page(page, f"risk?audit={view.summary.id}", "Risk")
    driver.click_heatmap(page)
    panel = page.locator(".st-key-node-panel")
    expect(panel).to_be_visible()
    driver.settle(page)
    person = panel.get_by_role("heading").first.inner_text().removeprefix("Node ").strip()
    links = int(graph.degrees[graph.node_ids.index(person)])
    expect(panel).to_contain_text(
        re.compile(rf"The only one with th(ese {links} links|is one link)")
    )
    expect(panel).to_contain_text(f"Fingerprint in this release: {links} link")
    number = np.array([view.nodes.find(person)])
    known, hidden = (find_depth_risks(view.nodes, r, number).iloc[0] for r in (ORIGINAL, release))
    assert hidden[known.index[known >= 1][0]] < 1

    panel.get_by_role("button", name="Show in Random deletion").click()
    driver.settle(page)
    left = int(view.load_release(release, 0).degrees[graph.node_ids.index(person)])
    assert left < links
    said = f"{left} link" if left else "no links"
    expect(panel).to_contain_text(f"Fingerprint in this release: {said}")
    chosen = panel.get_by_role("combobox", name="Neighbourhood in")
    expect(chosen).to_have_value(re.compile("Random deletion"))
