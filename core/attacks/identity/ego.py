"""Ego network: the attacker knows the links among a node's neighbours."""

from __future__ import annotations

from typing import ClassVar

from core.algorithms.fingerprints import Depth
from core.attacks.identity.fingerprint import CountedAttack
from core.methods import MethodInfo


class Ego(CountedAttack):
    """Anonymity sets by ego networks, up to three rounds of colour refinement."""

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
