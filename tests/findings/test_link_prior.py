"""A link risk's prior, and the same risk at the density of the graph, against counts by hand."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.audit.computing.prepared import PreparedAudit
from core.audit.computing.threat_sampling import draw_repeat
from core.audit.results.node_risks import NODE_COLUMNS
from core.cli.audit import describe_results
from core.findings.link_prior import (
    bound_moved,
    count_pairs,
    describe_accused,
    describe_link_prior,
    describe_report_prior,
    find_link_prior,
    move_prior,
)
from core.findings.numbers import format_number
from core.findings.strongest import describe_false_alarms, summarize_attacks
from core.measures.node_risk import compute_link_node_risk
from core.node_column import NodeColumn
from core.release import ORIGINAL
from core.report.data import ReportData
from core.report.options import ReportOptions
from core.report.results import build_attacks
from core.results import PairScores
from core.threats import LinkThreat
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
    low, middle = (format_number(move_prior(chance, prior)) for chance in (0.7, 0.8))
    assert "a risk of 0.80 [0.70, 0.90] becomes" in text
    assert text.startswith("Link risk and its base rate are those where half of the pairs are")
    assert f"1 in {1 / prior:,.0f}" in text
    assert f"becomes at least {middle}, by the lower end at least {low}." in text
    only = replace(view, load_nodes=lambda: nodes.select(secret=("attribute", "")))
    assert describe_link_prior(only, node, ORIGINAL) == ""
    assert f"1 in {1 / prior:,.0f}" in describe_report_prior(view)
    bare = view.spec.update(hide_links=None)
    assert describe_report_prior(replace(view, spec=bare)) == ""
    assert not np.isnan(prior)


@pytest.mark.parametrize("prior", [1 / 6_900, 0.1, 0.5, 0.8])
def test_a_mean_over_links_bounds_the_mean_of_what_each_link_becomes(prior):
    """Of chances .999 and .5 the mean becomes .0004 at 1 in 6,900, they .063; and .995 is the most
    that calibration gives a link of 200 that are surely found."""
    rng = np.random.default_rng(0)
    lists = [np.array([0.999, 0.5]), *(rng.beta(0.3, 0.3, size) for size in (2, 5, 40))]
    for chances in lists:
        odds = chances / (1 - chances) * prior / (1 - prior)
        apart, told = (odds / (1 + odds)).mean(), bound_moved(float(chances.mean()), prior)
        side, _, number = told.partition("t ")[2].partition(" ")
        assert number == format_number(move_prior(float(chances.mean()), prior))
        figure = move_prior(float(chances.mean()), prior)
        assert apart >= figure - 1e-12 if side == "least" else apart <= figure + 1e-12
    hidden = np.stack([np.arange(200), np.arange(200) + 500], 1)
    threat = LinkThreat(hidden, hidden + 1_000, prior)
    scores = PairScores(np.where(threat.truth, 100.0, 0.0) + rng.normal(size=400))
    risk = compute_link_node_risk(scores, threat, 2_000).risk
    assert risk.max() < 0.996
    assert bound_moved(float(risk.max()), 1 / 6_900) == "at least 0.023"


def make_large(hide: float | None = 0.1):
    """4,700 nodes, 72,000 links, of which a tenth is withheld and none are held back."""
    view = make_view()
    summary = replace(view.summary, num_nodes=4_700, num_edges=72_000)
    return replace(view, summary=summary, spec=view.spec.update(hide_links=hide, test_links=0.0))


def test_the_odds_are_those_of_all_pairs():
    """ "Accusing 1 of 100 unconnected pairs": 110,000 wrongly for 2,600 links."""
    view = make_large()
    unlinked = 4_700 * 4_699 // 2 - 72_000 * 9 // 10
    right, wrong = 0.36 * 7_200, (unlinked - 7_200) / 100
    assert (right, wrong) == pytest.approx((2_600, 110_000), rel=0.01)
    assert wrong / right == pytest.approx(42, abs=0.5)
    assert describe_accused(view, 0.36) == (
        "Of 11,000,000 unconnected pairs, 1 of 100 is 110,000 accused wrongly for 2,600 withheld "
        "links found: 42 wrong for each right."
    )
    few = replace(view, summary=replace(view.summary, num_nodes=500, num_edges=72_000))
    assert describe_accused(few, 0.5).endswith(": 6.8 right for each wrong.")
    tiny = replace(view, summary=replace(view.summary, num_nodes=33, num_edges=41))
    assert describe_accused(tiny, 1 / 3).endswith(
        "is 4.9 accused wrongly for 1.3 withheld links found: 3.7 wrong for each right."
    )
    assert describe_accused(view, 0.0) == describe_accused(make_large(None), 0.36) == ""


def test_of_two_modes_only_pairs_across_them_are_candidates():
    people = np.arange(40) < 30
    graph = two_communities()
    crossing = graph.edges[people[graph.edges[:, 0]] != people[graph.edges[:, 1]]]
    modes = NodeColumn("mode", np.where(people, 0, 1), ("person", "group"))
    graph = replace(graph, edges=crossing, modes=modes)
    view = make_view()
    summary = replace(view.summary, num_edges=graph.num_edges)
    view = replace(view, summary=summary, load_graph=lambda: graph)
    threat = draw_repeat(PreparedAudit.build(view.spec, graph), 0).link
    assert find_link_prior(view) == pytest.approx(threat.prior)
    assert count_pairs(view)[1] <= 30 * 10


def test_one_of_a_hundred_is_of_the_pairs_that_are_named():
    """Both figures of the sentence agree: where links are many, withheld ones are no such pairs."""
    view = make_large()
    view = replace(view, summary=replace(view.summary, num_nodes=403, num_edges=10_621))
    pairs, wrong = re.findall(r"[\d,]+(?= unconnected| accused)", describe_accused(view, 0.15))
    assert (pairs, wrong) == ("70,000", "700")


@pytest.mark.parametrize("baseline", [0.02, 0.5])
def test_page_pdf_and_command_tell_the_odds_of_what_the_headline_tells(baseline, monkeypatch):
    view = make_large()
    is_base = view.results.method == "degree_product"
    is_low = view.results.metric == "tpr_at_fpr_0.01"
    values = view.results.value.mask(is_low & is_base, baseline)
    view = replace(view, results=view.results.assign(value=values))
    told = describe_accused(view, max(0.085, baseline))
    assert told
    assert summarize_attacks(view).aside == told
    assert told in describe_results(view)
    monkeypatch.setattr(ReportData, "add_image", lambda _data, name, _draw: name)
    blocks = build_attacks(ReportData(view, ReportOptions()))
    texts = ["".join(span["text"] for span in block.get("spans", ())) for block in blocks]
    assert told in texts
    ranked = view.results[~is_low]
    assert describe_false_alarms(replace(view, results=ranked)) == ""
