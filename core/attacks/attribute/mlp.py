"""Perceptron on the features: the neural attacker without the links."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.attribute.neural import EncoderAttack
from core.methods import MethodInfo


class Mlp(EncoderAttack):
    """Two dense layers on X."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="mlp",
        title="MLP",
        summary="Trains a perceptron on the features alone.",
        source="Rumelhart, Hinton and Williams, Learning representations, Nature 1986",
        group="neural",
        cost="seconds",
        uses_gpu=True,
        version=4,
    )
    reads_links: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True
    BACKBONE = "mlp"
