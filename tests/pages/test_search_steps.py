"""Pages and report of a search's audits, which attack the original less often than releases."""

from __future__ import annotations

import pytest

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from core.findings.policy import find_policy
from core.report import write_report
from tests.inline import run_inline
from tests.pages.conftest import PAGES


@pytest.fixture(scope="module", params=[0, 1])
def step(audited, request) -> tuple:
    """A finished audit of two repeats whose original met attacks in so many, with its view."""
    service, graph = audited[0], load_dataset("karate").graph
    spec = AuditSpec.check_spec(
        {
            "graph_name": "karate",
            "graph_hash": graph.content_hash,
            "private": "label",
            "hide_links": 0.1,
            "defenses": [{"key": "random_deletion"}, {"key": "edge_rand"}],
            "num_repeats": 2,
            "original_repeats": request.param,
            "attacks": [{"key": "common_neighbors"}, {"key": "label_propagation"}],
            "policy": find_policy("partner").model_dump(mode="json"),
        }
    )
    return service, run_inline(spec, graph, service.home, f"step of {request.param}")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_it(open_app, step, page):
    assert not open_app(page, audit=step[1].summary.id).exception


def test_its_report_is_written(step, tmp_path):
    path = write_report(step[1], tmp_path / "report.pdf")
    assert path.read_bytes().startswith(b"%PDF")


def test_other_releases_have_their_figures(step):
    rows = step[1].results
    found = rows[rows.value.notna() & (rows.method == "common_neighbors")]
    counts = found.groupby("release")["seeds"].max()
    assert (counts.drop("original", errors="ignore") == 2).all()
    assert len(counts.drop("original", errors="ignore")) == 2
