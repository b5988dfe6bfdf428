"""The pair profile on screen and on paper says what was measured."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from core.figures.proximity import pair_profile
from core.findings.pair_profile import answer_pair_profile, compute_pair_table
from core.report.document import build_content
from core.report.options import ReportOptions
from tests.figures.conftest import RELEASES, make_results, make_view, result_row
from tests.oracles.audits import tabulate_results

STEPS = {RELEASES[0]: (2.2, 4.5), RELEASES[1]: (3.1, 4.6), RELEASES[2]: (4.4, 4.5)}


def make_pairs(half: float = 0.1, steps: dict = STEPS) -> pd.DataFrame:
    rows = []
    for release, (hidden, absent) in steps.items():
        for kind, value in (("visible", 1.0), ("hidden", hidden), ("absent", absent)):
            rows.append(
                result_row(release, "release", f"pair_path_length_{kind}", value, half, n=200)
            )
            rows.append(
                result_row(release, "release", f"pair_disconnected_{kind}", 0.1, 0.02, n=200)
            )
    return tabulate_results(rows)


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    return pd.concat([make_results(), make_pairs()], ignore_index=True)


def test_the_chart_draws_every_value_and_the_gap(results: pd.DataFrame) -> None:
    chart = pair_profile(results)
    assert len(chart.table) == 3 * 2 * 3
    marks = {
        (t.name, x)
        for t in chart.figure.data
        if t.mode == "markers" and t.x[0] is not None
        for x in t.x
    }
    for hidden, absent in STEPS.values():
        assert {("Withheld links", hidden), ("Pairs without a link", absent)} <= marks
    gaps = [tuple(t.x) for t in chart.figure.data if t.mode == "lines"]
    assert set(STEPS.values()) <= set(gaps)
    titles = chart.figure.layout
    assert {titles.xaxis.title.text, titles.xaxis2.title.text} == {
        "Steps<br>apart",
        "Without<br>a path",
    }


def test_only_the_chosen_releases_and_no_other_metric(results: pd.DataFrame) -> None:
    table = compute_pair_table(results, [RELEASES[1]])
    assert set(table.release) == {RELEASES[1]}
    assert set(table.metric) == {"pair_path_length", "pair_disconnected"}
    assert pair_profile(make_results()).is_empty


def test_the_answer_names_the_release_that_closes_the_gap(results: pd.DataFrame) -> None:
    text = answer_pair_profile(results)
    assert "withheld links are 2.20 [2.10, 2.30] steps apart" in text
    assert "without a link 4.50 [4.40, 4.60]: withheld links are nearer" in text
    assert "Random deletion (strength = 0.9) closes the gap within the sampling error" in text
    assert answer_pair_profile(make_results()) == ""


def test_the_answer_knows_which_way_is_near() -> None:
    odd = make_pairs(steps={RELEASES[0]: (4.5, 2.2)})
    assert "withheld links are farther, which" in answer_pair_profile(odd)
    rows = [
        result_row(RELEASES[0], "release", f"pair_embedding_cosine_{kind}", value, 0.05)
        for kind, value in (("hidden", 0.9), ("absent", 0.2))
    ]
    alike = tabulate_results(rows)
    text = answer_pair_profile(alike)
    assert "0.90 [0.85, 0.95] alike by their embeddings" in text
    assert "withheld links are nearer, which" in text


def test_the_answer_says_when_there_is_no_gap_or_none_is_narrowed() -> None:
    blind = make_pairs(steps={RELEASES[0]: (4.4, 4.5)})
    assert answer_pair_profile(blind).endswith(
        "within noise, so that proximity is not shown to tell them apart."
    )
    worse = make_pairs(steps={RELEASES[0]: (3.0, 4.0), RELEASES[1]: (2.0, 4.0)})
    assert "does not narrow the gap: 2.00" in answer_pair_profile(worse)
    some = make_pairs(steps={RELEASES[0]: (2.0, 4.0), RELEASES[1]: (3.0, 4.0)})
    assert "narrows the gap: 3.00" in answer_pair_profile(some)


def test_a_difference_beyond_noise_is_told_though_intervals_overlap() -> None:
    """Of independent figures: .34 and .34 wide either way, .6 apart, is beyond .34·√2."""
    rows = [
        result_row(RELEASES[0], "release", f"pair_path_length_{kind}", value, 0.34, n=200)
        for kind, value in (("hidden", 2.4), ("absent", 3.0))
    ]
    assert "withheld links are nearer, which" in answer_pair_profile(tabulate_results(rows))


def test_the_report_has_it_without_a_private_column(results: pd.DataFrame) -> None:
    view = make_view()
    nobody, spec = view.profile.iloc[:0], view.spec.update(private=None)
    view = dataclasses.replace(view, results=results, spec=spec, load_profile=lambda: nobody)
    content, _ = build_content(view, ReportOptions(sections=("homophily",)))
    (section,) = content["sections"]
    table = next(b for b in section["blocks"] if b["kind"] == "table")
    assert table["columns"][2:] == ["Steps between the ends", "Pairs without a path"]
    assert [row[1] for row in table["rows"]] == ["Withheld links", "Pairs without a link"] * 3
    assert table["rows"][0][2] == "2.20 [2.10, 2.30]"
