"""Adamic–Adar: a shared neighbour with few links says more than one with many."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.link.heuristics import share_neighbor_sums
from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class AdamicAdar(LinkAttack):
    """Score Σ 1 / log d_z over the common neighbours z."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="adamic_adar",
        title="Adamic–Adar",
        summary="Counts shared neighbours, those with few links more.",
        source="Adamic and Adar, Friends and neighbors on the web, Social Networks 25, 2003",
        group="heuristics",
    )
    is_local: ClassVar[bool] = True

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        sums = share_neighbor_sums(release.graph, threat.pairs, context)
        return PairScores(sums.log)
