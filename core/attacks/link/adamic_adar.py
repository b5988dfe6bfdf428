"""Adamic–Adar: common neighbours weighted by inverse log degree."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.link.heuristics import NeighborSumAttack
from core.methods import MethodInfo


class AdamicAdar(NeighborSumAttack):
    """Score Σ 1 / log d_z over the common neighbours z."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="adamic_adar",
        title="Adamic–Adar",
        summary="Counts shared neighbours, those with few links more.",
        source="Adamic and Adar, Friends and neighbors on the web, Social Networks 25, 2003",
        group="heuristics",
        version=2,
    )
    column: ClassVar[str] = "log"
