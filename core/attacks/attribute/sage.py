"""GraphSAGE: a node keeps its own features apart from its neighbours' mean."""

from __future__ import annotations

from typing import ClassVar

from core.attacks.attribute.neural import EncoderAttack
from core.methods import MethodInfo


class Sage(EncoderAttack):
    """Two GraphSAGE layers with the mean aggregator."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="sage",
        title="GraphSAGE",
        summary="Trains a two-layer GraphSAGE on the known nodes.",
        source="Hamilton, Ying and Leskovec, Inductive representation learning, NeurIPS 2017",
        group="neural",
        cost="seconds",
        uses_gpu=True,
        version=4,
    )
    BACKBONE = "sage"

    # Where features are unrelated to the value, a model overfits those of few known nodes.
    CHOICES = (*EncoderAttack.CHOICES, (0.5, False))
