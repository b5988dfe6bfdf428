"""Attackers who know a person's surroundings: sets of those who look the same."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.spatial import cKDTree

from core.algorithms.fingerprints import Depth, compute_joint_fingerprints, count_matches
from core.algorithms.neighbourhood_features import compute_neighbourhood_features
from core.context import Context
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import AnonymitySets
from core.threats import IdentityThreat


class FingerprintAttack(IdentityAttack):
    """Knows each person's fingerprint on the original and looks for it in the release."""

    depth: ClassVar[Depth]

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> AnonymitySets:
        context.progress.update(0, 1, "fingerprints")
        known, published = compute_joint_fingerprints([threat.original, release.graph], self.depth)
        sizes = count_matches(known, published)
        return AnonymitySets(sizes, (known == published).all(axis=1))


class CountedAttack(FingerprintAttack):
    """The same where the counts may be a little off, in what is known or in the release."""

    error: float = Field(
        0.0,
        ge=0,
        le=1,
        title="Error of the counts",
        description="0: knows every count exactly. Else each is off by up to this share, and "
        "everybody within it is taken into account.",
    )

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> AnonymitySets:
        if self.error == 0:
            return super().find(release, threat, context)
        tolerance = np.log1p(self.error)
        known = compute_neighbourhood_features(threat.original, self.depth)
        published = compute_neighbourhood_features(release.graph, self.depth)
        known = known + context.rng("error").uniform(-tolerance, tolerance, known.shape)
        # A hair wider than the error, which may be hit exactly.
        tolerance += 1e-9
        tree = cKDTree(published)
        sizes = np.empty(len(known), np.int64)
        for rows in np.array_split(np.arange(len(known)), len(known) // 4096 + 1):
            context.progress.check()
            sizes[rows] = tree.query_ball_point(known[rows], tolerance, np.inf, return_length=True)
        return AnonymitySets(sizes, (np.abs(known - published) <= tolerance).all(axis=1))


class Degree(CountedAttack):
    """Anonymity sets of people with equally many links."""

    depth: ClassVar[Depth] = "degree"
    info: ClassVar[MethodInfo] = MethodInfo(
        key="degree",
        title="Number of links",
        summary="Knows how many links each person has.",
        source="Hay et al., Resisting structural re-identification, VLDB 2008, knowledge H_1",
        group="what is known of a person",
    )


class DegreeTriangles(CountedAttack):
    """Anonymity sets of people with as many links and links among their neighbours."""

    depth: ClassVar[Depth] = "degree_triangles"
    info: ClassVar[MethodInfo] = MethodInfo(
        key="degree_triangles",
        title="Links and triangles",
        summary="Knows how many links each person has, and how many lie among the neighbours.",
        source="de Jong, van der Loo and Takes, Algorithms for efficiently computing structural "
        "anonymity, JEA 2023, measure Count",
        group="what is known of a person",
    )


class NeighborDegrees(CountedAttack):
    """Anonymity sets of people with equal own and sorted neighbours' numbers of links."""

    depth: ClassVar[Depth] = "neighbor_degrees"
    info: ClassVar[MethodInfo] = MethodInfo(
        key="neighbor_degrees",
        title="Neighbours' links",
        summary="Knows how many links each person and each of the neighbours has.",
        source="Hay et al., Resisting structural re-identification, VLDB 2008, knowledge H_2",
        group="what is known of a person",
    )


class Ego(CountedAttack):
    """Anonymity sets of people whose ego networks look the same after three refinements."""

    depth: ClassVar[Depth] = "ego"
    info: ClassVar[MethodInfo] = MethodInfo(
        key="ego",
        title="Ego network",
        summary="Knows who of a person's neighbours are linked, and how many links each has.",
        source="Zhou and Pei, Preserving privacy in social networks against neighborhood attacks, "
        "ICDE 2008",
        group="what is known of a person",
        cost="seconds",
    )


class ColourRefinement(FingerprintAttack):
    """Anonymity sets of the stable colouring, started from the ego networks."""

    depth: ClassVar[Depth] = "colour_refinement"
    info: ClassVar[MethodInfo] = MethodInfo(
        key="colour_refinement",
        title="Whole surroundings",
        summary="Knows the surroundings of each person, as far as the network reaches.",
        source="Hay et al., VLDB 2008, knowledge H_*; Weisfeiler and Leman 1968",
        group="what is known of a person",
        cost="seconds",
    )
