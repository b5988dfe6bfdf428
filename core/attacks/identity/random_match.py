"""Random match: baseline attacker with random candidates."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.algorithms.matching import NUM_CANDIDATES
from core.context import Context
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat


class RandomMatch(IdentityAttack):
    """Random candidates, the same number for each node."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="random_match",
        title="Random match",
        summary="Baseline attacker: points at people of the release at random.",
        source="Uniform guess: one in n is right",
        group="baseline attackers",
        is_baseline=True,
        is_blind=True,
    )

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        n, k = release.graph.num_nodes, threat.known.num_nodes
        rng = context.rng("order")
        first, width = rng.integers(0, n, k), min(NUM_CANDIDATES, n)
        order = rng.permutation(n)
        candidates = order[(first[:, None] + np.arange(width)) % n]
        return Matches(candidates, np.full(k, 1.0 / n))
