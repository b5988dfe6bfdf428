"""Equal values: baseline attacker that counts rare values in common."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.algorithms.row_dots import compute_row_dots
from core.algorithms.shared_values import tabulate_shared_values
from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class EqualValues(LinkAttack):
    """Score Σ −log(share of nodes with it) over the values that both ends have.

    This is the weight of agreement log(m/u) on a value of share p, on which two records of a match
    agree with m = p, and two others with u = p². The name of a household or a plot, written as a
    number, tells its members, however little such numbers mean as quantities.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="equal_values",
        title="Equal values",
        summary="Baseline attacker: guesses that nodes with rare values in common are linked.",
        source="Fellegi and Sunter, A theory for record linkage, JASA 1969 (weights of agreement)",
        group="baseline attackers",
        is_baseline=True,
    )
    needs_features: ClassVar[bool] = True

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        features = release.graph.features
        assert features is not None
        table, _ = tabulate_shared_values(features)
        weights = -np.log(table.sum(axis=0) / table.shape[0])
        weighted = table.copy()
        weighted.data = weights[table.indices]
        return PairScores(
            compute_row_dots(weighted, table, threat.pairs, context, "values in common")
        )
