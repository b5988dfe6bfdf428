"""Perceptron on the features: the neural attacker without the links."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.attacks.attribute.neural import NeuralAttack
from core.context import Context
from core.graph import Graph
from core.methods import MethodInfo
from core.release import Release
from core.threats import AttributeThreat

if TYPE_CHECKING:
    from core.models.classifiers import MakeModel
    from core.models.encoders import Inputs


class Mlp(NeuralAttack):
    """Two dense layers on X."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="mlp",
        title="MLP",
        summary="Trains a perceptron on the features alone.",
        source="Rumelhart, Hinton and Williams, Learning representations, Nature 1986",
        group="neural",
        cost="seconds",
        uses_gpu=True,
    )

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        return "the graph has no features" if release.graph.features is None else None

    def make_model(
        self, graph: Graph, inputs: Inputs, num_classes: int, context: Context
    ) -> MakeModel:
        from core.models.classifiers import make_encoder_classifier

        return make_encoder_classifier(
            "mlp", graph, inputs, self.hidden, num_classes, context.device.torch_name
        )
