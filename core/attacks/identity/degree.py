"""Number of links: the attacker who knows how many links a person has."""

from __future__ import annotations

from typing import ClassVar

from core.algorithms.fingerprints import Depth
from core.attacks.identity.fingerprint import CountedAttack
from core.methods import MethodInfo


class Degree(CountedAttack):
    """Anonymity sets of people with equally many links."""

    partitioned: ClassVar[bool] = True
    depth: ClassVar[Depth] = "degree"
    info: ClassVar[MethodInfo] = MethodInfo(
        key="degree",
        title="Number of links",
        summary="Knows how many links each person has.",
        source="Hay et al., Resisting structural re-identification, VLDB 2008, knowledge H_1",
        group="what is known of a person",
    )
