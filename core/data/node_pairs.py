"""Pairs of ids: sensitive links by file, by nodes or by classes; and pseudonyms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.arrays import is_among, pair_codes
from core.data.sandbox import load_pairs_in_sandbox
from core.errors import InputError
from core.graph import Graph


def load_node_pairs(path: str | Path, graph: Graph) -> list[tuple[str, str]]:
    """Links of `graph` listed in a file of id pairs, without duplicates, in the graph's order.

    Raises InputError for an unknown id, or a pair that is not linked.
    """
    file = f"file '{Path(path).name}'"
    raw = load_pairs_in_sandbox(path)
    unknown = [node for node in raw.node_ids if node not in graph.index]
    if unknown:
        raise InputError(
            file,
            "must name nodes of the graph only",
            f"{len(unknown)} others, such as '{unknown[0]}'",
            "check that it belongs to this graph",
        )
    pairs = graph.find_nodes(raw.node_ids)[raw.pairs]
    is_link = graph.contains_pairs(pairs) & (pairs[:, 0] != pairs[:, 1])
    if not is_link.all():
        first = pairs[~is_link][0]
        raise InputError(
            file,
            "must name links of the graph only",
            f"{int((~is_link).sum())} pairs without a link, such as "
            f"'{graph.node_ids[first[0]]}' and '{graph.node_ids[first[1]]}'",
            "remove them",
        )
    named = np.sort(pair_codes(pairs, graph.num_nodes))
    return list_id_pairs(graph, graph.edges[is_among(graph.edge_codes, named)])


def load_pseudonyms(path: str | Path, original: Graph) -> dict[str, str]:
    """Pseudonym → node id from a file of pairs: node id, id in the release.

    Raises InputError for an unknown node, or a repeated node or pseudonym.
    """
    file = f"file '{Path(path).name}'"
    raw = load_pairs_in_sandbox(path)
    nodes, pseudonyms = ([raw.node_ids[end] for end in ends] for ends in raw.pairs.T.tolist())
    unknown = next((node for node in nodes if node not in original.index), None)
    if unknown is not None:
        remedy = "write the original's id first in each line, and no header"
        raise InputError(file, "must begin with nodes of the original", unknown, remedy)
    for what, names in (("node", nodes), ("pseudonym", pseudonyms)):
        name, count = Counter(names).most_common(1)[0]
        if count > 1:
            raise InputError(file, f"must name each {what} once", name, "remove the other lines")
    return dict(zip(pseudonyms, nodes, strict=True))


def find_links_at(graph: Graph, nodes: Sequence[str]) -> list[tuple[str, str]]:
    """All links with an end at one of `nodes` (ids)."""
    chosen = np.zeros(graph.num_nodes, bool)
    chosen[graph.find_nodes(nodes)] = True
    return list_id_pairs(graph, graph.edges[chosen[graph.edges].any(axis=1)])


def find_links_between(graph: Graph, column: str, first: str, second: str) -> list[tuple[str, str]]:
    """All links between a node of class `first` and one of class `second` (may be the same)."""
    attribute = graph.column(column)
    for label in (first, second):
        if label not in attribute.classes:
            raise InputError(
                f"class of '{column}'",
                "must be one of its classes",
                label,
                "known: " + ", ".join(attribute.classes[:20]),
            )
    wanted = sorted((attribute.classes.index(first), attribute.classes.index(second)))
    ends = np.sort(attribute.codes[graph.edges], axis=1)
    return list_id_pairs(graph, graph.edges[(ends == wanted).all(axis=1)])


def list_id_pairs(graph: Graph, edges: np.ndarray) -> list[tuple[str, str]]:
    """Pairs of node ids, of (k, 2) node numbers."""
    return [(graph.node_ids[i], graph.node_ids[j]) for i, j in edges.tolist()]
