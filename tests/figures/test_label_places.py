"""Names of points never lie on each other or on a marker, and stay inside the plot."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.figures.label_places import CHAR_WIDTH, LINE_HEIGHT, MARKER, NEAR, place_labels

SIZES = ((600.0, 400.0), (1000.0, 400.0))

NO_LINE = np.empty(0)


def boxes_overlap(a, b) -> bool:
    """By the definition: the boxes share an inner point."""
    return max(a[0], b[0]) < min(a[2], b[2]) and max(a[1], b[1]) < min(a[3], b[3])


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9),
    st.integers(1, 40),
)
@settings(max_examples=60)
def test_no_name_lies_on_another_in_either_window(shares, length):
    texts = ["x" * (1 + (length + 7 * i) % 40) for i in range(len(shares))]
    charts = [np.array(shares) * size for size in SIZES]
    whiskers = [np.concatenate([chart - 20, chart + 20], axis=1) for chart in charts]
    places = place_labels(charts, texts, SIZES, whiskers, [NO_LINE] * 2)
    for chart, size in zip(charts, SIZES, strict=True):
        boxes = [
            p.box(xy, t) for p, xy, t in zip(places, chart, texts, strict=True) if p is not None
        ]
        for i, box in enumerate(boxes):
            assert min(box[0], box[1], size[0] - box[2], size[1] - box[3]) >= 0
            assert not any(boxes_overlap(box, other) for other in boxes[:i])
            for x, y in chart:
                marker = (x - MARKER, y - MARKER, x + MARKER, y + MARKER)
                assert not boxes_overlap(box, marker)


def test_a_lone_point_keeps_its_name_near_and_coinciding_points_get_leaders():
    chart = np.array([[300.0, 200.0]])
    bare = np.concatenate([chart, chart], axis=1)
    (place,) = place_labels([chart], ["Original"], SIZES[:1], [bare], [NO_LINE])
    assert place is not None
    assert not place.needs_leader
    many = np.repeat(chart, 7, axis=0)
    places = place_labels(
        [many],
        ["Random deletion (strength = 0.5)"] * 7,
        SIZES[:1],
        [np.concatenate([many, many], axis=1)],
        [NO_LINE],
    )
    assert all(places)
    assert sum(place.needs_leader for place in places) >= 1
    assert place_labels([chart], [""], SIZES[:1], [bare], [NO_LINE]) == [None]


def test_a_name_would_rather_not_lie_on_a_whisker():
    points = np.array([[300.0, 200.0]])
    level = np.array([[250.0, 200.0, 500.0, 200.0]])  # a long whisker to the right
    (place,) = place_labels([points], ["Original"], SIZES[:1], [level], [NO_LINE])
    assert place is not None
    assert (place.dx, place.dy) != (NEAR, 0)
    assert not place.needs_leader


def test_a_name_would_rather_not_lie_on_a_line():
    """The limit's line went through the name of a release beside it."""
    points = np.array([[300.0, 200.0]])
    bare = np.concatenate([points, points], axis=1)
    (place,) = place_labels([points], ["Original"], SIZES[:1], [bare], [np.array([320.0])])
    assert place is not None
    assert (place.side, place.needs_leader) == (-1, False)


def test_a_name_covers_no_dots_where_room_is_near():
    """Names of communities lay over the people of others."""
    points, rng = np.array([[300.0, 200.0]]), np.random.default_rng(0)
    dots = rng.uniform([240, 180], [360, 220], (60, 2))
    for cloud, is_moved in (([], False), ([dots], True)):
        (place,) = place_labels([points], ["community 2"], SIZES[:1], marker=0, dots=cloud)
        assert place is not None
        left, top, right, bottom = place.box(points[0], "community 2")
        inside = [left < x < right and top < y < bottom for x, y in dots]
        assert any(inside) is not is_moved


def test_without_a_marker_a_name_of_two_lines_is_centred_and_the_next_gives_way():
    points, text = np.array([[300.0, 200.0], [310.0, 205.0]]), "community 2\n14 % exposed"
    first, second = place_labels([points], [text] * 2, SIZES[:1], marker=0)
    assert first is not None
    assert second is not None
    assert (first.dx, first.dy) == (0, 0)
    box = first.box(points[0], text)
    half = np.array([6 * CHAR_WIDTH, LINE_HEIGHT])
    np.testing.assert_allclose(box, [*(points[0] - half), *(points[0] + half)])
    assert not boxes_overlap(box, second.box(points[1], text))
