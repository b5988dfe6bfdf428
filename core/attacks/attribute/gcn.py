"""Graph convolutional network."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.attribute.neural import EncoderAttack
from core.methods import MethodInfo


class Gcn(EncoderAttack):
    """Two GCN layers; `hidden=16` is NetFense's private-label classifier (§3.2)."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gcn",
        title="GCN",
        summary="Trains a two-layer graph convolutional network on the known nodes.",
        source="Kipf and Welling, Semi-supervised classification with GCNs, ICLR 2017",
        group="neural",
        cost="seconds",
        uses_gpu=True,
        version=4,
    )
    BACKBONE = "gcn"
