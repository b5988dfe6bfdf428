"""Classifiers that look several hops away at once: MixHop and H2GCN."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from core.algorithms.normalize import normalize_adjacency
from core.errors import ResourceError
from core.graph import Graph
from core.models.encoders import Dropout, Inputs, Linear, multiply, num_columns
from core.models.propagation import Propagation
from core.seeding import Seed


class MixHop(torch.nn.Module):
    """Two layers, each [x W₀ ‖ Â x W₁ ‖ Â² x W₂], then a linear map (Abu-El-Haija et al.)."""

    def __init__(
        self,
        inputs: Inputs,
        propagation: Propagation,
        hidden: int,
        num_classes: int,
        seed: Seed,
        dropout: float,
    ) -> None:
        super().__init__()
        generator = seed.torch("init")
        width = max(hidden // 3, 1)
        sizes = (num_columns(inputs), 3 * width)
        self.layers = torch.nn.ModuleList(
            torch.nn.ModuleList(Linear(size, width, generator) for _power in range(3))
            for size in sizes
        )
        self.out = Linear(3 * width, num_classes, generator)
        self.dropout = Dropout(dropout, seed)
        self._inputs, self._propagation = inputs, propagation

    def forward(self, nodes: torch.Tensor | None = None) -> torch.Tensor:
        first, second = self.layers
        h: Inputs = self.dropout(self._inputs)
        h = self.dropout(self._mix(first, h, None))
        scores: torch.Tensor = self.out(self.dropout(self._mix(second, h, nodes)))
        return scores

    def _mix(self, maps: torch.nn.Module, h: Inputs, nodes: torch.Tensor | None) -> torch.Tensor:
        """A layer's rows of `nodes`; the three maps are one product, and so are the last steps."""
        every = list(maps)  # type: ignore[call-overload]
        joined = multiply(h, torch.cat([linear.weight for linear in every], dim=1))
        joined = joined + torch.cat([linear.bias for linear in every])
        zero, one, two = joined.tensor_split(3, dim=1)
        last = select_rows(self._propagation, nodes)
        near = last(torch.cat([one, self._propagation(two.contiguous())], dim=1))
        zero = zero if nodes is None else zero[nodes]
        return torch.relu(torch.cat([zero, near], dim=1))


class H2Gcn(torch.nn.Module):
    """Ego and neighbours kept apart, one and two hops, all rounds joined (Zhu et al.).

    r₀ = relu(x W); r_k = [A₁ r_{k−1} ‖ A₂ r_{k−1}]; the output is linear in [r₀ ‖ r₁ ‖ r₂].
    """

    def __init__(
        self,
        inputs: Inputs,
        one_hop: Propagation,
        two_hops: Propagation,
        hidden: int,
        num_classes: int,
        seed: Seed,
        dropout: float,
    ) -> None:
        super().__init__()
        generator = seed.torch("init")
        self.embed = Linear(num_columns(inputs), hidden, generator, bias=False)
        self.out = Linear(7 * hidden, num_classes, generator)
        self.dropout = Dropout(dropout, seed)
        self._inputs, self._hops = inputs, (one_hop, two_hops)

    def forward(self, nodes: torch.Tensor | None = None) -> torch.Tensor:
        own = torch.relu(self.embed(self.dropout(self._inputs)))
        near = torch.cat([hop(own) for hop in self._hops], dim=1)
        far = [select_rows(hop, nodes)(near) for hop in self._hops]
        if nodes is not None:
            own, near = own[nodes], near[nodes]
        scores: torch.Tensor = self.out(self.dropout(torch.cat([own, near, *far], dim=1)))
        return scores


def select_rows(propagation: Propagation, nodes: torch.Tensor | None) -> Propagation:
    """All rows of the product, or those of `nodes` (k,)."""
    return propagation if nodes is None else propagation.select_rows(nodes.cpu().numpy())


def compute_two_hops(graph: Graph, memory_budget: int) -> sparse.csr_array:
    """(n, n) pairs at distance two exactly; ResourceError where they may not fit the budget."""
    degrees = graph.degrees.astype(np.int64)
    bound = int(min((degrees * (degrees - 1)).sum(), graph.num_nodes**2))
    if 40 * bound > memory_budget:
        raise ResourceError(
            "pairs at distance two",
            "must fit the memory budget",
            f"{bound:,} pairs at most",
            "choose another attack or raise AUDIT_MEMORY_MB",
        )
    links = sparse.csr_array(graph.adjacency != 0, dtype=np.float32)
    paths = sparse.csr_array(links @ links)
    paths.data[:] = 1.0
    near = links + sparse.eye_array(graph.num_nodes, format="csr", dtype=np.float32)
    two = sparse.csr_array(paths - paths.multiply(near))
    two.eliminate_zeros()
    two.sort_indices()
    return two


def make_two_hop_propagation(graph: Graph, memory_budget: int, device: str) -> Propagation:
    """Normalised adjacency of nodes exactly two steps apart; raises ResourceError."""
    matrix = normalize_adjacency(compute_two_hops(graph, memory_budget), "symmetric", False)
    return Propagation(matrix, True, device)
