"""An AUC clearly below one half leaks by inversion: wherever attacks compare, it counts so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.audit.asked.attack import attach_referents
from core.figures.attack_bars import attack_ranking
from core.figures.tradeoff_points import tradeoff
from core.figures.transfer import transfer_matrix
from core.findings.change import answer_defense
from core.findings.inverted_scores import MARK, describe_strength, invert_scores
from core.findings.release_table import compute_release_table
from core.findings.strongest import answer_attack, answer_inverted
from core.findings.tables import compute_worst_attacks, select_results
from core.findings.tradeoff import answer_tradeoff, compute_tradeoff, find_best_release
from core.report.document import build_content
from core.report.options import ReportOptions
from tests.figures.conftest import RELEASES, make_results, make_view, result_row
from tests.oracles.audits import tabulate_results

UTILITY = "node_classification_f1"
WRONG = RELEASES[2]


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    """On the last release common neighbours is as wrong, 0.30, as 0.70 would be right."""
    table = make_results()
    rows = (table.release == WRONG) & (table.method == "common_neighbors") & (table.metric == "auc")
    table.loc[rows, ["value", "low", "high"]] = [0.30, 0.27, 0.33]
    return table


@given(value=st.floats(0, 1), half=st.floats(0, 0.3))
@settings(max_examples=40)
def test_only_a_whole_interval_below_one_half_is_turned(value: float, half: float) -> None:
    rows = [
        result_row("original", "gae_cosine", metric, value, half) for metric in ("auc", "accuracy")
    ]
    table = select_results(tabulate_results(rows))
    inverted = invert_scores(table)
    is_wrong = value + half < 0.5
    assert inverted.is_inverted.tolist() == [is_wrong, False]
    first = inverted.iloc[0]
    expected = abs(value - 0.5) + 0.5 if is_wrong else value
    assert first.value == pytest.approx(expected, abs=1e-12)
    assert first.low <= first.value <= first.high
    assert first.high - first.low == pytest.approx(2 * half, abs=1e-12)
    assert inverted.iloc[1].value == value


def test_without_an_interval_nothing_is_clear() -> None:
    rows = [result_row("original", "gae_cosine", "auc", 0.1, None)]
    table = select_results(tabulate_results(rows))
    assert not invert_scores(table).is_inverted.any()


def test_the_worst_attack_may_be_a_wrong_one(results: pd.DataFrame) -> None:
    worst = compute_worst_attacks(results, "auc", "link").set_index("release").loc[WRONG]
    assert (worst.method, worst.is_inverted) == ("common_neighbors", True)
    assert worst.value == pytest.approx(0.70)


def test_a_release_is_not_admissible_for_being_attacked_backwards(results: pd.DataFrame) -> None:
    """At an accepted risk of 0.60 the release with AUC 0.30 would pass as the safest of all."""
    table = compute_tradeoff(results, "auc", UTILITY, threat="link")
    assert find_best_release(table, 0.60, UTILITY) is None
    assert find_best_release(table, 0.735, UTILITY) == RELEASES[1]
    alone = compute_tradeoff(results, "auc", UTILITY, attack="common_neighbors")
    np.testing.assert_allclose(alone.risk, [0.84, 0.66, 0.70])
    assert not alone[alone.release == WRONG].is_pareto.any()


def test_answers_say_it_and_do_not_call_it_safe(results: pd.DataFrame) -> None:
    on_original = attach_referents(results[results.release == WRONG].assign(release="original"))
    text = answer_attack(on_original, "link")
    assert "0.30 [0.27, 0.33], clearly below one half: inverted, it reaches 0.70" in text
    assert "above the best baseline attacker" in text
    assert "did not beat" not in text
    only = results[results.release != RELEASES[1]]
    assert "0.70 [0.67, 0.73] inverted by" in answer_defense(only, "link")
    assert describe_strength("auc", "0.70 inverted") == ("(inverted) reaches an AUC of 0.70")
    defense = answer_defense(results, "link")
    assert RELEASES[1] not in defense  # ids never show
    assert "strength = 0.5" in defense
    assert "inverted: Common neighbours on Random deletion (strength = 0.9)" in defense
    table = compute_tradeoff(results, "auc", UTILITY, threat="link")
    only = table[table.release == WRONG]
    assert "counts inverted" in answer_tradeoff(only, 0.8, "auc", UTILITY)


def test_the_risk_page_names_them_for_the_releases_shown(results: pd.DataFrame) -> None:
    assert answer_inverted(results, RELEASES[:2]) == ""
    text = answer_inverted(results, [WRONG])
    assert "inverted: Common neighbours on Random deletion (strength = 0.9), AUC 0.30." in text


def test_charts_and_tables_flag_it(results: pd.DataFrame) -> None:
    chart = tradeoff(results, "auc", UTILITY, threat="link")
    point = next(
        t for t in chart.figure.data if t.customdata is not None and t.customdata[0] == WRONG
    )
    assert point.x[0] == pytest.approx(0.70)
    assert "inverted" in point.hovertemplate
    assert "inverted" in chart.note
    assert any(MARK in a.text for a in chart.figure.layout.annotations)
    on_original = attach_referents(results[results.release == WRONG].assign(release="original"))
    ranked = attack_ranking(on_original, "link", "auc")
    assert ranked.table.method.iloc[0] == "common_neighbors"
    diamonds = [t for t in ranked.figure.data if t.type == "scatter"]
    assert [t.x.tolist() for t in diamonds] == [[pytest.approx(0.70)]]
    matrix = transfer_matrix(results, "auc", "link")
    heat = matrix.figure.data[0]
    row = matrix.table.attack.tolist().index("common_neighbors")
    column = RELEASES.index(WRONG)
    assert heat.z[row][column] == pytest.approx(0.70)
    assert f">0.30{MARK}<" in heat.text[row][column]
    assert matrix.table[WRONG].iloc[row] == 0.30
    ranked = results[results.metric != "tpr_at_fpr_0.01"]  # which would be told first
    releases = compute_release_table(ranked, make_view().releases).set_index("release")
    assert releases.loc[WRONG].str.contains("0.70 [0.67, 0.73] inverted", regex=False).any()


def test_the_report_flags_it(results: pd.DataFrame) -> None:
    import dataclasses

    ranked = results[results.metric != "tpr_at_fpr_0.01"]
    view = dataclasses.replace(make_view(), results=ranked)
    content, images = build_content(view, ReportOptions(sections=("releases", "tradeoff")))
    text = str(content)
    assert "Counted inverted: Common neighbours" in text
    assert "counted and coloured by its strength inverted" in text
    assert f"0.30{MARK}" in images["transfer_link.svg"]
    plain, _ = build_content(make_view(), ReportOptions(sections=("releases", "tradeoff")))
    assert "inverted" not in str(plain)
