"""The table of releases: one row each, numbers as stored."""

from __future__ import annotations

from core.audit.asked.release_info import parse_release
from core.audit.results.view import ReleaseSummary
from core.findings.release_table import compute_release_table
from core.release import Guarantee
from tests.figures.conftest import RELEASES, make_results

SUMMARIES = [
    ReleaseSummary(parse_release("original"), Guarantee()),
    ReleaseSummary(parse_release(RELEASES[1]), Guarantee()),
    ReleaseSummary(parse_release(RELEASES[2]), Guarantee("edge", "one link", 2.0)),
]


def test_rows_are_the_releases_with_their_numbers() -> None:
    table = compute_release_table(make_results(), SUMMARIES)
    assert list(table.release) == list(RELEASES)
    assert list(table.Guarantee) == ["none", "empirical only", "edge-DP, ε = 2"]
    assert list(table["Links kept"]) == ["1.00", "0.50", "0.10"]
    worst = table["Worst case, link inference (TPR at 1 % FPR)"]
    assert worst.iloc[0].startswith("0.085 [0.04")
    assert list(table["Node classification F1"])[1] == "0.82 [0.80, 0.84]"


def test_release_without_results_keeps_its_row() -> None:
    results = make_results()
    table = compute_release_table(results[results.release != RELEASES[2]], SUMMARIES)
    assert list(table["Links kept"]) == ["1.00", "0.50", ""]
