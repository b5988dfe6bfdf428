"""What being in a release adds, told by one attack a threat."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.audit.results.view import CONTROL_COLUMNS
from core.findings.control import tabulate_control
from core.report.data import ReportData
from core.report.options import ReportOptions
from core.report.results import build_attack_tables
from tests.oracles.audits import make_audit, tabulate_results

RELEASE = "edge_rand:epsilon=6.0"
INSIDE = "mechanism_posterior@included"
SCORES = {
    ("original", "adamic_adar", "auc"): 0.9,
    ("original", "katz", "auc"): 0.8,
    ("original", "feature_cosine", "auc"): 0.95,
    (RELEASE, "adamic_adar", "auc"): 0.6,
    (RELEASE, "katz", "auc"): 0.7,
    ("original", INSIDE, "released_auc"): 1.0,
}
APART = [
    ("original", "adamic_adar", "auc", 0.5, 0.45, 0.55, 60, 3, 0.4, 0.3, 0.5),
    ("original", "katz", "auc", 0.5, 0.45, 0.55, 60, 3, 0.3, 0.2, 0.4),
    ("original", "feature_cosine", "auc", 0.95, 0.9, 1.0, 60, 3, 0.0, -0.1, 0.1),
    (RELEASE, "adamic_adar", "auc", 0.55, 0.5, 0.6, 60, 3, 0.05, -0.05, 0.15),
    ("original", INSIDE, "released_auc", 0.5, 0.4, 0.6, 60, 3, 0.5, 0.4, 0.6),
    (RELEASE, "katz", "auc", 0.9, 0.85, 0.95, 60, 3, -0.2, -0.3, -0.1),
]


def make_view():
    attacks = ("adamic_adar", "katz", "feature_cosine")
    view = make_audit(SCORES, defenses=(RELEASE,), attacks=attacks)
    return replace(view, control=tabulate_results(APART, CONTROL_COLUMNS))


def tabulate(view):
    return tabulate_control(view.results, view.control)


def test_attack_that_is_strongest_on_the_original_tells_it_of_every_release():
    table, released = (part for _, part in tabulate(make_view()).groupby("Threat", sort=False))
    assert list(released["Being in it adds"]) == ["0.50 [0.40, 0.60]"]
    assert list(table.Release) == ["Original", "EdgeRand (ε = 6)"]
    assert set(table.Attack) == {"Adamic–Adar"}
    assert list(table["Being in it adds"]) == ["0.40 [0.30, 0.50]", "0.05 [−0.05, 0.15]"]
    assert list(table["Control nodes"]) == ["0.50 [0.45, 0.55]", "0.55 [0.50, 0.60]"]
    assert list(table["Beyond noise"]) == ["more", "no"]
    assert list(table.n) == ["400 and 60"] * 2


@pytest.mark.parametrize(
    ("low", "high", "told"), [(-0.3, -0.1, "less"), (None, None, "no interval")]
)
def test_less_and_what_has_no_interval_are_told(low, high, told):
    view = make_view()
    apart = view.control.assign(difference_low=low, difference_high=high)
    assert set(tabulate(replace(view, control=apart))["Beyond noise"]) == {told}


def test_report_has_the_table_of_the_chosen_releases_and_none_where_nobody_was_left_out():
    view = make_view()
    chosen = build_attack_tables(ReportData(view, ReportOptions(releases=())))
    (table,) = [b for b in chosen if b["kind"] == "table" and "being in a release" in b["caption"]]
    assert [row[1] for row in table["rows"]] == ["Original", "Original"]
    nobody = replace(view, control=view.control[:0])
    assert tabulate(nobody).empty
    assert "Control nodes" not in str(build_attack_tables(ReportData(nobody, ReportOptions())))
