"""What went into a release: the pairs on which an attacker's belief is judged."""

from __future__ import annotations

import numpy as np

from core.algorithms.pairs import sample_non_links
from core.graph import Graph
from core.threats import ReleasedThreat

MAX_PAIRS = 50_000
"""Pairs of one sort at most: real links, false links of the release, other pairs."""

NUM_OTHERS = 20_000
"""Pairs that neither graph links, drawn from all of them."""


def draw_released_threat(
    before: Graph, released: Graph, rng: np.random.Generator
) -> ReleasedThreat:
    """before: the graph that was defended; released: what its recipients hold.

    Links of weight 0 are no links. Of a sort with more than MAX_PAIRS pairs a sample stands for
    all, with its weight.
    """
    real, told = (_drop_empty(graph) for graph in (before, released))
    links, link_weight = _sample(real.edges, rng)
    lies, lie_weight = _sample(told.edges[~real.contains_pairs(told.edges)], rng)
    either = real.with_edges(np.concatenate([real.edges, told.edges]))
    rest = either.num_pairs - either.num_edges
    others = sample_non_links(either, min(rest, NUM_OTHERS), rng)
    weights = np.repeat(
        [link_weight, lie_weight, rest / max(len(others), 1)], [len(links), len(lies), len(others)]
    )
    absent = np.concatenate([lies, others])
    released_mask = told.contains_pairs(np.concatenate([links, absent]))
    return ReleasedThreat(links, absent, real.density, weights=weights, released=released_mask)


def _drop_empty(graph: Graph) -> Graph:
    """The same nodes with the links of weight above 0, unweighted and bare."""
    edges = graph.edges if graph.weights is None else graph.edges[graph.weights > 0]
    return Graph(edges=edges, node_ids=graph.node_ids)


def _sample(pairs: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    if len(pairs) <= MAX_PAIRS:
        return pairs, 1.0
    chosen = np.sort(rng.choice(len(pairs), MAX_PAIRS, replace=False))
    return pairs[chosen], len(pairs) / MAX_PAIRS
