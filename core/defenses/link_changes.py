"""Removal and addition of links by a defense."""

from __future__ import annotations

import numpy as np

from core.algorithms.pairs import sample_non_links
from core.graph import Graph
from core.threats import Threats


def change_links(
    graph: Graph,
    drop: np.ndarray,
    added: np.ndarray | None = None,
    donors: np.ndarray | None = None,
) -> Graph:
    """`graph` without the links numbered `drop`, and with the pairs `added` (k, 2).

    In a weighted graph added links get the weights of the links numbered by `donors` (k,); by
    default those of the dropped links, in order.
    """
    keep = np.ones(graph.num_edges, bool)
    keep[drop] = False
    if added is None:
        added = np.empty((0, 2), np.int64)
    edges = np.concatenate([graph.edges[keep], added])
    if graph.weights is None:
        return graph.with_edges(edges)
    donors = drop if donors is None else donors
    weights = np.concatenate([graph.weights[keep], graph.weights[donors[: len(added)]]])
    return graph.with_edges(edges, weights)


def draw_donors(graph: Graph, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count,) random links whose weights added links get; empty without weights."""
    if graph.weights is None:
        return np.empty(0, np.int64)
    return rng.integers(0, max(graph.num_edges, 1), count)


def sample_candidates(
    graph: Graph, threats: Threats, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Up to `count` distinct pairs i < j, uniform among non-linked ones.

    Sensitive links are excluded, so that they are not added by chance. Fewer than `count` are
    returned only if the graph has no more.
    """
    withheld = np.empty((0, 2), np.int64) if threats.link is None else threats.link.hidden
    blocked = graph.with_edges(np.concatenate([graph.edges, withheld])) if len(withheld) else graph
    available = blocked.num_pairs - blocked.num_edges
    return sample_non_links(blocked, min(count, available), rng)
