"""Pareto front against brute force; the best release; the transfer matrix."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.asked.attack import attach_referents
from core.figures.tradeoff_points import LABEL_HEIGHT, _place_label, _widen, tradeoff
from core.figures.transfer import transfer_matrix
from core.findings.tradeoff import (
    compute_admissible,
    compute_pareto,
    compute_tradeoff,
    compute_transfer,
    find_best_release,
    find_clear_front,
)
from tests.browser.screenshots import thin_labels

from .conftest import RELEASES, make_results

UTILITY = "node_classification_f1"


def brute_force_front(risk, utility):
    k = len(risk)
    return [
        not any(
            risk[j] <= risk[i]
            and utility[j] >= utility[i]
            and (risk[j] < risk[i] or utility[j] > utility[i])
            for j in range(k)
        )
        for i in range(k)
    ]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=25))
def test_pareto_equals_brute_force(points):
    risk, utility = np.array(points, float).reshape(-1, 2).T / 6
    assert compute_pareto(risk, utility).tolist() == brute_force_front(risk, utility)


def test_pareto_of_a_distance_prefers_small_values(view):
    results = view.results.copy()
    results.loc[results.metric == UTILITY, "metric"] = "mmd_degree"
    table = compute_tradeoff(results, "auc", "mmd_degree", threat="link")
    assert table[table.is_pareto].release.tolist() == [RELEASES[2]]  # safest and least distant


def test_the_front_joins_only_what_is_apart_beyond_noise():
    """Releases within each other's intervals were joined as if one were the better compromise."""
    columns = ["risk", "utility", "half"]
    table = pd.DataFrame([(0.1, 0.5, 0.02), (0.2, 0.6, 0.02), (0.21, 0.8, 0.02)], columns=columns)
    for name in columns[:2]:
        table[f"{name}_low"], table[f"{name}_high"] = (
            table[name] - table.half,
            table[name] + table.half,
        )
    front = find_clear_front(table.assign(is_pareto=True))
    assert front.risk[:2].tolist() == [0.1, 0.2]
    assert front.risk[2:].isna().all()


def test_points_carry_both_intervals(view):
    chart = tradeoff(view.results, "auc", UTILITY, threat="link")
    points = {t.customdata[0]: t for t in chart.figure.data if t.customdata is not None}
    assert set(points) == set(RELEASES)
    for row in chart.table.itertuples():
        point = points[row.release]
        assert (point.x[0], point.y[0]) == (row.risk, row.utility)
        assert point.x[0] + point.error_x.array[0] == pytest.approx(row.risk_high)
        assert point.y[0] - point.error_y.arrayminus[0] == pytest.approx(row.utility_low)
    assert points["original"].marker.color == "#8a8f98"


def test_worst_case_is_the_highest_attack(view):
    table = compute_tradeoff(view.results, "auc", UTILITY, threat="link")
    assert table.risk.tolist() == [0.84, 0.66, 0.52]
    assert set(table.attack) == {"common_neighbors"}
    one = compute_tradeoff(view.results, "auc", UTILITY, attack="degree_product")
    assert one.risk.tolist() == [0.61, 0.58, 0.51]


def test_best_release_keeps_its_interval_within_the_accepted_risk(view):
    table = compute_tradeoff(view.results, "auc", UTILITY, threat="link")
    assert find_best_release(table, 0.95, UTILITY) == RELEASES[1]  # never the original
    assert find_best_release(table, 0.95, UTILITY, {RELEASES[1]}) == RELEASES[2]
    assert find_best_release(table, 0.70, UTILITY) == RELEASES[1]  # high end: 0.66 + 0.04
    assert find_best_release(table, 0.69, UTILITY) == RELEASES[2]
    assert find_best_release(table, 0.40, UTILITY) is None
    assert compute_admissible(table, 0.70).tolist() == [False, True, True]


def test_accepted_risk_dims_the_rest_and_marks_the_best(view):
    chart = tradeoff(view.results, "auc", UTILITY, threat="link", max_risk=0.7)
    points = {t.customdata[0]: t for t in chart.figure.data if t.customdata is not None}
    assert points["original"].marker.symbol.endswith("-open")
    assert not points[RELEASES[1]].marker.symbol.endswith("-open")
    assert points[RELEASES[1]].marker.size > points[RELEASES[2]].marker.size


