"""GHRatio distributions and the scatter: shares add up, points name their node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.attack import parse_attack
from core.audit.results.node_risks import AttackRisk, NodeRisks
from core.figures.ghratios import ghratio_distributions, gps_gains, mechanism_scatter
from core.findings.homophily import (
    MECHANISMS,
    compute_ghratio_histogram,
    compute_gps_gains,
    compute_reference_share,
    describe_gps,
)


def test_histograms_count_every_known_node(view):
    table = compute_ghratio_histogram(view.profile)
    sums = table.groupby(["mechanism", "release"])[["share", "nodes"]].sum()
    np.testing.assert_allclose(sums.share, 1)
    assert sums.loc[("ghratio_proximity", "original"), "nodes"] == 39  # one is undefined
    assert sums.loc[("ghratio_role", "original"), "nodes"] == 40


def test_reference_is_the_mean_class_share(view):
    assert compute_reference_share(view.profile) == pytest.approx(0.5)
    chart = ghratio_distributions(view)
    dashed = [s for s in chart.figure.layout.shapes if s.line.dash == "dash"]
    assert [s.x0 for s in dashed] == [0.5] * len(MECHANISMS)
    assert [a.text for a in chart.figure.layout.annotations if "chance" in a.text] == [
        "chance 0.50"
    ]


def test_distributions_are_as_wide_as_the_page_and_over_each_other(view):
    """Three panels of a third of the width, of twenty bins each."""
    figure = ghratio_distributions(view).figure
    axes = [figure.get_subplot(row, 1).xaxis for row in range(1, len(MECHANISMS) + 1)]
    assert all(axis.domain == (0.0, 1.0) for axis in axes)
    first = [trace for trace in figure.data if trace.yaxis == "y"]
    assert {trace.fill for trace in first} == {"tozeroy"}
    assert len({trace.fillcolor for trace in first}) == len(first) == 3


def test_scatter_points_name_their_node(view):
    chart = mechanism_scatter(view)
    rows = view.profile[view.profile.release == "original"].set_index("node")
    found = set()
    for trace in chart.figure.data:
        for node, x, y in zip(trace.customdata, trace.x, trace.y, strict=True):
            assert (x, y) == (rows.ghratio_proximity[node], rows.ghratio_role[node])
            assert rows["class"][node] == trace.name
            found.add(node)
    assert found == set(rows.index[rows.ghratio_proximity.notna()])


def test_each_class_of_the_scatter_has_its_colour(view):
    traces = mechanism_scatter(view).figure.data
    assert len({trace.marker.color for trace in traces}) == len(traces) == 2


def test_many_classes_are_named_beside_the_picture(view):
    """18 countries stood on the title."""
    many = view.profile.assign(**{"class": [f"c{i % 18}" for i in range(len(view.profile))]})
    views = view, replace(view, load_profile=lambda: many)
    legends = [mechanism_scatter(one).figure.layout.legend for one in views]
    assert [legend.orientation for legend in legends] == ["h", "v"]


def test_a_low_ratio_is_not_called_safer(view):
    """Far below the class share a value leaks too: a guess can be inverted."""
    for chart in (ghratio_distributions(view), mechanism_scatter(view)):
        axes = [*chart.figure.select_xaxes(), *chart.figure.select_yaxes()]
        titles = " ".join(str(axis.title.text) for axis in axes)
        assert "safest at" in titles
        assert not {"←", "↓"} & set(titles)


def attack_by_gps(view, gains: np.ndarray):
    """The view with GPS's advantage on each node of the original."""
    count = len(view.nodes.names)
    known = np.full(count, np.nan)
    part = AttackRisk(
        np.arange(count, dtype=np.int32), gains + 0.5, gains, known, known, 1 + 0 * gains
    )
    parts = {("original", parse_attack("gps")): part}
    nodes = NodeRisks(view.nodes.names, parts, view.nodes.made)
    return replace(view, load_nodes=lambda: nodes)


