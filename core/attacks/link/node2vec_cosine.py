"""node2vec + cosine: similarity of random-walk embeddings."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.arrays import divide_or_zero
from core.attacks.link.similarity import Node2vecAttack
from core.context import Context
from core.methods import MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


def compute_cosines(vectors: np.ndarray, pairs: np.ndarray, tile: int = 65_536) -> np.ndarray:
    """(k,) float64 cosine of each pair's vectors; 0 where one is zero."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    scale = divide_or_zero(1.0, lengths)
    scores = np.empty(len(pairs))
    for start in range(0, len(pairs), tile):
        i, j = pairs[start : start + tile].T
        products = np.einsum("kd,kd->k", vectors[i], vectors[j], dtype=np.float64)
        scores[start : start + tile] = products * scale[i] * scale[j]
    return scores


class Node2vecCosine(Node2vecAttack):
    """Score cos(z_i, z_j) of node2vec embeddings of the release."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="node2vec_cosine",
        title="node2vec + cosine",
        summary="Embeds the nodes by random walks and compares two nodes' embeddings.",
        source="Grover and Leskovec, node2vec, KDD 2016; PPGSL §V-A2",
        group="embeddings",
        cost="minutes",
        version=2,
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        return PairScores(compute_cosines(self.embed(release, context), threat.pairs))
