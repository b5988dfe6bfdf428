"""MixHop: mixes neighbours at several distances in one layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.attacks.attribute.neural import NeuralAttack
from core.context import Context
from core.graph import Graph
from core.methods import MethodInfo

if TYPE_CHECKING:
    from core.models.encoders import Inputs
    from core.models.trials import Family


class MixHop(NeuralAttack):
    """Two layers that join the powers 0, 1 and 2 of the normalised adjacency."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="mixhop",
        title="MixHop",
        summary="Trains a network that mixes neighbours at distances zero to two.",
        source="Abu-El-Haija et al., MixHop: higher-order graph convolution, ICML 2019",
        group="neural",
        cost="minutes",
        uses_gpu=True,
        version=5,
    )

    def make_family(
        self, graph: Graph, inputs: Inputs, sizes: tuple[int, int, int], context: Context
    ) -> Family:
        from core.models.hops import HopFamily
        from core.models.propagation import Propagation

        assert not isinstance(inputs, tuple)
        device = context.device.torch_name
        propagation = Propagation.of_graph(graph, "symmetric", device=device)
        return HopFamily((propagation,), inputs, sizes, device)
