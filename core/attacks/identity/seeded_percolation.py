"""Seeded percolation: known matches identify their neighbours, and so on."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.identity.percolation import (
    compute_matches,
    percolate,
    place_seeds,
    start_from_seeds,
)
from core.context import Context
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat


class SeededPercolation(IdentityAttack):
    """Matches pairs with enough matched neighbours, round by round."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="seeded_percolation",
        title="Seeded percolation",
        summary="Grows a mapping from known people to their neighbours by common witnesses.",
        source="Yartseva and Grossglauser, On the performance of percolation graph matching, "
        "COSN 2013; mutual best pairs as in Korula and Lattanzi, VLDB 2014",
        group="second graph",
        cost="seconds",
    )
    links_networks: ClassVar[bool] = True
    needs_seeds: ClassVar[bool] = True

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        known, published = threat.known, release.graph
        image, is_seed = start_from_seeds(threat.seeds, known.num_nodes)
        image = percolate(known, published, image, is_seed, context)
        return place_seeds(compute_matches(known, published, image), *threat.seeds.T)
