"""AI-DW: a classifier on DeepWalk embeddings."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.attribute.embedding import EmbeddingAttack
from core.context import Context
from core.methods import MethodInfo
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class AiDeepwalk(EmbeddingAttack):
    """Embeddings of unbiased walks."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ai_deepwalk",
        title="AI-DW",
        summary="Classifies nodes by where random walks take them.",
        source="Perozzi, Al-Rfou and Skiena, DeepWalk, KDD 2014, with logistic regression",
        group="embeddings",
        cost="seconds",
    )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        return self.infer_from_walks(release, threat, context, p=1.0, q=1.0)
