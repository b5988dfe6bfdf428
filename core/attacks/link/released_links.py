"""Evidence of released links by the noise of the release and by its rest."""

from __future__ import annotations

import math

import numpy as np

from core.release import Release

CERTAIN = math.log(999.0)
"""Evidence of a link in a release without a guarantee: one in a thousand is taken as wrong."""

MAX_EVIDENCE = 100.0


def compute_evidence(release: Release, pairs: np.ndarray) -> np.ndarray:
    """(k,) log likelihood ratio of each pair's weight in the release.

    Several releases come as one with weights: the share of them that has the link. Weights of a
    single one are read as probabilities, and are evidence of at most ε either way.
    """
    if not len(pairs):
        return np.zeros(0)
    held = round(release.facts.get("composed_releases", 1))
    epsilon = find_evidence(release)
    weights = np.asarray(
        release.graph.adjacency[pairs[:, 0], pairs[:, 1]], dtype=np.float64
    ).ravel()
    if held == 1 and release.graph.weights is not None:
        chances = np.clip(weights, 1e-9, 1 - 1e-9)
        return np.clip(np.log(chances / (1 - chances)), -epsilon, epsilon)
    return held * epsilon * (2.0 * np.clip(weights, 0.0, 1.0) - 1.0)


def find_evidence(release: Release) -> float:
    """ε that a recipient of one release gets on one link; CERTAIN without a guarantee."""
    promise = release.guarantee
    if not promise.is_private or promise.epsilon is None:
        return CERTAIN
    return min(max(promise.epsilon, promise.epsilon_transcript or 0.0), MAX_EVIDENCE)
