"""GraphSAGE: a node keeps its own features apart from its neighbours' mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.attacks.attribute.neural import NeuralAttack
from core.context import Context
from core.graph import Graph
from core.methods import MethodInfo

if TYPE_CHECKING:
    from core.models.classifiers import MakeModel
    from core.models.encoders import Inputs


class Sage(NeuralAttack):
    """Two GraphSAGE layers with the mean aggregator."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="sage",
        title="GraphSAGE",
        summary="Trains a two-layer GraphSAGE on the known nodes.",
        source="Hamilton, Ying and Leskovec, Inductive representation learning, NeurIPS 2017",
        group="neural",
        cost="seconds",
        uses_gpu=True,
    )

    # Where features say nothing of the value, forty nodes' own ones are learned by heart.
    CHOICES = (*NeuralAttack.CHOICES, (0.5, False))

    def make_model(
        self, graph: Graph, inputs: Inputs, num_classes: int, context: Context
    ) -> MakeModel:
        from core.models.classifiers import make_encoder_classifier

        return make_encoder_classifier(
            "sage", graph, inputs, self.hidden, num_classes, context.device.torch_name
        )
