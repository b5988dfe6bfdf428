"""The page of a benchmark: readable alone, and inert whatever names it shows."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest

from core.audit.results.benchmark import BUILT_IN, TABLE_COLUMNS, gather_results, make_quick
from core.findings.benchmark import summarize_benchmark
from core.report.benchmark_page import format_page, write_benchmark
from tests.findings.test_benchmark import ATTACKS, DEFENSES, FOUND, KEPT, METRIC
from tests.oracles.audits import make_audit

HOSTILE = '<script>alert("x")</script> & <img src=http://evil>'


class Tags(HTMLParser):
    """Names of all tags, and all attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.fixture
def view():
    scores = {
        (r, a, METRIC): v for r, both in FOUND.items() for a, v in zip(ATTACKS, both, strict=True)
    }
    scores |= {(release, "release", "link_f1"): value for release, value in KEPT.items()}
    made = make_audit(scores, ATTACKS, DEFENSES)
    return replace(made, spec=made.spec.model_copy(update={"graph_name": HOSTILE}))


def test_names_are_shown_as_they_are_and_nothing_is_loaded(view):
    settings = BUILT_IN["audit"].model_dump(mode="json")
    page = format_page(
        {**settings, "graphs": [HOSTILE]}, gather_results([view]), summarize_benchmark([view])
    )
    found = Tags(page)
    assert not found.tags & {"script", "img", "link", "iframe", "object", "form", "a"}
    assert not found.attributes & {"src", "href", "onclick", "onload"}
    assert "&lt;script&gt;alert" in page
    assert "default-src 'none'" in page


def test_the_page_answers_its_questions(view):
    tables = gather_results([view]), summarize_benchmark([view])
    page = format_page(BUILT_IN["audit"].model_dump(mode="json"), *tables)
    text = re.sub(r"<[^>]+>", "", page)
    assert "Attack to fear: Adamic–Adar reaches TPR at 1 % FPR 0.60 [0.59, 0.61]" in text
    assert "Defense to choose: EdgeRand (ε = 6)" in text
    assert "400 in 5 repeats" in text
    chosen = re.findall(r'<tr class="chosen"><td>([^<]*)', page)
    assert chosen == ["EdgeRand (ε = 6)"]
    assert "lower bound of the risk" not in text
    quick = format_page(make_quick(BUILT_IN["audit"]).model_dump(mode="json"), *tables)
    assert "lower bound of the risk" in quick
    assert "One repeat" in quick


def test_files_hold_the_same_numbers(view, tmp_path):
    table, summary = gather_results([view]), summarize_benchmark([view])
    write_benchmark(tmp_path, BUILT_IN["audit"].model_dump(mode="json"), table, summary)
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "results.parquet"), table[list(TABLE_COLUMNS)]
    )
    content = json.loads((tmp_path / "results.json").read_text())
    assert [row["value"] for row in content["results"]] == table.value.tolist()
    assert pd.read_csv(tmp_path / "results.csv").value.tolist() == pytest.approx(
        table.value.tolist()
    )
    assert len(pd.read_csv(tmp_path / "summary.csv")) == len(summary) == len(content["summary"])
