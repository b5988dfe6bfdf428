"""Pairs that an attacker learns from: links of the release against non-links; without torch."""

from __future__ import annotations

import numpy as np

from core.data.splits import sample_non_links
from core.graph import Graph, pair_codes


def draw_training_pairs(
    graph: Graph, limit: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Links of a release (a, 2), at most `limit`, and as many non-links of it (b, 2).

    Links of weight 0 are no links. The attacker cannot know hidden links, so they may be among
    his non-links.
    """
    links = graph.edges if graph.weights is None else graph.edges[graph.weights > 0]
    if len(links) > limit:
        links = links[np.sort(rng.choice(len(links), limit, replace=False))]
    available = graph.num_pairs - graph.num_edges
    return links, sample_non_links(graph, min(len(links), available), rng)


def draw_non_links(graph: Graph, count: int, rng: np.random.Generator) -> np.ndarray:
    """At most `count` pairs without a link, drawn uniformly with replacement; fast.

    Draws that hit a link are left out, not repeated: as many as the graph is dense.
    """
    pairs = rng.integers(0, graph.num_nodes, (count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    codes = pair_codes(pairs, graph.num_nodes)
    known = graph.edge_codes
    if not len(known):
        return pairs
    found = known[np.searchsorted(known, codes).clip(max=len(known) - 1)]
    return pairs[found != codes]
