"""The ego page: right nodes, nothing fetched, no script out of data."""

from __future__ import annotations

import json
import re

import numpy as np

from core.figures.ego_page import render_ego_html
from core.findings.ego_network import compute_ego, describe_fingerprint, describe_missing
from core.findings.palette import risk_color
from core.graph import Graph
from core.node_column import NodeColumn
from tests.figures.test_theme import luminance
from tests.oracles.graphs import star, two_communities

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a\"'`${alert(1)}",
    "]]>&lt;",
    "\u2028",
    "name",
)


def read_nodes(page: str) -> dict[int, dict]:
    text = re.search(r"nodes = new vis\.DataSet\((\[.*?\])\);", page, re.DOTALL).group(1)
    return {node["id"]: node for node in json.loads(text)}


def test_page_holds_the_ego_network_with_computed_layout():
    graph = two_communities()
    risks = {node: node / 40 for node in range(40)}
    page = render_ego_html(graph, 3, graph.column("private"), risks)
    nodes = read_nodes(page)
    neighbors = graph.adjacency[[3]].indices.tolist()
    assert set(nodes) == {3, *neighbors}
    assert (nodes[3]["x"], nodes[3]["y"]) == (0, 0)
    for node in neighbors:
        assert nodes[node]["color"]["background"] == risk_color(risks[node])
        assert nodes[node]["physics"] is False
    edges = re.search(r"edges = new vis\.DataSet\((\[.*?\])\);", page, re.DOTALL).group(1)
    drawn = {(e["from"], e["to"]) for e in json.loads(edges)}
    assert drawn == {(i, j) for i, j in graph.edges.tolist() if {i, j} <= set(nodes)}
    assert '"physics": {"enabled": false}' in page


def test_nothing_is_fetched():
    page = render_ego_html(two_communities(), 0)
    assert not re.search(r"<(?:script|img|iframe)[^>]*\bsrc\s*=\s*[\"']?(?:https?:)?//", page)
    assert not re.search(r"<link\b", page)
    assert "default-src 'none'" in page


def test_names_stay_data():
    attribute = NodeColumn("<i>x</i>", [0, 1, 0, 1, 0, 1], ("</script><b>", "b"))
    graph = Graph.from_pairs(np.array([[0, i] for i in range(1, 6)]), 6, node_ids=HOSTILE)
    page = render_ego_html(graph, 0, attribute)
    plain = render_ego_html(star(), 0)
    for tag in ("<script", "</script", "<img", "<i>x", "onerror=alert(1)>"):
        assert page.count(tag) == plain.count(tag)
    nodes = read_nodes(page)
    assert nodes[5]["label"] == "name"
    assert nodes[1]["title"].startswith(HOSTILE[1])


def test_large_neighbourhoods_are_capped_by_common_neighbours():
    hub = np.array([[0, i] for i in range(1, 300)])
    ring = np.array([[1, 2], [2, 3], [1, 3]])
    graph = Graph.from_pairs(np.concatenate([hub, ring]), 300)
    ego = compute_ego(graph, 0, 20)
    assert len(ego.nodes) == 20
    assert {0, 1, 2, 3} <= set(ego.nodes.tolist())


def test_isolated_node_is_shown_alone():
    graph = Graph.from_pairs(np.array([[0, 1]]), 3)
    assert set(read_nodes(render_ego_html(graph, 2))) == {2}


def test_page_is_the_same_every_time():
    graph = two_communities()
    first, second = (render_ego_html(graph, 1) for _ in range(2))
    assert first == second


def test_the_darkest_node_is_most_exposed_on_a_pale_ground():
    """In the dark theme the darkest, most exposed node was hardly seen."""
    graph = two_communities()
    page = render_ego_html(graph, 1, risks={node: 0.99 * (node == 1) for node in range(40)})
    nodes = read_nodes(page)
    ground = re.search(r"background: (#[0-9a-f]{6})", page).group(1)
    most, others = nodes[1], [node for number, node in nodes.items() if number != 1]
    levels = [luminance(node["color"]["background"]) for node in (most, *others)]
    assert max(levels[1:]) - levels[0] > 0.5
    assert luminance(ground) > max(levels)


def test_the_fingerprint_is_in_the_picture():
    graph = two_communities()
    by_hand = graph.to_networkx()
    node = 3
    among = by_hand.subgraph(by_hand[node]).number_of_edges()
    degrees = sorted((by_hand.degree[v] for v in by_hand[node]), reverse=True)[:12]
    said = describe_fingerprint(graph, node)
    assert said.startswith(f"{by_hand.degree[node]} links, {among} among the neighbours")
    assert ", ".join(map(str, degrees)) in said
    nodes = read_nodes(render_ego_html(graph, node, show_fingerprint=True))
    for number, drawn in nodes.items():
        assert drawn["label"] == f"{graph.node_ids[number]} · {by_hand.degree[number]}"
    assert said in nodes[node]["title"]
    assert describe_fingerprint(Graph.from_pairs(np.array([[0, 1]]), 3), 2) == "no links"


def test_links_that_a_release_lacks_are_explained():
    """A panel said 49 links, and below it 33, without a word on the others."""
    graph = two_communities()
    node = int(np.argmax(graph.degrees))
    own = np.flatnonzero((graph.edges == node).any(axis=1))
    has = len(own)
    without = [graph.with_edges(np.delete(graph.edges, own[:k], axis=0)) for k in range(3)]
    assert describe_missing(graph, without[0], node, False) == ""
    told = describe_missing(graph, without[2], node, False)
    assert told.startswith(
        f"2 of its {has} links are not in this release: withheld as secrets or held back"
    )
    assert not told.endswith("by the defense.")
    told = describe_missing(graph, without[1], node, True)
    assert told.startswith(f"1 of its {has} links is not in this release")
    assert told.endswith("or removed by the defense.")
