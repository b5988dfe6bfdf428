"""Advice in words: it claims what the paired repeats show, and nothing else."""

from __future__ import annotations

import json
import re

import pytest

from core.audit.asked.method_choice import MethodChoice
from core.audit.computing.advice import Advice, AdviceRequest, AdvisedLink
from core.figures.ego_page import render_ego_html
from core.findings.advice import compute_advice_steps, describe_advice, describe_advice_cost
from core.findings.palette import REMOVED_RED
from tests.oracles.graphs import two_communities

BEFORE = (0.93, 0.95, 0.91)


def make_advice(after, attack="label_propagation", **fields) -> Advice:
    """Two links; the risks after hiding both."""
    links = (
        AdvisedLink(source="3", target="<b>", is_own=True, change=-0.4),
        AdvisedLink(source="5", target="8", is_own=False, change=-0.1),
    )
    return Advice(
        **{
            "request": AdviceRequest(node="3", attack=MethodChoice(key=attack), num_repeats=3),
            "base": 0.5,
            "links": links,
            "risks": {0: BEFORE, 1: BEFORE, 2: after},
            "degree": 6,
            "num_links": 200,
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ((0.55, 0.57, 0.53), "Hide these 2 links: 0.93 [0.88, 0.98] → 0.55 [0.50, 0.60]"),
        ((0.90, 0.97, 0.91), "is not shown to help"),
        ((0.97, 0.98, 0.95), "makes it worse"),
    ],
)
def test_the_sentence_follows_the_paired_change(after, words):
    text = describe_advice(make_advice(after))
    assert words in text
    assert "3 repeats" in text
    assert "0.50, the share of its class" in text


def test_no_link_is_said():
    advice = make_advice(BEFORE, links=(), risks={0: BEFORE})
    assert "No link was found" in describe_advice(advice)
    assert describe_advice_cost(advice) == ""
    assert len(compute_advice_steps(advice)) == 1


def test_the_cost_counts_links_and_the_useful_column():
    advice = make_advice(BEFORE)
    assert describe_advice_cost(advice) == (
        "It costs 2 of 200 links (1 %), 1 of them among its own 6."
    )
    advice = make_advice(
        BEFORE, utility_metric="node_classification_auc", utility=((0.8, 0.8, 0.8), (0.7, 0.7, 0.7))
    )
    assert "changes by −0.10" in describe_advice_cost(advice)


def test_steps_that_were_not_tried_have_no_number():
    advice = make_advice((0.5, 0.5, 0.5), risks={0: BEFORE, 2: (0.5, 0.5, 0.5)})
    table = compute_advice_steps(advice)
    assert table.Risk.tolist() == ["0.93 [0.88, 0.98]", "–", "0.50 [0.50, 0.50]"]
    assert table["Next link"].tolist() == ["–", "3 – <b>", "5 – 8"]
    assert table.Whose.tolist() == ["–", "its own", "near it"]


def test_advised_links_are_dashed_red_and_drawn_once():
    graph = two_communities()
    own = next((i, j) for i, j in graph.edges.tolist() if 3 in (i, j))
    far = next(
        (i, j)
        for i, j in graph.edges.tolist()
        if 3 not in (i, j) and not graph.contains_pairs([[3, i], [3, j]]).any()
    )
    page = render_ego_html(graph, 3, hide=[own[::-1], far])
    text = re.search(r"edges = new vis\.DataSet\((\[.*?\])\);", page, re.DOTALL).group(1)
    edges = json.loads(text)
    red = [(e["from"], e["to"]) for e in edges if e["color"] == REMOVED_RED and e["dashes"]]
    assert sorted(red) == sorted([own, far])
    assert len({(e["from"], e["to"]) for e in edges}) == len(edges)
