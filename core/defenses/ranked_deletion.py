"""What the deletions by a centrality share: drop the links with the highest score."""

from __future__ import annotations

import numpy as np

from core.context import Context
from core.graph import Graph
from core.methods import Defense
from core.release import Release


def make_ranked_release(
    defense: Defense, graph: Graph, scores: np.ndarray, strength: float, context: Context
) -> Release:
    """Without the round(strength · m) links of highest score (m,); ties in random order."""
    removed = round(strength * graph.num_edges)
    order = np.lexsort((context.rng("ties").random(graph.num_edges), -scores))
    keep = np.ones(graph.num_edges, bool)
    keep[order[:removed]] = False
    weights = None if graph.weights is None else graph.weights[keep]
    return Release(graph.with_edges(graph.edges[keep], weights), defense.info.key, defense.config)
