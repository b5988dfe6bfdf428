"""Scores by likeness: features or embeddings compared, or a linear classifier on both ends."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import sparse

from core.algorithms.normalize import fit_scale
from core.algorithms.pairs import draw_training_pairs
from core.context import Context
from core.graph import Graph
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

MAX_LINKS = 10_000
"""Links that a classifier trains on at most, beside as many non-links: seconds of liblinear."""


def compute_cosines(vectors: np.ndarray, pairs: np.ndarray, tile: int = 65_536) -> np.ndarray:
    """(k,) float64 cosine of each pair's vectors; 0 where one is zero."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    scores = np.empty(len(pairs))
    for start in range(0, len(pairs), tile):
        i, j = pairs[start : start + tile].T
        products = np.einsum("kd,kd->k", vectors[i], vectors[j], dtype=np.float64)
        scores[start : start + tile] = products * scale[i] * scale[j]
    return scores


def compute_svc_scores(
    graph: Graph, vectors: np.ndarray, pairs: np.ndarray, context: Context
) -> np.ndarray:
    """(k,) decision values of a linear SVM on [z_i, z_j], trained on the release's links.

    A pair has no direction: every training pair counts in both orders. The best weights are
    then the same for both ends, so the SVM is trained on z_i + z_j, half as wide. Constant
    where the release has no link or no non-link to learn from.
    """
    from sklearn.svm import LinearSVC

    links, absent = draw_training_pairs(graph, MAX_LINKS, context.rng("pairs"))
    if not len(links) or not len(absent):
        return np.zeros(len(pairs))
    context.progress.update(0, 2, "training the classifier")
    ends = np.concatenate([links, absent])
    sums = vectors[ends[:, 0]].astype(np.float64) + vectors[ends[:, 1]]
    centre, spread = fit_scale(sums)
    classifier = LinearSVC(dual=False, tol=1e-3)
    classifier.fit((sums - centre) / spread, np.arange(len(ends)) < len(links))
    context.progress.update(1, 2, "scoring pairs")
    weights = classifier.coef_[0] / spread
    per_node = vectors @ weights
    return np.asarray(per_node[pairs].sum(axis=1))


class Node2vecAttack(LinkAttack):
    """Settings of the attacks on node2vec embeddings; equal settings share one embedding."""

    dimensions: int = Field(64, ge=2, le=1024, description="Length of a node's vector.")
    walk_length: int = Field(40, ge=2, le=1000, description="Nodes in a walk.")
    walks_per_node: int = Field(10, ge=1, le=1000, description="Walks that start at each node.")
    window: int = Field(5, ge=1, le=100, description="Steps between nodes that count as close.")
    p: float = Field(1.0, ge=0.05, le=20, description="Return parameter: low values turn back.")
    q: float = Field(1.0, ge=0.05, le=20, description="In-out parameter: low values wander off.")

    def embed(self, release: Release, context: Context) -> np.ndarray:
        """(n, dimensions) node2vec vectors, shared by all attacks that need them."""
        from core.models.node2vec import Walks, share_node2vec

        return share_node2vec(release.graph, context, Walks(**self.config))


class Node2vecCosine(Node2vecAttack):
    """Score cos(z_i, z_j) of node2vec embeddings of the release."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="node2vec_cosine",
        title="node2vec + cosine",
        summary="Embeds the nodes by random walks and compares two nodes' embeddings.",
        source="Grover and Leskovec, node2vec, KDD 2016; PPGSL §V-A2",
        group="embeddings",
        cost="minutes",
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        return PairScores(compute_cosines(self.embed(release, context), threat.pairs))


class Node2vecSvc(Node2vecAttack):
    """Decision value of a LinearSVC on [z_i, z_j]; shares embeddings with `node2vec_cosine`."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="node2vec_svc",
        title="node2vec + SVM",
        summary="Trains a linear classifier on random-walk embeddings of the nodes.",
        source="PPGSL §V-A2; Grover and Leskovec, node2vec, KDD 2016",
        group="embeddings",
        cost="minutes",
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        vectors = self.embed(release, context)
        return PairScores(compute_svc_scores(release.graph, vectors, threat.pairs, context))


class GaeCosine(LinkAttack):
    """Score of the head on two nodes' embeddings; the head that PPGSL's defender expects."""

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


class FeatureCosine(LinkAttack):
    """Score cos(x_i, x_j); no change of links removes this channel."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="feature_cosine",
        title="Feature cosine",
        summary="Baseline attacker: guesses that nodes with like features are linked.",
        source="Attribute similarity of PPGSL's Table I used as a score",
        group="baseline attackers",
        is_baseline=True,
    )

    def supports(self, release: Release, threat: LinkThreat) -> str | None:
        return "the graph has no features" if release.graph.features is None else None

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        features = sparse.csr_array(release.graph.features, dtype=np.float64)
        lengths = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
        scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        pairs = threat.pairs
        scores = np.zeros(len(pairs))
        # A dense row holds 20 bytes a feature once it is stored as CSR, and there are two a pair.
        tile = max(1, min(100_000, context.memory_budget // (80 * features.shape[1] + 1)))
        for start in range(0, len(pairs), tile):
            i, j = pairs[start : start + tile].T
            products = features[i].multiply(features[j]).sum(axis=1)
            scores[start : start + tile] = np.asarray(products).ravel() * scale[i] * scale[j]
            context.progress.update(start, len(pairs), "feature similarity")
        return PairScores(scores)
