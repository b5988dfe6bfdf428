"""Degree product: baseline attacker that knows the degrees only."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class DegreeProduct(LinkAttack):
    """Score d_i · d_j on the release."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="degree_product",
        title="Degree product",
        summary="Baseline attacker: guesses that well-connected nodes are linked to each other.",
        source="Configuration model: Newman, Networks, 2010, §13.2",
        group="baseline attackers",
        is_baseline=True,
    )
    partitioned: ClassVar[bool] = True

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        degrees = release.graph.degrees.astype(np.float64)
        return PairScores(degrees[threat.pairs].prod(axis=1))
