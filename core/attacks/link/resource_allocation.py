"""Resource allocation: common neighbours weighted by inverse degree."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.link.heuristics import NeighborSumAttack
from core.methods import MethodInfo


class ResourceAllocation(NeighborSumAttack):
    """Score Σ 1 / d_z over the common neighbours z."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="resource_allocation",
        title="Resource allocation",
        summary="Counts shared neighbours, each by the inverse of its degree.",
        source="Zhou, Lü and Zhang, Predicting missing links via local information, 2009, Eq. 9",
        group="heuristics",
        version=2,
    )
    column: ClassVar[str] = "inverse"
