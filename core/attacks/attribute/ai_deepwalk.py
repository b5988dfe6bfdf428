"""AI-DW: a classifier on DeepWalk embeddings."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.models.tuning import fit_logistic, learn_softmax
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class AiDeepwalk(AttributeAttack):
    """Logistic regression on embeddings of unbiased walks, its penalty chosen on known nodes."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ai_deepwalk",
        title="AI-DW",
        summary="Classifies nodes by where random walks take them.",
        source="Perozzi, Al-Rfou and Skiena, DeepWalk, KDD 2014, with logistic regression",
        group="embeddings",
        cost="seconds",
        version=2,
    )
    holds_out = True
    dimensions: int = Field(64, ge=1, le=1024, description="Length of a node's vector.")
    walk_length: int = Field(40, ge=2, le=1000, description="Steps of a random walk.")
    walks_per_node: int = Field(10, ge=1, le=1000, description="Walks from each node.")

    @property
    def bias(self) -> tuple[float, float]:
        """Return and in-out parameter of node2vec's walks; 1 and 1 are DeepWalk's."""
        return 1.0, 1.0

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        from core.models.node2vec import Walks, share_node2vec

        walks = Walks(self.dimensions, *self.bias, self.walk_length, self.walks_per_node)
        vectors = share_node2vec(release.graph, context, walks)
        scale = float(vectors.std())
        scaled = np.asarray(vectors, np.float64) / (scale if scale > 0 else 1.0)
        probabilities, penalty, held_out = fit_logistic(
            scaled, threat.observed, threat.num_classes, context, learn=learn_softmax
        )
        return ClassProbabilities(probabilities, {"inverse_penalty": penalty}, held_out)
