"""node2vec + SVM: a linear classifier on random-walk embeddings."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.link.similarity import Node2vecAttack, compute_svc_scores
from core.context import Context
from core.methods import MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class Node2vecSvc(Node2vecAttack):
    """Decision value of a LinearSVC on [z_i, z_j]; shares embeddings with `node2vec_cosine`."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="node2vec_svc",
        title="node2vec + SVM",
        summary="Trains a linear classifier on random-walk embeddings of the nodes.",
        source="PPGSL §V-A2; Grover and Leskovec, node2vec, KDD 2016",
        group="embeddings",
        cost="minutes",
        version=2,
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        vectors = self.embed(release, context)
        return PairScores(compute_svc_scores(release.graph, vectors, threat.pairs, context))
