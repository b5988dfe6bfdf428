"""SymRR: randomised response with each pair reported by one end only."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.defenses.budgeted import Epsilon
from core.defenses.edge_rand import EdgeRand
from core.methods import MethodInfo
from core.privacy.guarantees import LINK_ONCE, Kind


class SymRR(EdgeRand):
    """EdgeRand's flips, which node i makes itself for the nodes before it."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="sym_rr",
        title="SymRR",
        summary="Each pair is reported once, by one end, with its bit flipped at random.",
        source="Imola, Murakami and Chaudhuri, USENIX Security 2021, as used by Blink §5.1",
        group="link-local DP",
    )
    epsilon: Epsilon = Field(6.0, description="Budget of one link.")
    protected: ClassVar[Kind] = LINK_ONCE
