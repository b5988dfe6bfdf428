"""Structural alignment: seedless matching by structural features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.algorithms.matching import NO_MATCH, NUM_CANDIDATES
from core.algorithms.neighbourhood_features import compute_wider_neighbourhood_features
from core.algorithms.normalize import standardize
from core.attacks.identity.percolation import compute_matches, percolate
from core.context import Context
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat


class StructuralAlignment(IdentityAttack):
    """Nearest neighbours in structural features; mutual ones start a percolation."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="structural_alignment",
        title="Structural alignment",
        summary="Knows nobody beforehand: compares the shape of everybody's neighbourhood.",
        source="In the way of Heimann et al., REGAL: representation learning-based graph "
        "alignment, CIKM 2018; features as in Henderson et al., KDD 2011",
        group="second graph",
        cost="seconds",
    )
    links_networks: ClassVar[bool] = True

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        context.progress.update(0, 3, "neighbourhoods")
        known_features = compute_wider_neighbourhood_features(threat.known)
        published_features = compute_wider_neighbourhood_features(release.graph)
        # Each graph by its own mean and spread: the other may be sparser throughout.
        known_features, published_features = (
            standardize(known_features),
            standardize(published_features),
        )
        context.progress.update(1, 3, "nearest")
        distances, nearest = find_nearest(known_features, published_features)
        reverse = find_nearest(published_features, known_features)[1][:, 0]
        mutual = reverse[nearest[:, 0]] == np.arange(len(known_features))
        clear = mutual & (distances[:, 0] < 0.8 * distances[:, 1])
        image = np.where(clear, nearest[:, 0], NO_MATCH)
        no_seeds = np.zeros(len(known_features), bool)
        image = percolate(threat.known, release.graph, image, no_seeds, context)
        matches = compute_matches(threat.known, release.graph, image)
        # Those without a matched neighbour are left with the nearest by shape, without claim.
        without_witness = matches.candidates[:, 0] == NO_MATCH
        candidates = matches.candidates.copy()
        candidates[without_witness, : nearest.shape[1]] = nearest[without_witness]
        return Matches(candidates, matches.confidence)


def find_nearest(wanted: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, c) distances and rows of the c nearest of `present`; needs at least two columns."""
    from scipy.spatial import cKDTree

    width = min(NUM_CANDIDATES, len(present))
    distances, rows = cKDTree(present).query(wanted, width)
    distances, rows = distances.reshape(len(wanted), -1), rows.reshape(len(wanted), -1)
    if width == 1:
        return np.repeat(distances, 2, axis=1), rows
    return distances, rows
