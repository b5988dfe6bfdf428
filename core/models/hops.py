"""Classifiers that look several hops away at once: MixHop and H2GCN."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from core.algorithms.normalize import normalize_adjacency
from core.errors import ResourceError
from core.graph import Graph
from core.models.encoders import Dropout, Inputs, Linear, num_columns
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

    def forward(self) -> torch.Tensor:
        h: Inputs = self.dropout(self._inputs)
        for maps in self.layers:
            powers = [linear(h) for linear in maps]  # type: ignore[attr-defined]
            for power in (1, 2):
                for _ in range(power):
                    powers[power] = self._propagation(powers[power])
            h = self.dropout(torch.relu(torch.cat(powers, dim=1)))
        scores: torch.Tensor = self.out(h)
        return scores


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

    def forward(self) -> torch.Tensor:
        rounds = [torch.relu(self.embed(self.dropout(self._inputs)))]
        for _ in range(2):
            rounds.append(torch.cat([hop(rounds[-1]) for hop in self._hops], dim=1))
        scores: torch.Tensor = self.out(self.dropout(torch.cat(rounds, dim=1)))
        return scores


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
