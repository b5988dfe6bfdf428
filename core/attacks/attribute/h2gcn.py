"""H2GCN: a graph network for heterophilous graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.attacks.attribute.neural import NeuralAttack
from core.context import Context
from core.graph import Graph
from core.methods import MethodInfo

if TYPE_CHECKING:
    from core.models.encoders import Inputs
    from core.models.trials import Family


class H2Gcn(NeuralAttack):
    """Ego, one-hop and two-hop neighbours kept apart over two rounds."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="h2gcn",
        title="H2GCN",
        summary="Trains a network that keeps a node, its neighbours and theirs apart.",
        source="Zhu et al., Beyond homophily in graph neural networks, NeurIPS 2020",
        group="neural",
        cost="minutes",
        uses_gpu=True,
        version=5,
    )

    def make_family(
        self, graph: Graph, inputs: Inputs, sizes: tuple[int, int, int], context: Context
    ) -> Family:
        from core.models.hops import HopFamily, make_two_hop_propagation
        from core.models.propagation import Propagation

        assert not isinstance(inputs, tuple)
        device = context.device.torch_name
        one = Propagation.of_graph(graph, "symmetric", self_loops=False, device=device)
        two = make_two_hop_propagation(graph, context.memory_budget, device)
        return HopFamily((one, two), inputs, sizes, device)
