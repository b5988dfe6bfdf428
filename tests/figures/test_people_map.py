"""The map's figure: where everybody is drawn, in which colour, and what a click tells."""

from __future__ import annotations

import numpy as np
import pytest

from core.figures import people_map as module
from core.figures.people_map import Side, community_map, people_map
from core.figures.theme import INKS
from core.findings.palette import RISK_SCALE
from core.findings.people_map import compute_communities, compute_people, find_changes
from tests.figures.conftest import RELEASES, make_view
from tests.oracles.graphs import two_communities

GRAPH = two_communities()
POSITIONS = np.random.default_rng(0).uniform(-1, 1, (40, 2)).astype(np.float32)


def make_side(release: str = "original", with_changes: bool = False) -> Side:
    view = make_view(GRAPH)
    released = None if release == "original" else view.load_release(release, 0)
    nodes = view.nodes[view.nodes.release == release]
    side = GRAPH.attribute("private")
    people = compute_people(GRAPH, side.codes, nodes, side, released)
    people.loc[:2, ["advantage", "risk"]] = np.nan
    edges = GRAPH.edges if released is None else released.edges
    changes = find_changes(GRAPH, released) if with_changes else (None, None)
    return Side(release, people, edges, *changes)


def list_markers(chart) -> list:
    return [t for t in chart.figure.data if t.mode == "markers" and t.customdata is not None]


@pytest.mark.parametrize("by", ["advantage", "risk", "class", "community", "links"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_stands_once_where_the_layout_says(by, theme):
    chart = people_map([make_side()], POSITIONS, by, theme)
    numbers = np.concatenate([trace.customdata for trace in list_markers(chart)])
    assert sorted(numbers) == list(range(40))
    for trace in list_markers(chart):
        np.testing.assert_array_equal(
            np.column_stack([trace.x, trace.y]), POSITIONS[trace.customdata]
        )
        assert [GRAPH.node_ids[n] for n in trace.customdata] == list(trace.text)
    assert all(trace.type == "scattergl" for trace in chart.figure.data)


def test_risk_has_its_scale_and_the_highest_is_on_top():
    grey, points = list_markers(people_map([make_side()], POSITIONS, "risk"))
    assert grey.marker.color == module.NOTHING
    assert len(grey.x) == 3
    assert np.all(np.diff(points.marker.color) >= 0)
    assert [color for _, color in points.marker.colorscale] == list(RISK_SCALE)
    assert (points.marker.cmin, points.marker.cmax) == (0, 1)


def test_the_darkest_points_have_an_edge_on_a_dark_page():
    (_, dark), (_, light) = (
        list_markers(people_map([make_side()], POSITIONS, "risk", theme))
        for theme in ("dark", "light")
    )
    assert dark.marker.line.color == INKS["dark"].text
    assert light.marker.line.color is None


def test_the_edges_of_fine_points_do_not_hide_their_colour(monkeypatch):
    monkeypatch.setattr("core.figures.people_map._find_size", lambda _: 3)
    for trace in list_markers(people_map([make_side()], POSITIONS, "risk", "dark")):
        assert trace.marker.line.width <= 0.1 * trace.marker.size
        assert trace.marker.line.color == INKS["dark"].muted


def test_links_are_one_line_and_thinned(monkeypatch):
    monkeypatch.setattr(module, "MAX_LINES", 50)
    chart = people_map([make_side()], POSITIONS)
    line = next(trace for trace in chart.figure.data if trace.mode == "lines")
    ends = np.column_stack([line.x, line.y]).reshape(-1, 3, 2)
    assert 25 <= len(ends) <= 50
    assert np.isnan(ends[:, 2]).all()
    pairs = {tuple(map(tuple, POSITIONS[edge].round(5))) for edge in GRAPH.edges}
    assert {tuple(map(tuple, pair.round(5))) for pair in ends[:, :2]} <= pairs
    assert f"{GRAPH.num_edges} links, of which {len(ends)} are drawn" in chart.note


def test_beside_many_people_fewer_links_are_drawn(monkeypatch):
    monkeypatch.setattr(module, "MANY_PEOPLE", GRAPH.num_nodes - 1)
    monkeypatch.setattr(module, "FEW_LINES", 20)
    chart = people_map([make_side()], POSITIONS)
    line = next(trace for trace in chart.figure.data if trace.mode == "lines")
    assert 10 <= len(line.x) / 3 <= 20
    assert sum(len(trace.x) for trace in list_markers(chart)) == GRAPH.num_nodes
    monkeypatch.setattr(module, "MANY_PEOPLE", GRAPH.num_nodes)
    (many,) = [t for t in people_map([make_side()], POSITIONS).figure.data if t.mode == "lines"]
    assert len(many.x) / 3 == GRAPH.num_edges


def test_two_sides_share_places_and_zoom():
    chart = people_map([make_side(), make_side(RELEASES[1])], POSITIONS, "links")
    first, second = list_markers(chart)
    assert {second.xaxis, second.yaxis} == {"x2", "y2"}
    assert chart.figure.layout.xaxis2.matches == "x"
    by_number = [dict(zip(t.customdata, t.x, strict=True)) for t in (first, second)]
    assert by_number[0] == by_number[1]
    assert "same place" in chart.note
    assert list(chart.table.release.unique()) == ["original", RELEASES[1]]


def test_changes_are_red_and_blue_lines():
    chart = people_map(
        [make_side(), make_side(RELEASES[1], with_changes=True)], POSITIONS, "change"
    )
    lines = [t for t in chart.figure.data if t.mode == "lines" and t.xaxis == "x2"]
    lost = GRAPH.num_edges - len(make_side(RELEASES[1]).edges)
    assert [len(t.x) // 3 for t in lines] == [lost, 0]
    assert lines[0].line.color == module.REMOVED_RED
    assert "taken away" in chart.note


def test_a_person_who_was_looked_for_is_ringed_in_the_middle():
    chart = people_map([make_side()], POSITIONS, focus=7)
    ring = chart.figure.data[-1]
    assert (ring.x[0], ring.y[0]) == tuple(POSITIONS[7])
    x = chart.figure.layout.xaxis.range
    assert sum(x) / 2 == pytest.approx(POSITIONS[7, 0])


def test_names_are_no_markup():
    side = make_side()
    side.people.loc[0, "node"] = "<b>x</b>"
    texts = [text for trace in list_markers(people_map([side], POSITIONS)) for text in trace.text]
    assert "&lt;b&gt;x&lt;/b&gt;" in texts


def test_communities_are_bubbles_of_their_size():
    table = compute_communities(make_side().people)
    places = np.array([[0.0, 0.0], [1.0, 1.0]])
    chart = community_map(table, places, np.array([[0, 1]]))
    (bubbles,) = list_markers(chart)
    assert bubbles.customdata.tolist() == table.community.tolist()
    assert "40 people as 2 communities" in chart.note
    area = np.array(bubbles.marker.size) ** 2
    assert area / area.max() == pytest.approx(table.people / table.people.max())
