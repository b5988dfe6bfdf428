"""A risk is explained by the threat that causes it, against a naive count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from core.audit.view import NODE_COLUMNS
from core.findings.node_reasons import explain_links, explain_node
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
