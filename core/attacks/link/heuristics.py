"""Scores by common neighbours and degrees, whose sums are computed once for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.algorithms.kernels import sum_common_neighbors
from core.algorithms.pairs import split_by_work
from core.arrays import hash_array
from core.context import Context
from core.graph import Graph
from core.methods import LinkAttack
from core.partitioned.attacks import sum_neighbors
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import Inline
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

TILE = 2_000_000
"""Row entries between two progress reports: a fraction of a second."""

TWO_MODES = "counts neighbours in common, and two nodes of different modes have none"


@dataclass(frozen=True, eq=False)
class NeighborSums:
    """Sums over the common neighbours z of k pairs (i, j), each (k,) float64.

    count    Σ w_iz w_jz, the number of common neighbours where links have no weights
    log      Σ w_iz w_jz / log d_z
    inverse  Σ w_iz w_jz / d_z
    overlap  Σ min(w_iz, w_jz)

    d is the weighted degree. Weights in [0, 1] are read as link probabilities, so that `count`
    is the expected number; d counts as 2 at least, since a common neighbour has two links.
    """

    count: np.ndarray
    log: np.ndarray
    inverse: np.ndarray
    overlap: np.ndarray


def share_neighbor_sums(graph: Graph, pairs: np.ndarray, context: Context) -> NeighborSums:
    """The sums, computed once for all attacks on the same release and pairs."""
    return context.share(
        ("neighbor_sums", graph.content_hash, hash_array(pairs)),
        lambda shared: compute_neighbor_sums(graph, pairs, shared),
    )


def compute_neighbor_sums(graph: Graph, pairs: np.ndarray, context: Context) -> NeighborSums:
    """The sums of (k, 2) `pairs`, tile by tile; O(Σ min(d_i, d_j) log d) time, no n×n array."""
    if isinstance(graph, PartitionedGraph):
        found = sum_neighbors(Inline(context.progress), graph.links, pairs)
        return NeighborSums(*found[:, [0, 1, 2, 0]].T)  # without weights all overlap is the count
    matrix = graph.adjacency
    expected = np.maximum(graph.strengths, 2.0)
    factors = np.stack([np.ones_like(expected), 1 / np.log(expected), 1 / expected], axis=1)
    sums = np.zeros((len(pairs), 4))
    tiles = split_by_work(graph.degrees[pairs].min(axis=1) + 1, TILE)
    for number, rows in enumerate(tiles):
        part = slice(rows[0], rows[-1] + 1) if len(rows) else slice(0)
        sum_common_neighbors(
            matrix.indptr, matrix.indices, matrix.data, pairs[part], factors, sums[part]
        )
        context.progress.update(number + 1, len(tiles), "common neighbours")
    return NeighborSums(*sums.T)


class CommonNeighborAttack(LinkAttack):
    """Scores a pair by its common neighbours."""

    is_local: ClassVar[bool] = True
    partitioned: ClassVar[bool] = True

    def supports(self, release: Release, threat: LinkThreat) -> str | None:
        """Declines releases of two modes, noise within a mode or not."""
        return super().supports(release, threat) if release.graph.modes is None else TWO_MODES


class NeighborSumAttack(CommonNeighborAttack):
    """Scores a pair by one of the sums over its common neighbours."""

    column: ClassVar[str]

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        sums = share_neighbor_sums(release.graph, threat.pairs, context)
        return PairScores(getattr(sums, self.column))
