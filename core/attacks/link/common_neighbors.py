"""Common neighbours."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.link.heuristics import NeighborSumAttack
from core.methods import MethodInfo


class CommonNeighbors(NeighborSumAttack):
    """Score |N(i) ∩ N(j)|; with weights the expected number, Σ w_iz w_jz."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="common_neighbors",
        title="Common neighbours",
        summary="Counts the neighbours that two nodes share.",
        source="Liben-Nowell and Kleinberg, The link-prediction problem for social networks, 2007",
        group="heuristics",
        version=2,
    )
    column: ClassVar[str] = "count"
