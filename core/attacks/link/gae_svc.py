"""GAE + SVM: a linear classifier on the embeddings of a graph auto-encoder."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.attacks.link.similarity import compute_svc_scores
from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class GaeSvc(LinkAttack):
    """Decision value of a LinearSVC on [z_i, z_j]; shares its embeddings with `gae_cosine`."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gae_svc",
        title="GAE + SVM",
        summary="Trains a linear classifier on the embeddings of a graph auto-encoder.",
        source="PPGSL §V-A2; Kipf and Welling, Variational graph auto-encoders, 2016",
        group="embeddings",
        cost="seconds",
        uses_gpu=True,
    )

    epochs: int = Field(100, ge=1, le=5000, description="Training epochs of the auto-encoder.")

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        from core.models.gae import share_gae

        vectors = share_gae(release.graph, context, epochs=self.epochs).vectors
        return PairScores(compute_svc_scores(release.graph, vectors, threat.pairs, context))