def test_the_limit_is_drawn_and_named(view):
    chart = tradeoff(view.results, "auc", UTILITY, threat="link", max_risk=0.7)
    (line,) = [s for s in chart.figure.layout.shapes if s.line.dash == "dash"]
    assert line.x0 == line.x1 == 0.7
    assert {"limit 0.7", "chance 0.5"} <= {a.text for a in chart.figure.layout.annotations}
    assert chart.title == ("2 of 2 defended releases meet the limit of 0.7")


def test_the_small_picture_of_the_overview_names_two_points(view):
    """Names that were placed for 600 pixels lay on each other in 390."""
    figure = tradeoff(view.results, "auc", UTILITY, threat="link", max_risk=0.7).figure
    figure.add_annotation(text="Another release", x=0.5, y=0.5, showarrow=True)
    thin_labels(figure)
    named = [a.text for a in figure.layout.annotations if a.showarrow]
    assert len(named) == 2
    assert "Original" in named
    lines = [a.text for a in figure.layout.annotations if not a.showarrow]
    assert sorted(lines) == ["chance 0.5", "limit 0.7"]


def test_nothing_is_said_of_defended_releases_before_one_is_attacked(view):
    """ "No defended release meets the limit", while each was still to be made."""
    alone = view.results[view.results.release == "original"]
    assert tradeoff(alone, "auc", UTILITY, threat="link", max_risk=0.7).title == ""
    told = tradeoff(view.results, "auc", UTILITY, threat="link", max_risk=0.1).title
    assert told.startswith("No defended release meets")


def test_one_release_alone_does_not_spread_the_axis():
    """The original of an audit that runs keeps all links: from 0.999 to 1.001."""
    low, high = _widen(np.array([1.0, 1.0]))
    assert high - low > 0.1
    assert (low + high) / 2 == pytest.approx(1.0)
    low, high = _widen(np.array([0.0, 1.0]))
    assert (low, high) == pytest.approx((-0.06, 1.06))


def test_a_label_beside_the_vertical_axis_turns_inwards():
    """ "chance 0.50" ran into the axis's "0.8"."""
    assert _place_label(0.5, [0.5, 0.8], (0.49, 0.85)) == ("left", 0)
    assert _place_label(0.5, [0.5, 0.8], (0.3, 0.85)) == ("right", 0)
    assert _place_label(0.52, [0.5, 0.52], (0.49, 0.85)) == ("left", LABEL_HEIGHT)


def test_transfer_matrix_holds_every_value(view):
    chart = transfer_matrix(view.results, "auc", "link")
    table = compute_transfer(view.results, "auc", "link")
    assert list(table.columns) == ["attack", "title", *RELEASES]
    heat = chart.figure.data[0]
    for i, attack in enumerate(table.attack):
        for j, release in enumerate(RELEASES):
            value = view.estimate(release, attack, "auc").value
            assert heat.z[i][j] == table.loc[i, release] == value
    assert chart.figure.layout.coloraxis.cmin == 0.5


def test_missing_cells_stay_empty(view):
    results = view.results
    gone = (results.method == "degree_product") & (results.release == RELEASES[1])
    chart = transfer_matrix(results[~gone], "auc", "link")
    assert np.isnan(np.asarray(chart.figure.data[0].z, float)).sum() == 1
    assert (pd.Series(np.ravel(chart.figure.data[0].text)) == "").sum() == 1


def test_a_synthesis_is_joined_to_its_twin() -> None:
    names = {RELEASES[1]: "gap", RELEASES[2]: "gap:data_free=True"}
    results = attach_referents(make_results().replace({"release": names}))
    chart = tradeoff(results, "auc", "node_classification_f1", threat="link")
    (line,) = [trace for trace in chart.figure.data if trace.name == "data-independent baseline"]
    table = chart.table.set_index("release")
    assert list(line.x) == [table.risk[name] for name in names.values()]
    assert list(line.y) == [table.utility[name] for name in names.values()]
    assert "data-independent" in chart.note
    assert "data-independent" not in tradeoff(make_results(), "auc", "node_classification_f1").note
    limited = tradeoff(results, "auc", UTILITY, threat="link", max_risk=0.7)
    assert limited.title == "1 of 1 defended release meets the limit of 0.7", "a twin is none"
