"""Scores by cosine similarity of features or embeddings, or by a linear classifier on both ends."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from core.algorithms.normalize import fit_scale
from core.algorithms.pairs import draw_training_pairs
from core.context import Context
from core.graph import Graph
from core.methods import LinkAttack
from core.release import Release

MAX_LINKS = 10_000
"""Maximum number of training links, beside as many non-links: seconds of liblinear."""


def compute_svc_scores(
    graph: Graph, vectors: np.ndarray, pairs: np.ndarray, context: Context
) -> np.ndarray:
    """(k,) decision values of a linear SVM on [z_i, z_j], trained on the release's links.

    Every training pair counts in both orders, so that the best weights are equal for both ends, and
    the SVM is trained on z_i + z_j, half as wide. Constant without links or non-links to train on.
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
        """(n, dimensions) node2vec vectors, shared between attacks."""
        from core.models.node2vec import Walks, share_node2vec

        return share_node2vec(release.graph, context, Walks(**self.config))
