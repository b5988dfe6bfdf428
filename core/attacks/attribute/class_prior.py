"""Class prior: baseline attacker that knows the class shares only."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class ClassPrior(AttributeAttack):
    """Every node gets the class shares of the known nodes."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="class_prior",
        title="Class prior",
        summary="Baseline attacker: guesses from the class shares among the known nodes.",
        source="Bayes decision without evidence",
        group="baseline attackers",
        is_baseline=True,
        is_blind=True,
    )
    reads_links: ClassVar[bool] = False
    partitioned: ClassVar[bool] = True

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        shares = threat.observed_shares
        return ClassProbabilities(np.tile(shares, (release.graph.num_nodes, 1)))
