"""Pairs that a defense may add as links."""

from __future__ import annotations

import numpy as np

from core.algorithms.pairs import sample_non_links
from core.graph import Graph
from core.threats import Threats


def sample_candidates(
    graph: Graph, threats: Threats, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Up to `count` distinct pairs i < j, uniform among those that the graph does not link.

    Sensitive links are never among them: their owner wants them out of the release, even by
    chance. Fewer than `count` come back only where the graph has no more.
    """
    withheld = np.empty((0, 2), np.int64) if threats.link is None else threats.link.hidden
    blocked = graph.with_edges(np.concatenate([graph.edges, withheld])) if len(withheld) else graph
    available = blocked.num_pairs - blocked.num_edges
    return sample_non_links(blocked, min(count, available), rng)
