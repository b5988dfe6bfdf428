"""The bars say what the table says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.attack import parse_attack
from core.audit.results.view import REPEATS, RESULT_COLUMNS
from core.figures.attack_bars import attack_ranking
from core.figures.roc import roc_by_attack
from core.figures.theme import HALF_LETTERS, TITLE_LETTERS
from core.findings.palette import OKABE_ITO, ORIGINAL_GREY, RISK_SCALE, family_color
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
    assert chart.table.title.tolist() == ["Common neighbours", "Degree product"]
    for bars, (_, row) in zip(chart.figure.data, chart.table.iterrows(), strict=True):
        assert list(bars.y) == [row.title]
        (end,) = np.asarray(bars.x) + bars.base
        assert end == pytest.approx(row.value)
        assert end + bars.error_x.array[0] == pytest.approx(row.high)
        assert end - bars.error_x.arrayminus[0] == pytest.approx(row.low)
        assert bars.base == 0.5  # chance
    assert chart.figure.data[1].marker.color == "rgba(0,0,0,0)"  # the baseline attacker is hollow
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
    bars, row = chart.figure.data[0], chart.table.iloc[0]
    np.testing.assert_allclose(np.asarray(bars.x) + bars.base, [100 * row.value])  # per cent
    np.testing.assert_allclose(bars.error_x.array, [100 * (row.high - row.value)])
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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_have_the_colour_of_their_family_in_the_legend(theme):
    """Every bar was grey."""
    attacks = ("adamic_adar", "jaccard", "gae_cosine", "degree_product")
    scores = {(ORIGINAL, attack, "auc"): 0.9 - i / 10 for i, attack in enumerate(attacks)}
    results = make_audit(scores, attacks).results
    figure = attack_ranking(results, "link", "auc", theme).figure
    bars = {bar.name: bar for bar in figure.data}
    assert list(bars) == ["Heuristics", "Embeddings", "Baseline attackers"]
    assert list(bars["Heuristics"].y) == ["Adamic–Adar", "Jaccard"]
    colors = [bar.marker.line.color for bar in bars.values()]
    assert colors == [
        *(family_color(parse_attack(attacks[i]), theme) for i in (0, 2)),
        ORIGINAL_GREY,
    ]
    assert len(set(colors)) == 3
    assert not set(colors[:2]) & {*OKABE_ITO, *RISK_SCALE}
    curve = pd.DataFrame({"fpr": [1e-3, 1.0], "tpr": [0.1, 1.0]})
    made = next(iter(results.made))
    chart = roc_by_attack({(ORIGINAL, a): curve for a in attacks}, made, results.attack, theme)
    drawn = {line.name: line.line.color for line in chart.figure.data}
    assert drawn["Adamic–Adar"] == colors[0]
    assert drawn["GAE + cosine"] == colors[1]
    assert "Jaccard" not in drawn  # the strongest of its family is drawn
    assert "one weaker attack is in the table" in chart.note


DOUBLE = "preferential_attachment"


def test_one_formula_is_one_row_while_one_is_ahead_of_the_other():
    """Their means are of other repeats then; in those that both have they are equal."""
    attacks = ("degree_product", DOUBLE)
    results = make_audit({(ORIGINAL, a, "auc"): 0.3 for a in attacks}, attacks).results

    def find(first: dict[int, float], second: dict[int, float]) -> set[str]:
        repeats = [first, second]
        means = [np.mean(list(values.values())) for values in repeats]
        seeds = [len(values) for values in repeats]
        running = results.assign(value=means, seeds=seeds, **{REPEATS: repeats})
        return set(compute_ranking(running, "link", ("auc",)).method)

    assert find({0: 0.3, 1: 0.4}, {0: 0.3}) == {"degree_product"}
    assert find({0: 0.3, 1: 0.4}, {0: 0.3, 2: 0.6}) == {"degree_product"}
    assert find({0: 0.3, 1: 0.4}, {0: 0.31}) == set(attacks)


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


def test_a_ranking_alone_has_its_title_on_one_line(view):
    """At the page's width it was wrapped as beside the curves."""
    half, alone = (
        attack_ranking(view.results, "link", "auc", letters=letters).figure.layout
        for letters in (HALF_LETTERS, TITLE_LETTERS)
    )
    assert "<br>" in half.title.text
    assert "<br>" not in alone.title.text + alone.xaxis.title.text
