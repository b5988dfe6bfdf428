"""A risk is explained by the threat that causes it, against a naive count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from core.audit.view import NODE_COLUMNS
from core.findings.node_reasons import CLEAR_EXCESS, explain_links, explain_node, explain_people
from core.findings.people import Secret
from core.graph import Attribute
from core.release import ORIGINAL
from tests.figures.conftest import make_view
from tests.oracles.graphs import two_communities


def risk(node, attack, advantage):
    return (node, ORIGINAL, attack, 0.5 + advantage, advantage, 0.4, 1.0, 5)


def explain(rows, number=5):
    graph = two_communities()
    keep = np.ones(graph.num_edges, bool)
    keep[np.flatnonzero((graph.edges == number).any(axis=1))[:2]] = False
    view = replace(
        make_view(graph),
        nodes=pd.DataFrame(rows, columns=list(NODE_COLUMNS)),
        load_release=lambda _release, _repeat: graph.with_edges(graph.edges[keep]),
    )
    return explain_node(view, graph.node_ids[number], number)


def test_a_link_attack_is_explained_by_links_not_by_classes():
    """A risk of 1.00 by a link attack was once explained with the neighbours' classes."""
    node = two_communities().node_ids[5]
    text = " ".join(explain([risk(node, "common_neighbors", 0.5), risk(node, "gcn", 0.0)]))
    assert "2 of its" in text
    assert "contacts" in text
    assert "share its value" not in text
    assert "Nothing is learned about its private value" in text


def test_an_attribute_attack_is_explained_by_classes():
    node = two_communities().node_ids[5]
    text = " ".join(explain([risk(node, "gcn", 0.4)]))
    assert "neighbours share its value" in text
    assert "withheld" not in text


def test_a_further_column_is_explained_by_a_naive_count_telling_or_not():
    """Where the neighbours told nothing, the page of risks once ended in an error."""
    graph = two_communities()
    codes = np.arange(graph.num_nodes) % 2
    attributes = {**graph.attributes, "shift": Attribute("shift", codes, ("day", "night"))}
    graph = replace(graph, attributes=attributes)
    people = pd.DataFrame({"node": graph.node_ids, "attack": "gcn", "advantage": 0.5})
    lines = explain_people(make_view(graph), people, Secret("attribute", "shift"))
    told = 0
    for number, line in enumerate(lines):
        near = graph.adjacency[[number]].indices
        alike = np.mean(codes[near] == codes[number])
        assert f"{alike:.0%}".replace("%", " %") in line
        assert ("sees more than that" in line) == (alike <= 0.5 + CLEAR_EXCESS)
        told += alike <= 0.5 + CLEAR_EXCESS
    assert 0 < told < len(lines)


def test_shared_contacts_equal_a_naive_count():
    graph = two_communities()
    number = 7
    at = np.flatnonzero((graph.edges == number).any(axis=1))[:2]
    release = graph.with_edges(np.delete(graph.edges, at, axis=0))
    around = {n: set() for n in range(graph.num_nodes)}
    for a, b in release.edges.tolist():
        around[a].add(b)
        around[b].add(a)
    linked = {int(n) for pair in graph.edges.tolist() if number in pair for n in pair} - {number}
    gone = linked - around[number]
    strangers = set(range(graph.num_nodes)) - linked - {number}
    ends = np.mean([len(around[number] & around[n]) for n in gone])
    others = np.mean([len(around[number] & around[n]) for n in strangers])
    (text,) = explain_links(graph, release, number)
    assert f"share {ends:.2f} contacts" in text
    assert f"to {others:.2f}" in text or f"{others:.3f}"[:4] in text
    assert explain_links(graph, graph, number)[0].startswith("None of its links")
