"""ComInfer: predicts the class shares of a node's community."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class ComInfer(AttributeAttack):
    """Shares of the known values in each community found by Louvain's method."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="com_infer",
        title="ComInfer",
        summary="Finds communities and guesses the majority of their known values.",
        source="Mislove et al., You are who you know, WSDM 2010; communities by Louvain",
        group="propagation",
    )
    prior_weight: float = Field(
        1.0,
        gt=0,
        le=1000,
        description="Known nodes that the class prior counts for in each community.",
    )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        from core.algorithms.communities import find_communities

        context.progress.update(0, 2, "finding communities")
        labels = find_communities(release.graph, context.rng("communities"))
        context.progress.update(1, 2, "counting known values")
        counts = np.zeros((labels.max() + 1, threat.num_classes))
        np.add.at(counts, (labels[threat.known], threat.observed[threat.known]), 1.0)
        shares = counts + self.prior_weight * threat.observed_shares
        shares /= shares.sum(axis=1, keepdims=True)
        facts: dict[str, float | str] = {"communities": float(len(counts))}
        return ClassProbabilities(shares[labels], facts)
