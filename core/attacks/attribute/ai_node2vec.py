"""AI-N2V: a classifier on node2vec embeddings."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.attacks.attribute.embedding import EmbeddingAttack
from core.context import Context
from core.methods import MethodInfo
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class AiNode2vec(EmbeddingAttack):
    """Embeddings of biased walks."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ai_node2vec",
        title="AI-N2V",
        summary="Classifies nodes by where biased random walks take them.",
        source="Grover and Leskovec, node2vec, KDD 2016, with logistic regression",
        group="embeddings",
        cost="seconds",
    )
    p: float = Field(1.0, gt=0, le=100, description="Return parameter: large walks back less.")
    q: float = Field(0.5, gt=0, le=100, description="In-out parameter: small walks further off.")

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        return self.infer_from_walks(release, threat, context, p=self.p, q=self.q)
