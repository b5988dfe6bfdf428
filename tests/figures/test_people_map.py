"""The map's figure: where everybody is drawn, in which colour, and what a click tells."""

from __future__ import annotations

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from core.figures import link_image as module
from core.figures.label_places import CHAR_WIDTH, LINE_HEIGHT
from core.figures.node_map import PLOT_SIZES, Side, community_map, people_map
from core.figures.risk_heatmap import risk_heatmap
from core.figures.theme import GROUND
from core.findings.palette import UNKNOWN_GREY
from core.findings.people_map import (
    compute_communities,
    compute_people,
    find_changes,
    label_communities,
)
from core.findings.risk import compute_heatmap
from tests.figures.conftest import RELEASES, make_view
from tests.figures.test_theme import luminance
from tests.oracles.graphs import two_communities

GRAPH = two_communities()
POSITIONS = np.random.default_rng(0).uniform(-1, 1, (40, 2)).astype(np.float32)


def make_side(release: str = "original", with_changes: bool = False) -> Side:
    view = make_view(GRAPH)
    released = None if release == "original" else view.load_release(release, 0)
    side = GRAPH.column("private")
    people = compute_people(GRAPH, side.codes, view.nodes, side, released, release)
    people.loc[:2, ["advantage", "risk"]] = np.nan
    edges = GRAPH.edges if released is None else released.edges
    changes = find_changes(GRAPH, released) if with_changes else (None, None)
    return Side(release, people, edges, *changes, label_communities(compute_communities(people)))


