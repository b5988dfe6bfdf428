"""Feature neighbourhood: similarity of each node to the other one's closed neighbourhood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
from scipy import sparse

from core.algorithms.normalize import normalize_rows
from core.algorithms.row_dots import compute_row_dots
from core.context import Context
from core.graph import Graph
from core.methods import LinkAttack, MethodInfo
from core.progress import PartProgress
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

COMMON = 0.5
"""Share of non-zero entries above which features are measurements instead of indicators."""


class FeatureNeighbourhood(LinkAttack):
    """Score cos(x_i, s_j) + cos(x_j, s_i), where s_j = x_j + Σ x_z over j's neighbours but i.

    Nothing is trained, and a defense that only changes links leaves one factor of each product
    unchanged. Rare indicators weigh more.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="feature_neighbourhood",
        title="Feature neighbourhood",
        summary="Compares each node's own features with those of the other node's neighbourhood.",
        source="Mean aggregation of Hamilton, Ying and Leskovec, Inductive representation "
        "learning on large graphs, NeurIPS 2017, untrained; Spärck Jones, 1972 (weights of marks)",
        group="features",
    )
    needs_features: ClassVar[bool] = True

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        cosines = compute_neighbourhood_cosines(release.graph, threat.pairs, context)
        return PairScores(cosines.across)


@dataclass(frozen=True, eq=False)
class NeighbourhoodCosines:
    """Cosines of pairs (i, j), each (k,) float64; 0 without features on a side.

    ends            cos(x_i, x_j)
    across          cos(x_i, s_j) + cos(x_j, s_i)
    neighbourhoods  cos(s_i, s_j)
    """

    ends: np.ndarray
    across: np.ndarray
    neighbourhoods: np.ndarray


def compute_neighbourhood_cosines(
    graph: Graph, pairs: np.ndarray, context: Context
) -> NeighbourhoodCosines:
    """Cosines of the ends and of their closed neighbourhoods s.

    Neither end is in the other's neighbourhood, so that released links can be scored too.
    """
    x = weigh_features(graph)
    links = sparse.csr_array(graph.adjacency, dtype=np.float64)
    s = sparse.csr_array(links @ x + x)
    x_norms, s_norms = (np.asarray(m.multiply(m).sum(axis=1)).ravel() for m in (x, s))
    x_s = np.asarray(x.multiply(s).sum(axis=1)).ravel()
    w = np.asarray(links[pairs[:, 0], pairs[:, 1]]).ravel()
    parts = [replace(context, progress=PartProgress(context.progress, k, 4)) for k in range(4)]
    xx, xs, sx, ss = (
        compute_row_dots(left, right, pairs, part, "neighbours' features")
        for part, (left, right) in zip(parts, product((x, s), repeat=2), strict=True)
    )
    i, j = pairs.T
    xi, xj, xis, xjs = x_norms[i], x_norms[j], x_s[i], x_s[j]
    # s without the other end: s_j − w x_i and s_i − w x_j
    j_norm = s_norms[j] - 2 * w * xs + w**2 * xi
    i_norm = s_norms[i] - 2 * w * sx + w**2 * xj
    return NeighbourhoodCosines(
        ends=_divide(xx, xi * xj),
        across=_divide(xs - w * xi, xi * j_norm) + _divide(sx - w * xj, xj * i_norm),
        neighbourhoods=_divide(ss - w * xis - w * xjs + w**2 * xx, i_norm * j_norm),
    )


def weigh_features(graph: Graph) -> sparse.csr_array:
    """(n, d) rows of unit length or zero; columns weighted by specificity.

    Sparse indicators weigh log(n / number of nodes with it); measurements are standardised.
    """
    features = sparse.csr_array(graph.features, dtype=np.float64)
    n, d = features.shape
    if features.nnz > COMMON * n * d:
        dense = features.toarray()
        spread = dense.std(axis=0)
        rows = sparse.csr_array((dense - dense.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    else:
        counts = np.bincount(features.indices[features.data != 0], minlength=d)
        rows = sparse.csr_array(features @ sparse.diags_array(np.log(n / np.maximum(counts, 1))))
    return normalize_rows(rows)


def _divide(dots: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """dots / √squares; 0 if one side is zero up to rounding."""
    lengths = np.sqrt(np.maximum(squares, 0.0))
    return np.asarray(np.divide(dots, lengths, out=np.zeros_like(dots), where=squares > 1e-9))
