"""From node embeddings to scores of pairs: cosine, or a linear classifier on both ends."""

from __future__ import annotations

import numpy as np

from core.algorithms.normalize import fit_scale
from core.algorithms.pairs import draw_training_pairs
from core.context import Context
from core.graph import Graph

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
    scores: np.ndarray = per_node[pairs].sum(axis=1)
    return scores