@pytest.fixture(autouse=True)
def forget_images():
    """Tests draw the same links at sizes of their own."""
    module.encode_links.cache_clear()


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
    assert grey.marker.color == UNKNOWN_GREY
    assert len(grey.x) == 3
    assert np.all(np.diff(points.marker.color) >= 0)
    largest = make_side().people.risk.max() - 0.1
    assert points.marker.cmin == 0
    assert points.marker.cmax == pytest.approx(largest, rel=0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("by", ["risk", "links"])
def test_no_point_is_as_pale_as_its_ground_and_the_highest_stands_out_most(theme, by):
    chart = people_map([make_side()], POSITIONS, by, theme)
    points, page = list_markers(chart)[-1], luminance(chart.figure.layout.plot_bgcolor)
    levels = [luminance(color) for _, color in points.marker.colorscale]
    contrasts = [(max(c, page) + 0.05) / (min(c, page) + 0.05) for c in levels]
    assert min(contrasts) > 1.5
    assert contrasts[-1] == max(contrasts) > 7


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_risk_runs_the_same_way_on_every_picture(theme):
    """In the dark theme the palest was most exposed on the map, the darkest on the heatmap."""
    view = make_view(GRAPH)
    tables = {view.get_release("original"): compute_heatmap(view.nodes, "original")}
    heatmap = risk_heatmap(tables, "advantage", theme).figure.layout
    points = list_markers(people_map([make_side()], POSITIONS, "advantage", theme))[-1]
    table, places = compute_communities(make_side().people), np.array([[0.0, 0.0], [1.0, 1.0]])
    (bubbles,) = list_markers(community_map(table, places, np.array([[0, 1]]), theme=theme))
    scales = [points.marker.colorscale, bubbles.marker.colorscale, heatmap.coloraxis.colorscale]
    for scale in scales:
        levels = [luminance(color) for _, color in scale]
        assert levels == sorted(levels, reverse=True)
    assert len({scale[-1][1] for scale in scales}) == 1
    chart = people_map([make_side()], POSITIONS, "advantage", theme).figure
    assert chart.layout.plot_bgcolor == heatmap.plot_bgcolor == GROUND.empty


def read_image(chart, number: int = 0) -> np.ndarray:
    data = chart.figure.layout.images[number].source.partition(",")[2]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGBA"))


def test_an_image_is_encoded_once_for_what_it_shows(monkeypatch):
    """Nine tenths of the page's time went into the same picture."""
    monkeypatch.setattr(module, "PIXELS", 60)
    side = make_side()
    first, again = (people_map([replace(side)], POSITIONS.copy()) for _ in range(2))
    assert module.encode_links.cache_info()[:2] == (1, 1)
    assert np.array_equal(read_image(first), read_image(again))
    fewer = people_map([replace(side, edges=side.edges[1:])], POSITIONS)
    assert not np.array_equal(read_image(fewer), read_image(first))


def test_every_link_is_in_the_image_where_its_ends_stand(monkeypatch):
    monkeypatch.setattr(module, "PIXELS", 300)
    side = make_side()
    chart = people_map([side], POSITIONS)
    image = read_image(chart)
    assert image.shape == (300, 300, 4)
    for share in (0.0, 0.37, 0.5, 1.0):
        places = POSITIONS[side.edges[:, 0]] * (1 - share) + POSITIONS[side.edges[:, 1]] * share
        column = np.round((places[:, 0] + 1.08) * 299 / 2.16).astype(int)
        row = np.round((1.08 - places[:, 1]) * 299 / 2.16).astype(int)
        near = [
            image[r - 1 : r + 2, c - 1 : c + 2, 3].max() for r, c in zip(row, column, strict=True)
        ]
        assert min(near) > 0
    layout = chart.figure.layout.images[0]
    assert (layout.x, layout.y, layout.sizex, layout.layer) == (-1.08, 1.08, 2.16, "below")
    assert f"all {len(side.edges)} links" in chart.note


@pytest.mark.parametrize("by", ["advantage", "class", "community"])
def test_communities_are_named_where_they_are_with_their_share_exposed(by):
    """ "Concentrate in community 2", which no picture showed."""
    side = make_side()
    chart = people_map([side], POSITIONS, by)
    labels = {a.text: (a.x, a.y) for a in chart.figure.layout.annotations}
    assert len(labels) == 2
    for number, text in zip((1, 2), sorted(labels), strict=True):
        own = GRAPH.column("private").codes == number - 1
        gains = side.people[own][["advantage", "sure"]].dropna()
        sure, likely = (gains.sure > 0.2).mean(), (gains.advantage > 0.2).mean()
        assert 0 < sure < likely
        assert text == f"<b>community {number}</b><br>at least {100 * sure:.0f} % exposed"
        x, y = labels[text]
        assert x == pytest.approx(np.median(POSITIONS[own, 0]))
        assert y == pytest.approx(min(POSITIONS[own, 1].max() + 0.1, 0.98), abs=0.02)


def test_labels_cover_few_people_where_room_is_near():
    """The label above one community lay over the people of the next."""
    side = make_side()
    side.people["community"] = np.arange(40) // 20 + 1
    places = np.random.default_rng(4).uniform((-0.3, -0.6), (0.3, -0.2), (40, 2))
    places[20:] += (0, 0.35)  # begins where the label of the first would stand
    sides = [replace(side, labels=[(1, "community 1", "at least 14 % exposed")])]
    (note,) = people_map(sides, places).figure.layout.annotations
    assert (note.ax, note.ay) != (0, 0)
    for width, height in PLOT_SIZES[1]:
        wide, high = CHAR_WIDTH * len("at least 14 % exposed"), LINE_HEIGHT * 2
        left = (note.x + 1.08) / 2.16 * width + note.ax
        left -= {"left": 0, "center": 0.5, "right": 1}[note.xanchor] * wide
        top = (1.08 - note.y) / 2.16 * height + note.ay - high / 2
        x, y = (places * (1, -1) + 1.08).T / 2.16 * [[width], [height]]
        assert ((x > left) & (x < left + wide) & (y > top) & (y < top + high)).sum() <= 1


@pytest.mark.parametrize("count", [1, 2])
def test_labels_lie_on_no_other_in_either_window(count):
    """Seven communities whose middles are a few pixels apart."""
    side, rng = make_side(), np.random.default_rng(4)
    side.people["community"] = np.arange(40) % 7 + 1
    labels = [(c, f"community {c}", "at least 14 % exposed") for c in range(1, 8)]
    places = rng.uniform(-0.4, 0.4, (40, 2))
    sides = [replace(side, labels=labels)] * count
    notes = people_map(sides, places).figure.layout.annotations[count if count > 1 else 0 :]
    shown = notes[: len(notes) // count]
    assert len(shown) >= 5
    side_of = {"left": 0, "center": -0.5, "right": -1}
    for width, height in PLOT_SIZES[count]:
        boxes = []
        for note in shown:
            text = note.text.replace("<b>", "").replace("</b>", "").split("<br>")
            wide, high = CHAR_WIDTH * max(map(len, text)), LINE_HEIGHT * len(text)
            x = (note.x + 1.08) / 2.16 * width + note.ax + side_of[note.xanchor] * wide
            y = (1.08 - note.y) / 2.16 * height + note.ay - high / 2
            boxes.append((x, y, x + wide, y + high))
        for i, a in enumerate(boxes):
            assert min(a[0], a[1], width - a[2], height - a[3]) >= 0
            for b in boxes[:i]:
                assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_one_picture_takes_the_whole_width_and_two_keep_their_shape():
    one, two = (
        people_map([make_side()] * count, POSITIONS).figure.layout.yaxis.scaleanchor
        for count in (1, 2)
    )
    assert (one, two) == (None, "x")


def test_two_sides_share_places_and_zoom():
    chart = people_map([make_side(), make_side(RELEASES[1])], POSITIONS, "links")
    first, second = list_markers(chart)
    assert {second.xaxis, second.yaxis} == {"x2", "y2"}
    assert chart.figure.layout.xaxis2.matches == "x"
    by_number = [dict(zip(t.customdata, t.x, strict=True)) for t in (first, second)]
    assert by_number[0] == by_number[1]
    assert "same layout" in chart.note
    assert list(chart.table.release.unique()) == ["original", RELEASES[1]]


def test_changes_are_a_red_and_a_blue_image():
    chart = people_map(
        [make_side(), make_side(RELEASES[1], with_changes=True)], POSITIONS, "change"
    )
    original, lost, gained = (read_image(chart, i) for i in range(3))
    assert tuple(lost[lost[..., 3] > 0][0, :3]) == (0xD5, 0x5E, 0x00)
    assert not gained[..., 3].any()
    assert 0 < (lost[..., 3] > 0).sum() < (original[..., 3] > 0).sum()
    assert [image.xref for image in chart.figure.layout.images] == ["x", "x2", "x2"]
    assert "removed links" in chart.note


def test_a_person_who_was_looked_for_is_ringed_in_the_middle():
    chart = people_map([make_side()], POSITIONS, opened=7, is_near=True)
    ring, lines = chart.figure.data[-1], chart.figure.data[0]
    assert len(lines.x) / 3 == GRAPH.degrees[7]  # their own links, sharp at any zoom
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
    assert "40 nodes as 2 communities" in chart.note
    area = np.array(bubbles.marker.size) ** 2
    assert area / area.max() == pytest.approx(table.people / table.people.max())


def test_who_was_tested_once_is_hollow_and_colours_are_what_is_sure():
    """Maximal risk in one split was the darkest point of the map."""
    side = make_side()
    side.people.loc[5:6, ["advantage", "risk", "sure"]] = 0.5, 1.0, np.nan
    for by in ("advantage", "risk"):
        grey, few, points = list_markers(people_map([side], POSITIONS, by))
        assert grey.name == "nothing at stake"
        assert (few.name, few.marker.symbol) == ("tested in one split", "circle-open")
        assert few.customdata.tolist() == [5, 6]
        people = side.people.loc[points.customdata]
        base = people.risk - people.advantage if by == "risk" else 0.0
        assert points.marker.color == pytest.approx((people.sure + base).to_numpy(), abs=1e-6)
        assert "at least" in points.marker.colorbar.title.text
    side.people["sure"] = np.nan
    _, points = list_markers(people_map([side], POSITIONS))
    assert len(points.x) == 37
    assert "at least" not in points.marker.colorbar.title.text


def test_a_bubble_is_named_as_its_community():
    table = compute_communities(make_side().people)
    places, links = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0, 1]])
    labels = [(2, "community 2", "14 % exposed"), (9, "community 9", "not drawn")]
    (note,) = community_map(table, places, links, labels=labels).figure.layout.annotations
    assert note.text == "<b>community 2</b><br>14 % exposed"
    assert (note.x, note.y) == tuple(places[table.community.tolist().index(2)])


def test_only_nodes_that_pass_are_drawn_and_counted():
    shown = np.arange(40) % 3 == 0
    for by in ("advantage", "class"):
        chart = people_map([make_side()], POSITIONS, by, shown=shown)
        numbers = np.concatenate([trace.customdata for trace in list_markers(chart)])
        assert sorted(numbers) == list(np.flatnonzero(shown))
    assert chart.note.startswith("14 of 40 nodes, all")
    assert len(chart.table) == 14


def test_an_opened_node_stands_out_with_its_neighbours():
    """A click opened a panel, and the picture showed no link of the node."""
    shown = np.arange(40) != 7
    chart = people_map([make_side()], POSITIONS, opened=7, shown=shown)
    near = {int(n) for edge in GRAPH.edges if 7 in edge for n in edge}
    chosen = {
        int(trace.customdata[place])
        for trace in list_markers(chart)
        for place in trace.selectedpoints
    }
    assert chosen == near
    assert 7 in near
    assert tuple(chart.figure.layout.xaxis.range) == (-1.08, 1.08)
    links = chart.figure.data[0]
    assert (links.mode, len(links.x)) == ("lines", 3 * GRAPH.degrees[7])
