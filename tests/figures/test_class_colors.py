"""A class has one colour, whichever picture shows it: all take it from `class_marks`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from core.audit.computing.link_sample import LinkSample
from core.figures.change_bars import link_changes
from core.figures.ego_page import render_ego_html
from core.figures.ghratios import mechanism_scatter
from core.figures.graph_bars import class_bars
from core.figures.node_map import Side, people_map
from core.figures.releases import before_after
from core.findings.link_changes import count_link_changes
from core.findings.palette import ADDED_BLUE, CLASS_COLORS, REMOVED_RED, class_marks
from core.findings.people_map import compute_people
from core.node_column import NodeColumn
from tests.figures.conftest import make_view
from tests.figures.test_releases import rewire
from tests.oracles.graphs import two_communities

NAMES = ("z", "a", "m", "b", "k", "c", "q", "d")
"""Neither sorted, nor by size; one has nobody, more than there are colours."""
CODES = np.repeat([6, 0, 7, 2, 3, 4, 5], [11, 3, 7, 9, 2, 5, 3])
COLUMN = NodeColumn("private", CODES, NAMES)
GRAPH = two_communities().with_attributes({"private": COLUMN})
FIGURES = Path(__file__).parents[2] / "core" / "figures"


def list_pictures() -> dict[str, dict[str, str]]:
    """Picture → class → its colour there."""
    view, places = make_view(GRAPH), np.zeros((40, 2), np.float32)
    people = compute_people(GRAPH, CODES, None, COLUMN)
    side = Side("original", people, GRAPH.edges, classes=COLUMN.classes)
    traces = {
        "map": people_map([side], places, "class").figure.data,
        "homophily": mechanism_scatter(view).figure.data,
        "defend": before_after(
            LinkSample.draw(GRAPH, rewire(GRAPH)), GRAPH.node_ids, attribute=COLUMN
        ).figure.data,
    }
    found = {
        page: {t.name: t.marker.color for t in own if t.name in NAMES and t.mode == "markers"}
        for page, own in traces.items()
    }
    bars = class_bars(COLUMN).figure.data[0]
    found["data"] = dict(zip(bars.y, bars.marker.color, strict=True))
    tables = {"class": count_link_changes(GRAPH, rewire(GRAPH), CODES, NAMES)}
    rows = link_changes(tables, "X", NAMES).figure.data[0].y
    labels = [re.match(r'<span style="color:(.*?)">■</span> (\w)', row) for row in rows]
    found["changes"] = {match[2]: match[1] for match in labels if match}
    page = render_ego_html(GRAPH, 5, COLUMN)
    drawn = json.loads(re.search(r"nodes = new vis.DataSet\((\[.*?\])\);", page)[1])
    found["ego"] = {
        NAMES[CODES[node["id"]]]: node["color"]["border"] for node in drawn if node["id"] != 5
    }
    return found


def test_a_class_has_one_colour_on_every_page():
    marks, pictures = class_marks(NAMES), list_pictures()
    for page, colors in pictures.items():
        assert len(colors) > 2, page
        assert colors == {name: marks[name][0] for name in colors}, page


def test_classes_differ_in_colour_or_symbol_and_are_no_link():
    marks = class_marks(map(str, range(36)))
    assert len(set(marks.values())) == 36
    assert not {REMOVED_RED, ADDED_BLUE} & set(CLASS_COLORS)


def test_no_picture_chooses_the_colours_of_classes_itself():
    for path in FIGURES.glob("*.py"):
        assert "CLASS_COLORS" not in path.read_text(encoding="utf-8"), path.stem
