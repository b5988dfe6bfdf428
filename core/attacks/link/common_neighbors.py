"""Common neighbours: friends of friends are friends."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.link.heuristics import share_neighbor_sums
from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class CommonNeighbors(LinkAttack):
    """Score |N(i) ∩ N(j)|; with weights the expected number, Σ w_iz w_jz."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="common_neighbors",
        title="Common neighbours",
        summary="Counts the neighbours that two nodes share.",
        source="Liben-Nowell and Kleinberg, The link-prediction problem for social networks, 2007",
        group="heuristics",
    )
    is_local: ClassVar[bool] = True

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        sums = share_neighbor_sums(release.graph, threat.pairs, context)
        return PairScores(sums.count)
