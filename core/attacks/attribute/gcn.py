"""Graph convolutional network: the plain neural attacker."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.attacks.attribute.neural import NeuralAttack
from core.context import Context
from core.graph import Graph
from core.methods import MethodInfo

if TYPE_CHECKING:
    from core.models.classifiers import MakeModel
    from core.models.encoders import Inputs


class Gcn(NeuralAttack):
    """Two GCN layers; `hidden=16` is NetFense's private-label classifier (§3.2)."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gcn",
        title="GCN",
        summary="Trains a two-layer graph convolutional network on the known nodes.",
        source="Kipf and Welling, Semi-supervised classification with GCNs, ICLR 2017",
        group="neural",
        cost="seconds",
        uses_gpu=True,
    )

    def make_model(
        self, graph: Graph, inputs: Inputs, num_classes: int, context: Context
    ) -> MakeModel:
        from core.models.classifiers import make_encoder_classifier

        return make_encoder_classifier(
            "gcn", graph, inputs, self.hidden, num_classes, context.device.torch_name
        )
