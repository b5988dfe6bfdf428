"""RABV: each pair of symmetric bits of the adjacency matrix is perturbed once."""

from __future__ import annotations

from typing import ClassVar

from core.defenses.sym_rr import SymRR
from core.methods import MethodInfo


class Rabv(SymRR):
    """Randomised response on one bit per pair; the other bit copies it.

    The whole budget is spent on the bits: the graph is published as collected, without LF-GDPR's
    degree query and calibration, as the GPS paper uses it. Equal in distribution to SymRR.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="rabv",
        title="RABV",
        summary="Flips one bit of each pair of symmetric bits at random and copies it.",
        source="Ye, Hu, Au, Meng and Xiao, LF-GDPR, TKDE 2020; baseline of GPS (KDD 2024, §6.3)",
        group="link-local DP",
    )
