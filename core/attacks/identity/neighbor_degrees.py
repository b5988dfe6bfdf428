"""Neighbour degrees: the attacker knows the degrees of a node's neighbours."""

from __future__ import annotations

from typing import ClassVar

from core.algorithms.fingerprints import Depth
from core.attacks.identity.fingerprint import CountedAttack
from core.methods import MethodInfo


class NeighborDegrees(CountedAttack):
    """Anonymity sets by own and sorted neighbours' degrees."""

    partitioned: ClassVar[bool] = True
    depth: ClassVar[Depth] = "neighbor_degrees"
    info: ClassVar[MethodInfo] = MethodInfo(
        key="neighbor_degrees",
        title="Neighbours' links",
        summary="Knows how many links each person and each of the neighbours has.",
        source="Hay et al., Resisting structural re-identification, VLDB 2008, knowledge H_2",
        group="what is known of a person",
    )
