"""Evidence for released links from the noise model of the release."""

from __future__ import annotations

import math

import numpy as np

from core.release import Release

CERTAIN = math.log(999.0)
"""Evidence of a link in a release without a guarantee: error rate 1 in 1,000."""

MAX_EVIDENCE = 100.0
"""Largest evidence: the exponential of an ε above 709 would overflow."""


def compute_evidence(release: Release, pairs: np.ndarray) -> np.ndarray:
    """(k,) log likelihood ratio of each pair's weight in the release.

    Merged releases are weighted by the share of them that has the link. Weights of a single release
    are taken as probabilities, with evidence clipped to ±ε.
    """
    if not len(pairs):
        return np.zeros(0)
    num_releases = round(release.facts.get("composed_releases", 1))
    epsilon = find_evidence(release)
    weights = np.asarray(
        release.graph.adjacency[pairs[:, 0], pairs[:, 1]], dtype=np.float64
    ).ravel()
    if num_releases == 1 and release.graph.weights is not None:
        probabilities = np.clip(weights, 1e-9, 1 - 1e-9)
        return np.clip(np.log(probabilities / (1 - probabilities)), -epsilon, epsilon)
    return num_releases * epsilon * (2.0 * np.clip(weights, 0.0, 1.0) - 1.0)


def find_evidence(release: Release) -> float:
    """ε of one link in one release; CERTAIN without a guarantee."""
    guarantee = release.guarantee
    if not guarantee.is_private or guarantee.epsilon is None:
        return CERTAIN
    return min(max(guarantee.epsilon, guarantee.epsilon_transcript or 0.0), MAX_EVIDENCE)
