"""Jaccard: the overlap of two neighbourhoods."""

from __future__ import annotations

from typing import ClassVar

from core.arrays import divide_or_zero
from core.attacks.link.heuristics import CommonNeighborAttack, share_neighbor_sums
from core.context import Context
from core.methods import MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class Jaccard(CommonNeighborAttack):
    """Score |N(i) ∩ N(j)| / |N(i) ∪ N(j)|, 0 for two nodes without links.

    With weights Σ min(w_iz, w_jz) / Σ max(w_iz, w_jz) (Ružička).
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="jaccard",
        title="Jaccard",
        summary="Measures the share of neighbours that two nodes have in common.",
        source="Liben-Nowell and Kleinberg, The link-prediction problem for social networks, 2007",
        group="heuristics",
        version=2,
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        sums = share_neighbor_sums(release.graph, threat.pairs, context)
        ends = release.graph.strengths[threat.pairs]
        union = ends.sum(axis=1) - sums.overlap
        return PairScores(divide_or_zero(sums.overlap, union))
