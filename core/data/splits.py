"""Splits: which links are hidden, which values are known. Every repeat draws new ones."""

from __future__ import annotations

import numpy as np

from core.algorithms.pairs import sample_non_links
from core.errors import InputError
from core.graph import Graph, pair_codes
from core.seeding import Seed
from core.threats import AttributeThreat, LinkThreat, Threats


def draw_threats(
    graph: Graph,
    seed: Seed,
    private: str | None = None,
    utility: str | None = None,
    known: float = 0.1,
    hide_links: float | None = None,
    sensitive_links: np.ndarray | None = None,
    test_links: float = 0.1,
    utility_train: float = 0.3,
) -> Threats:
    """Set up one repeat on the original graph.

    hide_links       share of links drawn as sensitive, or None for no link threat
    sensitive_links  (h, 2) the analyst's own choice; replaces the draw
    test_links       share of the original links held back for link-prediction utility; only
                     where there is a link threat (the attribute threat sees the whole graph)
    """
    if private is not None:
        graph = graph.with_private(private)
    if utility is not None:
        graph = graph.with_private(utility)
    link = test = test_non = None
    visible = graph
    if hide_links is not None or sensitive_links is not None:
        hidden, test = _draw_links(graph, seed, hide_links, sensitive_links, test_links)
        non_links = sample_non_links(graph, len(hidden) + len(test), seed.rng("non_links"))
        absent, test_non = non_links[: len(hidden)], non_links[len(hidden) :]
        visible = graph.without_edges(np.concatenate([hidden, test]))
        candidates = graph.num_pairs - visible.num_edges
        link = LinkThreat(hidden, absent, prior=len(hidden) / max(candidates, 1))
    attribute = downstream = None
    if private is not None:
        attribute = draw_attribute_threat(graph, private, known, seed.child("known"))
    if utility is not None:
        downstream = draw_attribute_threat(graph, utility, utility_train, seed.child("utility"))
    return Threats(visible, link, attribute, test, test_non, downstream)


def draw_attribute_threat(graph: Graph, column: str, known: float, seed: Seed) -> AttributeThreat:
    """A stratified known share of the nodes with a value; the rest is hidden.

    Each class with at least two nodes keeps at least one on either side.
    """
    attribute = graph.attribute(column)
    present = [c for c in range(attribute.num_classes) if (attribute.codes == c).any()]
    if len(present) < 2:
        raise InputError(
            f"column '{column}'",
            "must have at least two classes with nodes",
            len(present),
            "choose another column",
        )
    if not 0 < known < 1:
        raise InputError("known share", "must lie between 0 and 1", known)
    rng = seed.rng("known")
    mask = np.zeros(graph.num_nodes, bool)
    for code in present:
        nodes = np.flatnonzero(attribute.codes == code)
        count = int(np.clip(round(known * len(nodes)), 1, max(len(nodes) - 1, 1)))
        mask[rng.choice(nodes, count, replace=False)] = True
    return AttributeThreat(attribute, mask, attribute.known & ~mask)


def _draw_links(
    graph: Graph, seed: Seed, share: float | None, given: np.ndarray | None, test_share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Sensitive links and test links, disjoint."""
    order = seed.rng("links").permutation(graph.num_edges)
    if given is not None:
        codes = np.unique(pair_codes(given, graph.num_nodes))
        is_given = np.isin(graph.edge_codes, codes)
        if not is_given.any():
            raise InputError("sensitive links", "must include links of the graph", len(codes))
        hidden = graph.edges[is_given]
        rest = order[~is_given[order]]
    else:
        if share is None or not 0 < share < 1:
            raise InputError("share of hidden links", "must lie between 0 and 1", share)
        num_hidden = round(share * graph.num_edges)
        if num_hidden < 1:
            raise InputError(
                "graph",
                "must have enough links to hide some",
                graph.num_edges,
                "raise the share or use a larger graph",
            )
        hidden, rest = graph.edges[np.sort(order[:num_hidden])], order[num_hidden:]
    num_test = min(round(test_share * graph.num_edges), len(rest))
    return hidden, graph.edges[np.sort(rest[:num_test])]
