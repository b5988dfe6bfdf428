"""Whole neighbourhood: the attacker who knows all of the network round a person."""

from __future__ import annotations

from typing import ClassVar

from core.algorithms.fingerprints import Depth
from core.attacks.identity.fingerprint import FingerprintAttack
from core.methods import MethodInfo


class ColourRefinement(FingerprintAttack):
    """Anonymity sets of the stable colouring, started from the ego networks."""

    depth: ClassVar[Depth] = "colour_refinement"
    info: ClassVar[MethodInfo] = MethodInfo(
        key="colour_refinement",
        title="Whole neighbourhood",
        summary="Knows the neighbourhood of each person, as far as the network reaches.",
        source="Hay et al., VLDB 2008, knowledge H_*; Weisfeiler and Leman 1968",
        group="what is known of a person",
        cost="seconds",
    )
