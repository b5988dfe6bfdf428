"""Graph attention network."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.attribute.neural import EncoderAttack
from core.methods import MethodInfo


class Gat(EncoderAttack):
    """Two GAT layers."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gat",
        title="GAT",
        summary="Trains a two-layer graph attention network on the known nodes.",
        source="Velickovic et al., Graph attention networks, ICLR 2018",
        group="neural",
        cost="seconds",
        uses_gpu=True,
        version=5,
    )
    BACKBONE = "gat"
