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
    weights: np.ndarray | None = None,
) -> Graph:
    """`graph` without the links numbered `drop`, and with the pairs `added` (k, 2).

    weights (k,) of the added links, in a weighted graph; by default those of the dropped links, in
    order
    """
    keep = np.ones(graph.num_edges, bool)
    keep[drop] = False
    if added is None:
        added = np.empty((0, 2), np.int64)
    edges = np.concatenate([graph.edges[keep], added])
    if graph.weights is None:
        return graph.with_edges(edges)
    own = graph.weights[drop[: len(added)]] if weights is None else weights
    return graph.with_edges(edges, np.concatenate([graph.weights[keep], own]))


def draw_weights(graph: Graph, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count,) weights for added links, distributed as the graph's; empty without weights.

    Each lies at random between two neighbouring weights and has as many decimals, and no more bits:
    one weight for all of them, copies of others or a finer one would tell them from real links.
    """
    if graph.weights is None:
        return np.empty(0)
    ordered = np.sort(graph.weights)
    if not len(ordered):
        return np.ones(count)
    places = rng.random(count) * (len(ordered) - 1)
    drawn = np.interp(places, np.arange(len(ordered)), ordered)
    is_short = (ordered.astype(np.float32) == ordered).all()
    kind = np.float32 if is_short else np.float64
    for decimals in range(np.finfo(kind).precision):
        if (np.round(ordered, decimals).astype(kind) == ordered).all():
            drawn = np.round(drawn, decimals)
            break
    return np.asarray(drawn, kind)


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
