"""AI-N2V: a classifier on node2vec embeddings."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.attacks.attribute.ai_deepwalk import AiDeepwalk
from core.methods import MethodInfo


class AiNode2vec(AiDeepwalk):
    """Logistic regression on embeddings of biased walks, its penalty chosen on known nodes."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ai_node2vec",
        title="AI-N2V",
        summary="Classifies nodes by where biased random walks take them.",
        source="Grover and Leskovec, node2vec, KDD 2016, with logistic regression",
        group="embeddings",
        cost="seconds",
        version=2,
    )
    p: float = Field(1.0, gt=0, le=100, description="Return parameter: large walks back less.")
    q: float = Field(0.5, gt=0, le=100, description="In-out parameter: small walks further off.")

    @property
    def bias(self) -> tuple[float, float]:
        return self.p, self.q
