"""Removal and addition of links by a defense."""

from __future__ import annotations

import numpy as np

from core.algorithms import pairs
from core.data.link_release import draw_between
from core.graph import Graph
from core.threats import Threats


def change_links(
    graph: Graph,
    drop: np.ndarray,
    added: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
) -> Graph:
    """`graph` without the links numbered `drop`, and with the pairs `added` (k, 2).

    rng  draws the weights of added links from those that stay; needed with `added` only
    """
    keep = np.ones(graph.num_edges, bool)
    keep[drop] = False
    kept = graph.select_edges(keep)
    if added is None or rng is None:
        return kept
    edges = np.concatenate([kept.edges, added])
    if kept.weights is None:
        return kept.with_edges(edges)
    own = draw_weights(kept, len(added), rng)
    return kept.with_edges(edges, np.concatenate([kept.weights, own]))


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
    return draw_between(ordered, rng.random(count) * (len(ordered) - 1))


def sample_candidates(
    graph: Graph, threats: Threats, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Up to `count` distinct pairs i < j, uniform among non-linked ones.

    Sensitive links are excluded, so that they are not added by chance. Fewer than `count` are
    returned only if the graph has no more.
    """
    withheld = np.empty((0, 2), np.int64) if threats.link is None else threats.link.hidden
    blocked = graph.with_edges(np.concatenate([graph.edges, withheld])) if len(withheld) else graph
    return pairs.sample_candidates(blocked, min(count, pairs.count_candidates(blocked)), rng)
