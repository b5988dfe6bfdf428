"""Preferential attachment: the product of the degrees."""

from __future__ import annotations

from typing import ClassVar

from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class PreferentialAttachment(LinkAttack):
    """Score s_i · s_j of the weighted degrees; the degree product without weights."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="preferential_attachment",
        title="Preferential attachment",
        summary="Multiplies the two nodes' numbers of links, counting weights.",
        source="Barabási and Albert, Emergence of scaling in random networks, Science 286, 1999",
        group="heuristics",
    )
    partitioned: ClassVar[bool] = True
    equal_unweighted: ClassVar[str] = "degree_product"
    """Key of the baseline attacker that it equals where links have no weights."""

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        return PairScores(release.graph.strengths[threat.pairs].prod(axis=1))
