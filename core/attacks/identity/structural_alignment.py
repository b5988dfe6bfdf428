"""Structural alignment: seedless matching by structural features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.algorithms.matching import NO_MATCH, NUM_CANDIDATES
from core.algorithms.neighbourhood_features import compute_wider_neighbourhood_features
from core.algorithms.normalize import standardize
from core.attacks.identity.percolation import judge, percolate
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

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        context.progress.update(0, 3, "neighbourhoods")
        here = compute_wider_neighbourhood_features(threat.known)
        there = compute_wider_neighbourhood_features(release.graph)
        # Each graph by its own mean and spread: the other may be sparser throughout.
        here, there = standardize(here), standardize(there)
        context.progress.update(1, 3, "nearest")
        distances, nearest = find_nearest(here, there)
        back = find_nearest(there, here)[1][:, 0]
        mutual = back[nearest[:, 0]] == np.arange(len(here))
        clear = mutual & (distances[:, 0] < 0.8 * distances[:, 1])
        image = np.where(clear, nearest[:, 0], NO_MATCH)
        nobody = np.zeros(len(here), bool)
        image = percolate(threat.known, release.graph, image, nobody, context)
        found = judge(threat.known, release.graph, image)
        # Those without a matched neighbour are left with the nearest by shape, without claim.
        lonely = found.candidates[:, 0] == NO_MATCH
        candidates = found.candidates.copy()
        candidates[lonely, : nearest.shape[1]] = nearest[lonely]
        return Matches(candidates, found.confidence)


def find_nearest(wanted: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, c) distances and rows of the c nearest of `present`; needs at least two columns."""
    from scipy.spatial import cKDTree

    width = min(NUM_CANDIDATES, len(present))
    distances, rows = cKDTree(present).query(wanted, width)
    distances, rows = distances.reshape(len(wanted), -1), rows.reshape(len(wanted), -1)
    if width == 1:
        return np.repeat(distances, 2, axis=1), rows
    return distances, rows
