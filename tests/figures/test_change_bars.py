"""The picture of removed and added links has the counts of its table, and names its groups."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from core.figures.change_bars import link_changes
from core.figures.releases import STATES
from core.findings.link_changes import count_link_changes
from core.findings.palette import class_marks
from tests.figures.test_releases import rewire
from tests.oracles.graphs import two_communities

GRAPH = two_communities()
CLASSES = GRAPH.column("private").classes


def make_tables(groups: int = 2) -> dict[str, pd.DataFrame]:
    codes = np.arange(40) % groups
    named = GRAPH.column("private").codes, CLASSES
    after = rewire(GRAPH)
    return {
        "class": count_link_changes(GRAPH, after, *named),
        "community": count_link_changes(
            GRAPH, after, codes, [f"community {code + 1}" for code in range(groups)]
        ),
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_are_shares_of_the_links_before(theme):
    tables = make_tables()
    figure = link_changes(tables, "X", CLASSES, theme).figure
    for axis, table in zip(("x", "x2"), tables.values(), strict=True):
        table = table[table.links > 0]
        bars = {t.name: t for t in figure.data if t.type == "bar" and t.xaxis == axis}
        assert list(bars) == list(STATES)
        for state, kept in (
            ("kept", table.links - table.removed),
            ("removed", table.removed),
            ("added", table.added),
        ):
            np.testing.assert_allclose(bars[state].x, 100 * kept / table.links)
            assert bars[state].customdata.tolist() == kept.tolist()
            assert bars[state].marker.color == STATES[state][0]
    lines = [shape.x0 for shape in figure.layout.shapes]
    total = tables["class"][["links", "removed"]].sum()
    assert lines == pytest.approx([100 * (1 - total.removed / total.links)] * 2)


def test_groups_are_named_in_their_colour_with_their_links():
    tables = make_tables()
    figure = link_changes(tables, "X", CLASSES).figure
    rows = tables["class"]
    for name, label in zip(CLASSES, figure.data[0].y, strict=False):
        color, _ = class_marks(CLASSES)[name]
        assert f'color:{color}">■' in label
        links = rows.links[rows.group == name].item()
        assert re.sub("<.*?>", "", label) == f"■ {name} ({links})"
    assert "between them" in figure.data[0].y[-1]


def test_beyond_eight_groups_the_smallest_are_one_row():
    links = [5, 60, 70, 2, 80, 90, 100, 7, 120, 130, 140, 0]
    names = [f"community {place}" for place in range(1, 13)]
    table = pd.DataFrame(
        {"kind": "within", "group": names, "links": links, "removed": links, "added": 0}
    )
    figure = link_changes({"community": table}, "X").figure
    labels = [re.sub("<.*?>", "", label) for label in figure.data[0].y]
    shown = [place for place in range(12) if links[place] > 50]
    assert labels == [*(f"{names[i]} ({links[i]})" for i in shown), "3 others (14)"]


def test_what_is_nowhere_added_is_not_in_the_legend():
    tables = {by: table.assign(added=0) for by, table in make_tables().items()}
    names = {t.name for t in link_changes(tables, "X", CLASSES).figure.data}
    assert names == {"kept", "removed", "kept of all links"}


def test_what_cannot_be_compared_is_said():
    table = make_tables()["class"]
    assert "once the Map is drawn" in link_changes({"class": table}, "X", CLASSES).note
    assert link_changes({}, "X").is_empty
    assert link_changes({"class": table.assign(links=0)}, "X").is_empty


def test_a_column_that_no_link_joins_takes_no_panel():
    """Of links between two modes one end has no value: a bar of "class unknown" was all."""
    tables = make_tables()
    nowhere = np.full(40, -1), CLASSES
    tables["class"] = count_link_changes(GRAPH, rewire(GRAPH), *nowhere)
    figure = link_changes(tables, "X", CLASSES).figure
    titles = {note.text for note in figure.layout.annotations}
    assert "By community" in titles
    assert "By class" not in titles
    alone = link_changes({"class": tables["class"]}, "X", CLASSES)
    assert not alone.is_empty
