"""GAE + cosine: similarity of graph auto-encoder embeddings."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class GaeCosine(LinkAttack):
    """Score of the head on two nodes' embeddings; the surrogate of PPGSL's defender."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gae_cosine",
        title="GAE + cosine",
        summary="Trains a graph auto-encoder on the release and compares two nodes' embeddings.",
        source="Kipf and Welling, Variational graph auto-encoders, 2016; PPGSL §V-A2, §V-F",
        group="embeddings",
        cost="seconds",
        uses_gpu=True,
    )

    head: Literal["cosine", "inner", "mlp"] = Field(
        "cosine", description="How two embeddings are compared: cosine, inner product or MLP."
    )
    epochs: int = Field(100, ge=1, le=5000, description="Training epochs.")

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        from core.models.gae import share_gae

        model = share_gae(release.graph, context, self.head, self.epochs)
        return PairScores(model.score(threat.pairs))
