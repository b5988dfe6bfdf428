"""Ego network of one node as a self-contained page, without network access or scripts from data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.graph import Graph
from core.words import count_noun

MAX_NODES = 150

MAX_LISTED = 12
"""Number of neighbours whose degrees are listed."""


SHAPES = {
    "dot": "●",
    "diamond": "◆",
    "square": "■",
    "triangle": "▲",
    "star": "★",
    "triangleDown": "▼",
    "hexagon": "⬢",
}
"""Shape of a class in the picture → its mark in the legend; more classes begin anew."""


@dataclass(frozen=True, eq=False)
class EgoNetwork:
    """nodes: node numbers, centre first; positions (k, 2)."""

    nodes: np.ndarray
    positions: np.ndarray


def compute_ego(
    graph: Graph, node: int, max_nodes: int = MAX_NODES, extra: Sequence[int] = ()
) -> EgoNetwork:
    """The centre and its neighbours, those with most common neighbours first up to the cap.

    `extra` nodes are always included.
    """
    import networkx as nx

    adjacency = graph.adjacency
    neighbors = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
    chosen = neighbors
    if len(neighbors) > max_nodes - 1:
        ties = adjacency.copy()
        ties.data[:] = 1
        common = np.asarray(ties[neighbors] @ ties[[node]].toarray().ravel()).ravel()
        chosen = neighbors[np.argsort(-common, kind="stable")[: max_nodes - 1]]
    others = np.union1d(chosen, np.asarray(extra, int))
    nodes = np.concatenate([[node], others[others != node]]).astype(int)
    inside = find_among(graph, nodes)
    part = nx.Graph()
    part.add_nodes_from(nodes.tolist())
    part.add_edges_from(graph.edges[inside].tolist())
    if len(nodes) > 1:
        placed = nx.spring_layout(part, seed=0, iterations=80, k=2.2 / np.sqrt(len(nodes)))
    else:
        placed = {int(node): np.zeros(2)}
    positions = np.array([placed[int(i)] for i in nodes])
    return EgoNetwork(nodes, positions - positions[0])


def describe_fingerprint(graph: Graph, node: int) -> str:
    """Structural knowledge about a node: degree, links among neighbours, neighbours' degrees."""
    adjacency = graph.adjacency
    neighbors = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
    if not len(neighbors):
        return "no links"
    among = int(find_among(graph, neighbors).sum())
    degrees = np.sort(graph.degrees[neighbors])[::-1]
    listed = ", ".join(map(str, degrees[:MAX_LISTED]))
    more = f" and {len(degrees) - MAX_LISTED} more" if len(degrees) > MAX_LISTED else ""
    links = count_noun(len(neighbors), "link")
    return f"{links}, {among} among the neighbours, who have {listed}{more}"


def describe_missing(original: Graph, release: Graph, node: int, is_defended: bool) -> str:
    """Why a release shows fewer links of a node than it has; "" where it shows them all."""
    ends = [
        set(graph.adjacency.indices[slice(*graph.adjacency.indptr[node : node + 2])].tolist())
        for graph in (original, release)
    ]
    gone = len(ends[0] - ends[1])
    if not gone:
        return ""
    of = f"{gone:,} of its {count_noun(len(ends[0]), 'link')}"
    why = "withheld as secrets or held back to measure usefulness"
    removed = ", or removed by the defense" if is_defended else ""
    return f"{of} {'is' if gone == 1 else 'are'} not in this release: {why}{removed}."


def find_among(graph: Graph, nodes: np.ndarray) -> np.ndarray:
    """(m,) bool: links with both ends among these nodes."""
    return np.asarray(np.isin(graph.edges, nodes).all(axis=1))
