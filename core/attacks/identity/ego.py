"""Ego network: the attacker who knows the links among a person's neighbours."""

from __future__ import annotations

from typing import ClassVar

from core.algorithms.fingerprints import Depth
from core.attacks.identity.fingerprint import CountedAttack
from core.methods import MethodInfo


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
