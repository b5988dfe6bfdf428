"""The bars say what the table says."""

from __future__ import annotations

import numpy as np
import pytest

from core.audit.results.view import RESULT_COLUMNS
from core.figures.attack_bars import attack_ranking
from core.findings.ranking import compute_ranking
from core.findings.strongest import answer_attack, find_strongest
from core.findings.tables import (
    compute_worst_attacks,
    describe_missing,
    list_metrics,
    list_releases,
    list_threats,
    main_metric,
)
from core.release import ORIGINAL
from tests.oracles.audits import make_audit


def test_bars_carry_values_and_intervals(view):
    chart = attack_ranking(view.results, "link", "auc")
    bars = chart.figure.data[0]
    rows = chart.table
    assert list(bars.y) == ["Common neighbours", "Degree product"] == rows.title.tolist()
    np.testing.assert_allclose(np.asarray(bars.x) + bars.base, rows.value)
    np.testing.assert_allclose(np.asarray(bars.x) + bars.base + bars.error_x.array, rows.high)
    np.testing.assert_allclose(np.asarray(bars.x) + bars.base - bars.error_x.arrayminus, rows.low)
    assert bars.base == 0.5  # chance
    assert list(bars.marker.color)[1] == "rgba(0,0,0,0)"  # the baseline attacker is hollow
    assert "40 pairs" in chart.note
    assert "5 repeats" in chart.note


def test_best_null_is_the_dashed_line(view):
    chart = attack_ranking(view.results, "link", "auc")
    dashed = [s for s in chart.figure.layout.shapes if s.line.dash == "dash"]
    baselines = chart.table[chart.table.is_baseline]
    assert dashed[0].x0 == baselines.value.max() == 0.61


def test_shares_of_the_secrets_are_per_cent(view):
    chart = attack_ranking(view.results, "link", "tpr_at_fpr_0.01")
    assert set(chart.table.metric) == {"tpr_at_fpr_0.01"}
    bars = chart.figure.data[0]
    np.testing.assert_allclose(np.asarray(bars.x) + bars.base, 100 * chart.table.value)  # per cent
    np.testing.assert_allclose(bars.error_x.array, 100 * (chart.table.high - chart.table.value))
    assert chart.figure.layout.xaxis.ticksuffix == " %"
    (line,) = [s for s in chart.figure.layout.shapes if s.line.dash == "dash"]
    assert line.x0 == pytest.approx(100 * chart.table[chart.table.is_baseline].strength.max())
    assert chart.title == (
        "Common neighbours finds 8 % of the secrets at 1 % FPR, the best baseline attacker 3 %"
    )


def test_ranking_orders_by_first_metric_and_keeps_threats_apart(view):
    table = compute_ranking(view.results, "link", ("auc", "tpr_at_fpr_0.01"))
    assert table.method.tolist() == ["common_neighbors", "degree_product"] * 2
    assert set(compute_ranking(view.results, "attribute", ("auc",)).method) == {"class_prior"}


def test_axes_say_which_way_is_good(view):
    figure = attack_ranking(view.results, "link", "auc").figure
    assert "← safer" in figure.layout.xaxis.title.text


def test_nothing_finished_gives_an_empty_chart(view):
    chart = attack_ranking(view.results.iloc[:0], "link", "auc")
    assert chart.is_empty
    assert chart.figure.layout.annotations[0].text.startswith("No finished attack")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_background_is_transparent(view, theme):
    layout = attack_ranking(view.results, "link", "auc", theme).figure.layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"


def test_tables_of_an_audit(view):
    results = view.results
    assert list_releases(results)[0] == "original"
    assert list_threats(results) == ["link", "attribute"]
    assert main_metric(results, "link") == "auc"
    assert list_metrics(results, "release") == ["node_classification_f1", "links_kept"]
    worst = compute_worst_attacks(results, "auc", "link")
    assert worst.release.tolist() == list_releases(results)
    assert worst.value.tolist() == [0.84, 0.66, 0.52]
    missing = describe_missing(results)
    assert missing.status.tolist() == ["skipped", "failed"]
    assert missing.metrics.tolist() == ["tpr_at_fpr_0.001", "diameter"]
    assert list(results.columns) == [*RESULT_COLUMNS, "attack", "made"]


DOUBLE = "preferential_attachment"


def test_one_formula_is_one_row():
    """ "Preferential attachment …, the best baseline attacker, Degree product" had one score."""
    metrics = ("auc", "tpr_at_fpr_0.01")
    equal = {
        (release, attack, metric): value
        for release in (ORIGINAL, "random_deletion")
        for metric in metrics
        for attack, value in (("adamic_adar", 0.2), ("degree_product", 0.3), (DOUBLE, 0.3))
    }
    attacks = ("adamic_adar", "degree_product", DOUBLE)
    view = make_audit(equal, attacks)
    table = compute_ranking(view.results, "link", metrics)
    assert set(table.method) == {"adamic_adar", "degree_product"}
    assert find_strongest(view.results, "link", ORIGINAL).attack.key == "adamic_adar"
    assert "Preferential" not in answer_attack(view.results, "link")
    # Weights make two formulas of it, in every figure: equal by chance in one is not enough.
    weighted = make_audit({**equal, (ORIGINAL, DOUBLE, "auc"): 0.31}, attacks).results
    assert set(compute_ranking(weighted, "link", metrics).method) == set(attacks)
    alone = {key: value for key, value in equal.items() if key[1] != "degree_product"}
    assert DOUBLE in set(
        compute_ranking(make_audit(alone, attacks).results, "link", metrics).method
    )
