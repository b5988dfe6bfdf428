"""Where everybody stands on the map of a graph: the same on screen and in the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph import Graph
from core.progress import Progress
from core.seeding import Seed


@dataclass(frozen=True, eq=False)
class Layout:
    """positions (n, 2) float32 within [-1, 1]; communities (n,) int32, 0 the largest."""

    positions: np.ndarray
    communities: np.ndarray


def lay_out(graph: Graph, progress: Progress | None = None) -> Layout:
    """Places and communities, drawn from the graph's content hash alone."""
    from core.algorithms.communities import find_communities  # compiled loops: when asked for
    from core.algorithms.layout import compute_layout

    seed = Seed(0).child("layout", graph.content_hash)
    positions = compute_layout(graph, seed.rng("places"), progress=progress)
    communities = find_communities(graph, seed.rng("communities"))
    return Layout(positions.astype(np.float32), communities.astype(np.int32))
