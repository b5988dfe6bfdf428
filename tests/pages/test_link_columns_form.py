"""Columns of links on Data: not published unasked, and not made coarser before they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.link_table import LinkColumn, LinkTable
from tests.oracles.graphs import two_communities
from tests.pages.conftest import OpenApp
from tests.pages.test_pages import texts

SAID = "Columns of links leave only if they are chosen"


def test_columns_of_links_are_offered_where_they_can_leave(open_app: OpenApp, audited) -> None:
    graph = two_communities()
    seconds = LinkColumn("number", np.arange(graph.num_edges))
    table = LinkTable(np.arange(graph.num_edges), {"seconds": seconds})
    plain = audited[0].save_graph(graph)
    weights = np.arange(graph.num_edges) % 3
    own = audited[0].save_graph(replace(graph, link_table=table, weights=weights))
    assert SAID not in texts(open_app("data", graph=plain))
    app = open_app("data", graph=own)
    assert SAID in texts(app)
    rules = next(box for box in app.selectbox if box.label.startswith("Generalise"))
    assert "link.seconds" not in rules.options
    way = next(box for box in app.segmented_control if box.label.startswith("Columns to publish"))
    way.set_value("chosen").run()
    published = next(box for box in app.multiselect if box.label.startswith("Published columns"))
    published.set_value(["link.seconds", "link.weight"]).run()
    assert not app.exception
    said = "Published with the links: link.weight, link.seconds. No other column is."
    assert said in texts(app).replace("\\", "")
    rules = next(box for box in app.selectbox if box.label.startswith("Generalise"))
    assert "link.seconds" in rules.options
