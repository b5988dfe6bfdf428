"""Anonymity sets of attackers who know a node's neighbourhood."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.fingerprints import Depth, compute_joint_fingerprints, count_matches
from core.algorithms.neighbourhood_features import compute_neighbourhood_features
from core.context import Context
from core.graph import Graph
from core.methods import IdentityAttack, UnitInterval
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import Inline
from core.partitioned.measures import compute_fingerprints
from core.release import Release
from core.results import AnonymitySets
from core.threats import IdentityThreat


class FingerprintAttack(IdentityAttack):
    """Searches the release for each node's fingerprint on the original."""

    depth: ClassVar[Depth]

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> AnonymitySets:
        context.progress.update(0, 1, "fingerprints")
        graphs = [threat.original, release.graph]
        if isinstance(release.graph, PartitionedGraph):
            inline = Inline(context.progress)
            found = [compute_fingerprints(inline, g.links, self.depth) for g in graphs]  # type: ignore[attr-defined]
        else:
            found = compute_joint_fingerprints(graphs, self.depth)
        known, published = found
        sizes = count_matches(known, published)
        return AnonymitySets(sizes, (known == published).all(axis=1))

    def describe_known(self, graph: Graph, context: Context) -> np.ndarray:
        """(n, c) log(1 + count) of each neighbourhood, as the attacker knows it."""
        return compute_neighbourhood_features(graph, self.depth)


class CountedAttack(FingerprintAttack):
    """The same with approximate counts, in the knowledge or in the release."""

    error: UnitInterval = Field(
        0.0,
        title="Error of the counts",
        description="0: knows every count exactly. Else each is off by up to this share, and "
        "everybody within it is taken into account.",
    )

    @property
    def reads_partitions(self) -> bool:
        return self.partitioned and self.error == 0

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> AnonymitySets:
        from scipy.spatial import cKDTree

        if self.error == 0:
            return super().find(release, threat, context)
        tolerance = np.log1p(self.error)
        known = self.describe_known(threat.original, context)
        published = compute_neighbourhood_features(release.graph, self.depth)
        # A hair wider than the error, which may be hit exactly.
        tolerance += 1e-9
        tree = cKDTree(published)
        sizes = np.empty(len(known), np.int64)
        for rows in np.array_split(np.arange(len(known)), len(known) // 4096 + 1):
            context.progress.check()
            sizes[rows] = tree.query_ball_point(known[rows], tolerance, np.inf, return_length=True)
        return AnonymitySets(sizes, (np.abs(known - published) <= tolerance).all(axis=1))

    def describe_known(self, graph: Graph, context: Context) -> np.ndarray:
        known, tolerance = super().describe_known(graph, context), np.log1p(self.error)
        return known + context.rng("error").uniform(-tolerance, tolerance, known.shape)
