"""Resource allocation: what one node would receive of a unit sent by the other."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.link.heuristics import share_neighbor_sums
from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class ResourceAllocation(LinkAttack):
    """Score Σ 1 / d_z over the common neighbours z."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="resource_allocation",
        title="Resource allocation",
        summary="Counts shared neighbours, each by the inverse of its degree.",
        source="Zhou, Lü and Zhang, Predicting missing links via local information, 2009, Eq. 9",
        group="heuristics",
    )
    is_local: ClassVar[bool] = True

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        sums = share_neighbor_sums(release.graph, threat.pairs, context)
        return PairScores(sums.inverse)