def test_gains_of_gps_are_means_over_nodes_of_like_ratio(view):
    gains = np.random.default_rng(0).normal(0.2, 0.1, len(view.nodes.names))
    table = compute_gps_gains(attack_by_gps(view, gains))
    rows = view.profile[view.profile.release == "original"].set_index("node")
    assert set(table.mechanism) == {"proximity", "role"}
    for row in table.itertuples():
        ratios = (rows[f"ghratio_{row.mechanism}"] - rows.class_share).reindex(view.nodes.names)
        own = gains[[row.excess - 0.1 <= r < row.excess + 0.1 for r in ratios]]
        assert row.n == len(own) >= 10
        assert row.value == pytest.approx(own.mean())
        assert row.high - row.value == pytest.approx(1.96 * own.std(ddof=1) / len(own) ** 0.5)
        assert row.value - row.low == pytest.approx(row.high - row.value)
    assert compute_gps_gains(view).empty
    assert gps_gains(compute_gps_gains(view)).is_empty


def test_what_gps_gains_by_homophily_is_told_only_beyond_noise(view):
    rows = view.profile[view.profile.release == "original"].set_index("node")
    near = rows.ghratio_proximity.reindex(view.nodes.names).fillna(0).to_numpy(float)
    noise = np.random.default_rng(1).normal(0, 0.05, len(near))
    table = compute_gps_gains(attack_by_gps(view, near + noise))
    parts = table[table.mechanism == "proximity"]
    assert len(parts) == 2
    text = describe_gps(table)
    assert f"{parts.value.iloc[-1]:.2f} [" in text
    assert "where the most neighbours share the value beyond" in text
    assert "noise" not in text
    assert gps_gains(table).title == text
    flat = compute_gps_gains(attack_by_gps(view, noise))
    assert describe_gps(flat) == (
        "GPS gains no more where more neighbours or role peers share the value, beyond noise"
    )


def make_gains(**differences: tuple[float, float]) -> pd.DataFrame:
    """Two groups a mechanism: the difference of their advantage, and half of its interval."""
    rows = []
    for key, (difference, noise) in differences.items():
        half = noise / np.sqrt(2)
        for excess, value in ((-0.1, 0.2), (0.5, 0.2 + difference)):
            rows.append((key, excess, value, value - half, value + half, 20))
    return pd.DataFrame(rows, columns=["mechanism", "excess", "value", "low", "high", "n"])


@pytest.mark.parametrize(
    ("near", "role", "who"),
    [
        ((0.3, 0.6), (0.1, 0.05), "role peers"),
        ((0.1, 0.05), (0.5, 0.6), "neighbours"),
        ((-0.2, 0.1), (0.1, 0.2), "neighbours"),
    ],
)
def test_of_two_differences_the_surer_is_told(near, role, who):
    """The larger of the two may be noise."""
    text = describe_gps(make_gains(proximity=near, role=role))
    assert f"where the most {who} share the value beyond chance" in text
    assert "noise" not in text


def test_neither_difference_is_told_where_both_are_noise():
    """Clear of 0 alone, and not of two that were looked at."""
    both = make_gains(proximity=(0.11, 0.1), role=(0.3, 0.4))
    assert "neighbours or role peers share the value, beyond noise" in describe_gps(both)
    alone = both[both.mechanism == "proximity"]
    assert "where the most neighbours share" in describe_gps(alone)


def test_a_ratio_that_no_node_has_takes_no_panel(view):
    """Of links between two modes no neighbour has a value: an empty panel stood first, and chance
    was named nowhere."""
    profile = view.profile.assign(ghratio_proximity=np.nan)
    chart = ghratio_distributions(replace(view, load_profile=lambda: profile))
    figure = chart.figure
    assert "more role peers of their own class than by chance" in chart.title
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["chance 0.50", "<b>Role peers</b>", "<b>Both</b>"]
    assert len([shape for shape in figure.layout.shapes if shape.line.dash == "dash"]) == 2


def test_bins_at_the_ends_are_as_wide_as_others(view):
    for trace in ghratio_distributions(view).figure.data:
        assert (trace.x[0], trace.x[-1]) == (0, 1)
        assert (trace.y[0], trace.y[-1]) == (trace.y[1], trace.y[-2])


def test_lines_of_class_shares_have_the_colour_of_their_class(view):
    figure = mechanism_scatter(view).figure
    colors = {trace.marker.color for trace in figure.data}
    assert {shape.line.color for shape in figure.layout.shapes} == colors


def test_an_empty_chart_says_why(view):
    """The page said "No data for this chart yet."."""
    profile = view.profile.assign(ghratio_proximity=np.nan)
    chart = mechanism_scatter(replace(view, load_profile=lambda: profile))
    assert chart.is_empty
    assert chart.note == "No node has both ratios."
