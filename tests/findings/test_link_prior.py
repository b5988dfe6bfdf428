"""A link risk's prior, and the same risk at the density of the graph, against counts by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.audit.computing.prepared import PreparedAudit
from core.audit.computing.threat_sampling import draw_repeat
from core.audit.results.node_risks import NODE_COLUMNS
from core.findings.link_prior import (
    describe_link_prior,
    describe_report_prior,
    find_link_prior,
    move_prior,
)
from core.findings.numbers import format_interval
from core.release import ORIGINAL
from tests.figures.conftest import make_view
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks


@pytest.mark.parametrize(
    "fields", [{}, {"hide_links": 0.23, "test_links": 0.4}, {"given": 7}, {"given": 9, "held": 4}]
)
def test_the_prior_is_that_of_the_threat_as_it_is_drawn(fields):
    graph, view = two_communities(), make_view()
    if "given" in fields:
        names = graph.node_ids
        pairs = [(names[a], names[b]) for a, b in graph.edges[: fields["given"]]]
        named = {"sensitive_links": (*pairs, pairs[0][::-1]), "hide_links": None}
        if "held" in fields:  # a link that is both is sensitive
            named["held_back_links"] = [
                (names[b], names[a]) for a, b in graph.edges[8 : 8 + fields["held"]]
            ]
        fields = named
    view = replace(view, spec=view.spec.update(**fields))
    assert find_link_prior(view) == pytest.approx(
        draw_repeat(PreparedAudit.build(view.spec, graph), 0).link.prior
    )


def test_moving_the_prior_equals_counting_pairs():
    """Of 40 withheld links and 9,960 others a mark is on 30 and on 498."""
    hits, alarms, hidden, others = 30, 498, 40, 9_960
    balanced = (hits / hidden) / (hits / hidden + alarms / others)
    assert move_prior(balanced, hidden / 10_000) == pytest.approx(hits / (hits + alarms))
    assert move_prior(0.5, 0.01) == pytest.approx(0.01)
    assert [move_prior(end, 0.1) for end in (0.0, 1.0)] == [0.0, 1.0]


def test_a_person_is_told_both_and_a_column_has_no_such_prior():
    node = two_communities().node_ids[5]
    rows = [
        (node, ORIGINAL, "common_neighbors", 0.8, 0.3, 0.7, 0.9, 5),
        (node, ORIGINAL, "gcn", 0.9, 0.4, 0.8, 1.0, 5),
    ]
    nodes = build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))
    view = replace(make_view(), load_nodes=lambda: nodes)
    prior, text = find_link_prior(view), describe_link_prior(view, node, ORIGINAL)
    low, middle, high = (move_prior(chance, prior) for chance in (0.7, 0.8, 0.9))
    assert "0.80 [0.70, 0.90]" in text
    assert "half of the pairs are links" in text
    assert f"1 in {1 / prior:,.0f}" in text
    assert format_interval(middle, low, high) in text
    only = replace(view, load_nodes=lambda: nodes.select(secret=("attribute", "")))
    assert describe_link_prior(only, node, ORIGINAL) == ""
    assert f"1 in {1 / prior:,.0f}" in describe_report_prior(view)
    bare = view.spec.update(hide_links=None)
    assert describe_report_prior(replace(view, spec=bare)) == ""
    assert not np.isnan(prior)
