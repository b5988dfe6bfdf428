"""MixHop: mixes neighbours at several distances in one layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.attacks.attribute.neural import ModuleAttack
from core.context import Context
from core.graph import Graph
from core.methods import MethodInfo

if TYPE_CHECKING:
    from core.models.classifiers import MakeModel
    from core.models.encoders import Inputs


class MixHop(ModuleAttack):
    """Two layers that join the powers 0, 1 and 2 of the normalised adjacency."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="mixhop",
        title="MixHop",
        summary="Trains a network that mixes neighbours at distances zero to two.",
        source="Abu-El-Haija et al., MixHop: higher-order graph convolution, ICML 2019",
        group="neural",
        cost="minutes",
        uses_gpu=True,
        version=2,
    )

    def make_model(
        self, graph: Graph, inputs: Inputs, num_classes: int, context: Context
    ) -> MakeModel:
        from core.models import hops
        from core.models.propagation import Propagation

        device = context.device.torch_name
        propagation = Propagation.of_graph(graph, "symmetric", device=device)
        return lambda setting, seed: hops.MixHop(
            inputs, propagation, self.hidden, num_classes, seed, setting.dropout
        ).to(device)
