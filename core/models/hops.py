"""MixHop and H2GCN, which aggregate over several hops, with all trials trained together.

Shapes: S settings, F folds, n nodes, d input columns, k target nodes, C classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse

from core.algorithms.normalize import normalize_adjacency
from core.errors import ResourceError
from core.graph import Graph
from core.models.propagation import Propagation
from core.models.trials import Setting, Trials
from core.seeding import Seed

POWERS = 3
"""Powers of the adjacency in a MixHop layer: 0, 1 and 2."""
ROUNDS = 7
"""Blocks joined by H2GCN: 1 + 2 + 4."""


@dataclass(frozen=True, eq=False)
class HopField:
    """Inputs of all nodes, and the matrices of the last step to the k requested nodes.

    picks  (k, n) ones: the rows of these nodes
    last   (k, n) MixHop: those of the adjacency; (3k, n) H2GCN: `picks`, and those of both hops
    """

    inputs: torch.Tensor | Propagation
    picks: Propagation
    last: Propagation


class HopTrials(Trials):
    """Trials on the family's matrices, linear in the last layer."""

    def __init__(
        self, family: HopFamily, dropouts: Sequence[float], seeds: Sequence[Seed], masks: Seed
    ) -> None:
        super().__init__(dropouts, seeds, masks, family.device)
        self._hops = family.hops
        columns, hidden, num_classes = family.sizes
        width = self.make_layers(columns, hidden)
        self.out = torch.nn.Parameter(self.make_matrix(width, num_classes).contiguous())
        self.out_bias = self.make_bias(num_classes)

    def make_layers(self, columns: int, hidden: int) -> int:
        """Make the layers before the last one; returns the width of what they give."""
        raise NotImplementedError

    def classify(self, hidden: torch.Tensor) -> torch.Tensor:
        """Scores (k, S, F, C) of the last layer's inputs (k, S, F, width)."""
        scores: torch.Tensor = torch.einsum("tsfh,hsfc->tsfc", hidden, self.out) + self.out_bias
        return scores


class MixHop(HopTrials):
    """Two layers, each [x W₀ ‖ Â x W₁ ‖ Â² x W₂] + b, then a linear map (Abu-El-Haija et al.)."""

    def make_layers(self, columns: int, hidden: int) -> int:
        width = max(hidden // POWERS, 1)
        self.maps = torch.nn.ParameterList(
            torch.stack([self.make_matrix(size, width) for _power in range(POWERS)], dim=1)
            for size in (columns, POWERS * width)
        )
        """(in, powers, S, F, width) of both layers."""
        self.biases = torch.nn.ParameterList(self.make_bias(POWERS * width) for _ in self.maps)
        return POWERS * width

    def forward(self, field: HopField) -> torch.Tensor:
        """Scores (k, S, F, C)."""
        zero, one, two = multiply_inputs(self, field.inputs, self.maps[0]).unbind(1)
        hidden = self.drop(self._mix(zero, one, two, self.biases[0], self._hops[0]))
        product = torch.einsum("tsfh,hpsfw->tpsfw", hidden, self.maps[1])
        zero, one, two = product.unbind(1)
        zero = field.picks(zero)
        return self.classify(self.drop(self._mix(zero, one, two, self.biases[1], field.last)))

    def _mix(
        self,
        zero: torch.Tensor,
        one: torch.Tensor,
        two: torch.Tensor,
        bias: torch.Tensor,
        last: Propagation,
    ) -> torch.Tensor:
        """(k, S, F, powers · width): the last steps of two powers are one product."""
        stacked = torch.stack([one, self._hops[0](two)], dim=1)
        first, second = last(stacked).unbind(1)
        return torch.relu(torch.cat([zero, first, second], dim=3) + bias)


class H2Gcn(HopTrials):
    """Separate terms for a node and for one and two hops, all rounds joined (Zhu et al.).

    r₀ = relu(x W); r_k = [A₁ r_{k−1} ‖ A₂ r_{k−1}]; the output is linear in all of them, each half
    of r₁ followed by its part of r₂.
    """

    def make_layers(self, columns: int, hidden: int) -> int:
        embed = self.make_matrix(columns, hidden)[:, None]
        self.embed = torch.nn.Parameter(embed.contiguous())
        return ROUNDS * hidden

    def forward(self, field: HopField) -> torch.Tensor:
        """Scores (k, S, F, C)."""
        own = torch.relu(multiply_inputs(self, field.inputs, self.embed)[:, 0])
        blocks = [field.picks(own)]
        for hop in self._hops:
            blocks += field.last(hop(own)).chunk(3)
        return self.classify(self.drop(torch.cat(blocks, dim=3)))


def multiply_inputs(
    trials: Trials, inputs: torch.Tensor | Propagation, weight: torch.Tensor
) -> torch.Tensor:
    """(n, a, S, F, b) of (n, d) inputs and weights (d, a, S, F, b); dense inputs get the
    dropout of each setting."""
    if isinstance(inputs, Propagation):
        return inputs(weight)
    dropped = trials.drop_inputs(inputs).transpose(0, 1)
    product = dropped @ weight.permute(2, 0, 1, 3, 4).flatten(2)
    spread: torch.Tensor = product.unflatten(2, (weight.shape[1], *weight.shape[3:]))
    return spread.permute(1, 2, 0, 3, 4)


@dataclass(frozen=True, eq=False)
class HopFamily:
    """MixHop on one matrix, or H2GCN on two: one and two hops."""

    hops: tuple[Propagation, ...]
    inputs: torch.Tensor | Propagation
    sizes: tuple[int, int, int]
    device: str = "cpu"

    def make_field(self, nodes: np.ndarray | None) -> HopField:
        """Field with the inputs of all nodes: four steps reach nearly all."""
        n = self.hops[0].source.shape[0]
        rows = np.arange(n) if nodes is None else nodes
        picks = sparse.csr_array(sparse.eye_array(n, format="csr", dtype=np.float32)[rows])
        parts = [hop.source[rows] for hop in self.hops]
        last = sparse.csr_array(sparse.vstack([picks, *parts])) if len(parts) > 1 else parts[0]
        return HopField(
            self.inputs,
            Propagation(picks, False, self.device),
            Propagation(sparse.csr_array(last), False, self.device),
        )

    def make(self, settings: Sequence[Setting], seeds: Sequence[Seed], masks: Seed) -> Trials:
        """Every setting with every seed, untrained."""
        dropouts = [setting.dropout for setting in settings]
        return (MixHop if len(self.hops) == 1 else H2Gcn)(self, dropouts, seeds, masks)

    def count_values(self, field: HopField) -> int:
        """Numbers in one trial's largest layer and in its weights."""
        columns, hidden, num_classes = self.sizes
        rows = self.hops[0].matrix.shape[0]
        return int(rows * hidden * POWERS + (columns + ROUNDS * num_classes) * hidden)


def compute_two_hops(graph: Graph, memory_budget: int) -> sparse.csr_array:
    """(n, n) pairs at distance exactly two; raises ResourceError beyond the budget."""
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
