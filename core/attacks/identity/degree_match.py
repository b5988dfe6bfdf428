"""Degree match: the baseline attacker who compares numbers of links only."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.algorithms.matching import NUM_CANDIDATES
from core.context import Context
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat


class DegreeMatch(IdentityAttack):
    """People at the same place in the order of both graphs' numbers of links; ties at random."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="degree_match",
        title="Degree match",
        summary="Baseline attacker: takes people for those with about as many links.",
        source="Hay et al., Resisting structural re-identification, VLDB 2008, knowledge H_1",
        group="baseline attackers",
        is_baseline=True,
    )

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        rng = context.rng("ties")
        published_degrees = release.graph.degrees
        known_degrees = threat.known.degrees
        order = np.lexsort((rng.random(len(published_degrees)), published_degrees))
        ranks = np.empty(len(known_degrees), np.int64)
        ranks[np.lexsort((rng.random(len(known_degrees)), known_degrees))] = np.arange(
            len(known_degrees)
        )
        centers = ranks * max(len(published_degrees) - 1, 0) // max(len(known_degrees) - 1, 1)
        width = min(NUM_CANDIDATES, len(published_degrees))
        steps = np.arange(1, width + 1) // 2 * np.where(np.arange(width) % 2, 1, -1)
        starts = np.clip(centers, (width - 1) // 2, len(published_degrees) - 1 - width // 2)
        candidates = order[np.clip(starts[:, None] + steps, 0, len(published_degrees) - 1)]
        same_degree = np.bincount(published_degrees)[published_degrees[candidates[:, 0]]]
        return Matches(candidates, 1.0 / same_degree)
