"""Before and after: which links were kept, removed, added, against sets of pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.audit.computing.link_sample import LinkSample, choose_sample, compute_link_changes
from core.figures.releases import before_after, training_curves
from core.graph import Graph
from tests.oracles.graphs import isolated_node, star, two_communities


def rewire(graph, seed=0):
    rng = np.random.default_rng(seed)
    keep = rng.random(graph.num_edges) < 0.6
    extra = rng.integers(0, graph.num_nodes, (20, 2))
    return graph.with_edges(np.concatenate([graph.edges[keep], extra]))


def test_link_changes_equal_sets():
    before = two_communities()
    after = rewire(before)
    nodes = np.arange(5, 30)
    table = compute_link_changes(before, after, nodes)

    def inside(graph):
        return {(i, j) for i, j in graph.edges.tolist() if 5 <= i < 30 and 5 <= j < 30}

    old, new = inside(before), inside(after)
    expected = {"kept": old & new, "removed": old - new, "added": new - old}
    for state, pairs in expected.items():
        rows = table[table.state == state]
        assert set(zip(rows.source, rows.target, strict=True)) == pairs
        assert pairs


def test_both_panels_share_the_layout_and_mark_changes():
    before = two_communities()
    chart = before_after(LinkSample.draw(before, rewire(before)), before.node_ids)
    points = [t for t in chart.figure.data if t.mode == "markers"]
    np.testing.assert_array_equal(points[0].x, points[1].x)
    lines = {t.name.split()[0]: t for t in chart.figure.data if t.name}
    assert lines["removed"].line.dash == "dash"
    assert lines["removed"].line.color == "#d55e00"
    assert lines["added"].line.color == "#0072b2"
    assert len(lines["added"].x) == 3 * (chart.table.state == "added").sum()
    count = chart.table.state.value_counts()
    assert f"Of {count.kept + count.removed} links" in chart.title
    assert f"removes {count.removed} and adds {count.added}" in chart.title
    assert "changes no link" in before_after(LinkSample.draw(before, before), before.node_ids).title


def test_layout_is_always_the_same():
    before = two_communities()
    samples = (LinkSample.draw(before, rewire(before)) for _ in range(2))
    first, second = (before_after(sample, before.node_ids).figure for sample in samples)
    assert first.to_json() == second.to_json()


def test_sample_is_connected_capped_and_defined_on_odd_graphs():
    graph = two_communities(200)
    nodes = choose_sample(graph, 25)
    assert len(nodes) == len(set(nodes.tolist())) == 25
    assert len(choose_sample(star(), 10)) == 10
    assert len(choose_sample(isolated_node(), 100)) == 15  # all but the one out of reach


def test_the_sample_lies_in_the_largest_component():
    """Of a citation graph it showed five papers that are linked to each other alone."""
    small = [(3 * k + a, 3 * k + b) for k in range(8) for a, b in ((0, 1), (1, 2), (0, 2))]
    large = [(i, i + 1) for i in range(24, 43)]
    assert choose_sample(Graph.from_pairs(np.array(small + large), 44), 12).min() >= 24


def test_training_curves_have_a_panel_each():
    chart = training_curves({"loss": [(0, 1.0), (1, 0.5)], "surrogate_loss": [(0, 2.0)]})
    assert len(chart.figure.data) == 2
    assert chart.table.curve.tolist() == ["loss", "loss", "surrogate_loss"]
    assert training_curves({}).is_empty


def test_a_training_that_starts_anew_starts_a_new_line():
    curve = [(0, 1.0), (9, 0.5), (0, 2.0), (9, 0.7)]
    chart = training_curves({"gae_loss": curve})
    (line,) = chart.figure.data
    np.testing.assert_array_equal(line.x, [0, 9, np.nan, 0, 9])
    np.testing.assert_array_equal(line.y, [1.0, 0.5, np.nan, 2.0, 0.7])
    assert chart.figure.layout.annotations[0].text == "GAE loss"
    assert len(chart.table) == 4


def test_the_titles_of_four_panels_have_room_beside_each_other():
    names = ("attacker_loss_restart_1", "adversary_loss_restart_1", "ratio_gap", "sampler_loss")
    chart = training_curves({name: [(0, 1.0)] for name in names})
    for title in chart.figure.layout.annotations:
        assert max(map(len, title.text.split("<br>"))) <= 15, title.text


def test_nodes_without_a_class_are_named():
    """Every book of a graph of readers and books was grey, and nothing said why."""
    graph = two_communities()
    codes = np.where(np.arange(graph.num_nodes) % 2, graph.column("private").codes, -1)
    column = replace(graph.column("private"), codes=codes)
    sample = LinkSample.draw(graph, rewire(graph))
    chart = before_after(sample, graph.node_ids, ("Original", "X"), "light", column)
    legend = [trace.name for trace in chart.figure.data if trace.showlegend]
    assert legend.count("unknown") == 1
