"""Betweenness deletion: removes the links with the highest betweenness."""

from __future__ import annotations

from typing import ClassVar

import numba
import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.deletion import RankedDeletion
from core.graph import Graph
from core.methods import MethodInfo
from core.progress import Progress

TILE = 16
"""Sources between two progress reports."""


class BetweennessDeletion(RankedDeletion):
    """Removes links in descending order of their betweenness in the original graph."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="betweenness_deletion",
        title="Deletion by betweenness",
        summary="Publishes the graph without the links that most shortest paths use.",
        source="Bojchevski and Günnemann, ICML 2019; baseline 'Betw.' of GPS (KDD 2024, §6.3)",
        group="empirical",
        cost="seconds",
    )
    sources: int = Field(
        2000,
        ge=1,
        le=1_000_000,
        title="Source nodes",
        description="Shortest paths start at so many nodes; exact for graphs up to this size.",
    )

    def _score_links(self, graph: Graph, context: Context) -> np.ndarray:
        count = min(self.sources, graph.num_nodes)
        sources = context.rng("sources").choice(graph.num_nodes, count, replace=False)
        return compute_edge_betweenness(graph, sources, context.progress)


def compute_edge_betweenness(
    graph: Graph, sources: np.ndarray, progress: Progress | None = None
) -> np.ndarray:
    """(m,) float64 share of shortest paths from `sources` that use each link, summed over pairs, by
    Brandes' algorithm.

    With all nodes as sources, NetworkX's unnormalised `edge_betweenness_centrality`. With k of
    n nodes drawn uniformly, scaled by n/k, an unbiased estimate of it (Brandes and Pich, 2007).
    Weights do not count. O(k m) time.
    """
    progress = progress or Progress()
    adjacency = graph.adjacency
    indptr, indices = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(indptr))
    slots = np.searchsorted(
        graph.edge_codes, np.minimum(rows, indices) * graph.num_nodes + np.maximum(rows, indices)
    )
    totals = np.zeros(graph.num_edges)
    for start in range(0, len(sources), TILE):
        _accumulate(indptr, indices, slots, sources[start : start + TILE], totals)
        progress.update(min(start + TILE, len(sources)), len(sources), "shortest paths")
    # Each unordered pair is counted from both ends.
    return totals * (graph.num_nodes / max(len(sources), 1) / 2.0)


@numba.njit(cache=True)
def _accumulate(
    indptr: np.ndarray,
    indices: np.ndarray,
    slots: np.ndarray,
    sources: np.ndarray,
    totals: np.ndarray,
) -> None:
    n = len(indptr) - 1
    order = np.empty(n, np.int64)
    for source in sources:
        distance = np.full(n, -1, np.int64)
        paths = np.zeros(n)
        share = np.zeros(n)
        distance[source] = 0
        paths[source] = 1.0
        order[0] = source
        head, tail = 0, 1
        while head < tail:
            i = order[head]
            head += 1
            for place in range(indptr[i], indptr[i + 1]):
                j = indices[place]
                if distance[j] < 0:
                    distance[j] = distance[i] + 1
                    order[tail] = j
                    tail += 1
                if distance[j] == distance[i] + 1:
                    paths[j] += paths[i]
        for position in range(tail - 1, 0, -1):
            j = order[position]
            for place in range(indptr[j], indptr[j + 1]):
                i = indices[place]
                if distance[i] == distance[j] - 1:
                    part = paths[i] / paths[j] * (1.0 + share[j])
                    share[i] += part
                    totals[slots[place]] += part
