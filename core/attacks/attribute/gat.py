"""Graph attention network: learns which neighbours to listen to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.attacks.attribute.neural import NeuralAttack
from core.context import Context
from core.graph import Graph
from core.methods import MethodInfo

if TYPE_CHECKING:
    from core.models.classifiers import MakeModel
    from core.models.encoders import Inputs


class Gat(NeuralAttack):
    """Two GAT layers."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gat",
        title="GAT",
        summary="Trains a two-layer graph attention network on the known nodes.",
        source="Velickovic et al., Graph attention networks, ICLR 2018",
        group="neural",
        cost="seconds",
        uses_gpu=True,
    )

    def make_model(
        self, graph: Graph, inputs: Inputs, num_classes: int, context: Context
    ) -> MakeModel:
        from core.models.classifiers import make_encoder_classifier

        return make_encoder_classifier(
            "gat", graph, inputs, self.hidden, num_classes, context.device.torch_name
        )
