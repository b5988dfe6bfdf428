"""GHRatio distributions and the scatter: shares add up, points name their node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.figures.ghratios import ghratio_distributions, mechanism_scatter
from core.findings.homophily import MECHANISMS, compute_ghratio_histogram, compute_reference_share


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
