"""L3 index: paths of three links, those through hubs less."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import sparse

from core.algorithms.path_sums import sum_paths
from core.context import Context
from core.graph import Graph
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

ROUNDING = 1e-9
"""Share of a sum below which a difference of two is taken for rounding."""


class L3Index(LinkAttack):
    """Score Σ w_iu w_uv w_vj / √(d_u d_v) over the paths i–u–v–j, with d the weighted degrees.

    Finds links between nodes that have no neighbours in common, as those of two modes are. A link
    between i and j themselves is part of no such path. Of a graph of two modes, links within one
    are known to be noise and not read.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="l3_index",
        title="L3 index",
        summary="Counts the paths of three links between two nodes, those through hubs less.",
        source="Kovács et al., Network-based prediction of protein interactions, "
        "Nature Communications 10, 2019",
        group="heuristics",
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        return PairScores(compute_l3(release.graph, threat.pairs, context))


def compute_l3(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k,) float64 scores of (k, 2) pairs; O(n) memory beside them.

    Weights in [0, 1] are read as link probabilities; d counts as 2 at least, since a node inside a
    path has two links.
    """
    if not len(pairs):
        return np.zeros(0)
    matrix = sparse.csr_array(graph.adjacency, dtype=np.float64)
    scale = 1 / np.sqrt(np.maximum(graph.strengths, 2.0))
    walks = sum_paths(matrix, scale, pairs, context)[:, 2]
    own = np.asarray(matrix[pairs[:, 0], pairs[:, 1]]).ravel()
    linked = np.flatnonzero(own)
    if not len(linked):
        return walks
    # Walks over the link itself: i–u–i–j, i–j–v–j and, in both of these sums, i–j–i–j.
    returns = (matrix * matrix) @ scale * scale
    link, (first, second) = own[linked], pairs[linked].T
    over = link * (returns[first] + returns[second] - link**2 * scale[first] * scale[second])
    paths = walks[linked] - over
    walks[linked] = np.where(paths > ROUNDING * walks[linked], paths, 0.0)
    return walks
