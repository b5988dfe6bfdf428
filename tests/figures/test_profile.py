"""Degree counts and class bars against plain counts."""

from __future__ import annotations

from collections import Counter

import numpy as np

from core.figures.graph_bars import class_bars, degree_distribution
from core.findings.profile import compute_degree_counts
from core.graph import Graph
from core.node_column import NodeColumn
from tests.oracles.graphs import isolated_node, three_classes_with_missing, two_communities


def test_degree_counts_equal_a_counter():
    graph = two_communities()
    table = compute_degree_counts(graph)
    assert dict(zip(table.degree, table.nodes, strict=True)) == Counter(graph.degrees.tolist())
    for row in table.itertuples():
        assert row.share_at_least == (graph.degrees >= row.degree).mean()


def test_isolated_nodes_are_told_and_not_drawn_on_log_axes():
    chart = degree_distribution(isolated_node())
    assert min(chart.figure.data[0].x) > 0
    assert "1 without a link" in chart.note


def test_a_graph_without_links_says_so():
    assert "no links" in str(
        degree_distribution(Graph.from_pairs(np.empty((0, 2), int), 3))
        .figure.layout.annotations[0]
        .text
    )


def test_class_bars_are_sorted_and_count_unknowns():
    attribute = three_classes_with_missing().column("private")
    chart = class_bars(attribute)
    assert chart.table.nodes.is_monotonic_decreasing
    assert chart.table.nodes.sum() == attribute.known.sum()
    assert f"{(~attribute.known).sum()} without" in chart.note


def test_many_classes_are_capped_and_names_are_inert():
    names = tuple(f"<b>{i}</b>" for i in range(60))
    chart = class_bars(NodeColumn("x", np.arange(60), names))
    assert len(chart.table) == 60
    labels = chart.figure.data[0].y
    assert len(labels) == 30
    assert labels[-1] == "31 other classes"
    assert not any("<b>" in label for label in labels)
    assert sum(chart.figure.data[0].x) == 60


def test_no_axis_of_shares_reaches_beyond_all():
    axis = degree_distribution(two_communities()).figure.layout.yaxis
    assert axis.ticktext[-1] == "100 %"
    assert 100 <= 10 ** axis.range[1] < 200
