"""Narayanan and Shmatikov's propagation by eccentricity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.fingerprints import list_neighbors
from core.algorithms.matching import extend_by_eccentricity
from core.attacks.identity.percolation import compute_matches, invert, place_seeds, start_from_seeds
from core.context import Context
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat

MAX_PASSES = 20


class NarayananShmatikov(IdentityAttack):
    """Maps a node if the best score is eccentric both ways, until nothing changes."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="narayanan_shmatikov",
        title="Narayanan–Shmatikov",
        summary="Grows a mapping from known people; takes only candidates that stand out.",
        source="Narayanan and Shmatikov, De-anonymizing social networks, IEEE S&P 2009, §5",
        group="second graph",
        cost="seconds",
    )
    links_networks: ClassVar[bool] = True
    needs_seeds: ClassVar[bool] = True

    eccentricity: float = Field(
        0.5,
        ge=0,
        le=10,
        description="How far the best must stand above the next, in standard deviations.",
    )

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        known, published = threat.known, release.graph
        image, is_seed = start_from_seeds(threat.seeds, known.num_nodes)
        inverse = invert(image, published.num_nodes)
        outcome = np.empty((known.num_nodes, 4))
        order = np.flatnonzero(~is_seed)
        neighbors = (*list_neighbors(known), *list_neighbors(published))
        for number in range(MAX_PASSES):
            context.progress.update(number, MAX_PASSES, "propagation")
            changed = extend_by_eccentricity(
                *neighbors, image, inverse, order, self.eccentricity, outcome
            )
            image[threat.seeds[:, 0]] = threat.seeds[:, 1]
            inverse = invert(image, published.num_nodes)
            if changed <= 0.001 * known.num_nodes:
                break
        return place_seeds(compute_matches(known, published, image), *threat.seeds.T)
