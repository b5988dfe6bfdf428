"""Graph encoders that draw all random numbers from a given `Seed`.

Layers get their aggregation structure as a `Block`, so that the same layer serves a whole graph
and a batch of ego networks. Weights are applied before the aggregation where the two commute:
features may then be sparse, and the aggregation works on the narrow side.

PyG's layers serve neither blocks with their own targets nor link weights that need a gradient,
and draw their weights from torch's global generator. On one core, forward and backward, 64
columns, 2,708 and 100,000 nodes with 4 and 10 links each, PyG 2.8 on a CSR adjacency takes 1.1
and 1.4 times as long for GCN, 1.3 and 1.5 for GIN, 1.2 and 0.8 for GraphSAGE, 0.9 and 0.7 for
attention, which ignores link weights there; on an edge list 2.2 and 5.1, 1.5 and 3.2, 1.4 and
2.1, 0.7 and 0.8.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from scipy import sparse

from core.algorithms.normalize import Norm, normalize_adjacency
from core.graph import Graph
from core.models.attention import Links, attend_by_torch, list_links
from core.models.propagation import Identity, Propagation
from core.models.tuning import scale_features
from core.seeding import Seed

Backbone = Literal["gcn", "gin", "sage", "gat", "mlp"]
Inputs = torch.Tensor | Propagation | tuple[torch.Tensor | Propagation, ...]
"""Node features (n, d): dense, sparse as the `Propagation` that multiplies by them, or several
of these side by side."""
Scaling = Literal["range", "standard"]
Aggregate = Callable[[torch.Tensor], torch.Tensor]

NORMS: dict[str, tuple[Norm, bool]] = {
    "gcn": ("symmetric", True),
    "gin": ("none", True),
    "sage": ("row", False),
    "gat": ("none", True),
    "mlp": ("none", False),
}


class Block:
    """Aggregation structure of one layer, from s source to t target nodes.

    aggregate  x (s, d) ↦ (t, d), the weighted sum over each target's sources
    own        (t,) the source that is the target itself; None if targets are the sources
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        own: np.ndarray | None = None,
        is_symmetric: bool = False,
        device: str = "cpu",
        with_links: bool = False,
    ) -> None:
        self.num_targets = matrix.shape[0]
        self.aggregate: Aggregate = Propagation(matrix, is_symmetric, device)
        self._own = None if own is None else torch.from_numpy(own).to(device)
        self.links: Links | None = list_links(matrix, device) if with_links else None

    def own(self, x: torch.Tensor) -> torch.Tensor:
        """Rows of x (·, d) that are the block's own nodes."""
        return x if self._own is None else x.index_select(0, self._own)

    @staticmethod
    def of_graph(graph: Graph, backbone: Backbone, device: str = "cpu") -> Block:
        """Block of the whole graph, normalised for the backbone."""
        norm, self_loops = NORMS[backbone]
        matrix = normalize_adjacency(graph.adjacency, norm, self_loops)
        return Block(
            matrix, None, is_symmetric=norm != "row", device=device, with_links=backbone == "gat"
        )


def make_inputs(graph: Graph, device: str = "cpu", scaling: Scaling = "range") -> Inputs:
    """Features, scaled per column; without any the identity, one free row per node.

    range     dense columns from −1 at their minimum to 1 at their maximum: for GPS, as its
              authors do, and for the classifier of labels
    standard  dense columns with mean 0 and standard deviation 1, and one column of ones, whose
              aggregate is the degree: for attackers and auto-encoders. An offset in every
              column, as with `range`, hides the differences between nodes for hundreds of
              epochs of a plain network.

    Constant dense columns become 0. Sparse ones are divided by their largest absolute value,
    which keeps zeros zero.
    """
    features = graph.features
    if features is None:
        return Identity(graph.num_nodes, device)
    if isinstance(features, np.ndarray):
        if scaling == "range":
            scaled = _scale_range(features)
        else:
            scaled = np.column_stack([scale_features(graph), np.ones(graph.num_nodes)])
        return torch.from_numpy(scaled.astype(np.float32)).to(device)
    peak = np.asarray(abs(features).max(axis=0).todense()).ravel()
    scale = sparse.diags_array((1.0 / np.where(peak > 0, peak, 1.0)).astype(np.float32))
    return Propagation(sparse.csr_array(features @ scale), False, device)


def _scale_range(features: np.ndarray) -> np.ndarray:
    low, high = features.min(axis=0), features.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return np.where(high > low, 2.0 * (features - low) / span - 1.0, 0.0)


def num_columns(inputs: Inputs) -> int:
    """Number of input columns."""
    if isinstance(inputs, tuple):
        return sum(map(num_columns, inputs))
    matrix = inputs.matrix if isinstance(inputs, Propagation) else inputs
    return int(matrix.shape[1])


class Linear(torch.nn.Module):
    """x W + b with Glorot weights from `generator`; x dense or sparse."""

    def __init__(
        self, num_in: int, num_out: int, generator: torch.Generator, bias: bool = True
    ) -> None:
        super().__init__()
        bound = math.sqrt(6.0 / (num_in + num_out))
        weight = (torch.rand(num_in, num_out, generator=generator) * 2 - 1) * bound
        self.weight = torch.nn.Parameter(weight)
        self.bias = torch.nn.Parameter(torch.zeros(num_out)) if bias else None

    def forward(self, x: Inputs) -> torch.Tensor:
        y = multiply(x, self.weight)
        return y if self.bias is None else y + self.bias


def multiply(x: Inputs, weight: torch.Tensor) -> torch.Tensor:
    """x W of dense or sparse inputs, or of several side by side."""
    parts = x if isinstance(x, tuple) else (x,)
    weights = weight.split([num_columns(part) for part in parts])
    products = [
        part(rows) if isinstance(part, Propagation) else part @ rows
        for part, rows in zip(parts, weights, strict=True)
    ]
    return sum(products[1:], products[0])


class Dropout(torch.nn.Module):
    """Inverted dropout with masks from its own generator, on the data's device.

    Sparse inputs are unchanged. Shares of kept values are multiples of 2⁻¹⁶: on the CPU 16 random
    bits a value, drawn by NumPy, take an eighth of the time of torch's `bernoulli_`.
    """

    def __init__(self, rate: float, seed: Seed) -> None:
        super().__init__()
        self.rate, self._seed = rate, seed
        self._kept_levels = round((1.0 - rate) * 2**16)
        self._rng = seed.rng("dropout")
        self._generators: dict[str, torch.Generator] = {}

    def forward(self, x: Any) -> Any:
        if not self.training or self.rate == 0.0 or not isinstance(x, torch.Tensor):
            return x
        keep = self._kept_levels / 2**16
        mask = self._draw_on_cpu(x.shape) if x.is_cpu else self._draw_on_device(x, keep)
        return x * mask.div_(keep)

    def _draw_on_cpu(self, shape: torch.Size) -> torch.Tensor:
        count = shape.numel()
        words = self._rng.integers(0, 2**64, -(-count // 4), np.uint64)
        levels = torch.from_numpy(words.view(np.int16)[:count]).view(shape)  # −2¹⁵ … 2¹⁵ − 1
        return (levels < self._kept_levels - 2**15).float()

    def _draw_on_device(self, x: torch.Tensor, keep: float) -> torch.Tensor:
        device = str(x.device)
        if device not in self._generators:
            self._generators[device] = self._seed.torch("dropout", device=device)
        return torch.empty_like(x).bernoulli_(keep, generator=self._generators[device])


class GcnLayer(torch.nn.Module):
    """Kipf and Welling, 2017: Â (x W) + b."""

    def __init__(self, num_in: int, num_out: int, generator: torch.Generator) -> None:
        super().__init__()
        self.linear = Linear(num_in, num_out, generator, bias=False)
        self.bias = torch.nn.Parameter(torch.zeros(num_out))

    def forward(self, x: Inputs, block: Block) -> torch.Tensor:
        return block.aggregate(self.linear(x)) + self.bias


class GinLayer(torch.nn.Module):
    """Xu et al., 2019: MLP(x_i + Σ_j x_j), a perceptron with one hidden layer."""

    def __init__(self, num_in: int, num_out: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = Linear(num_in, num_out, generator, bias=False)
        self.bias = torch.nn.Parameter(torch.zeros(num_out))
        self.second = Linear(num_out, num_out, generator)

    def forward(self, x: Inputs, block: Block) -> torch.Tensor:
        out: torch.Tensor = self.second(torch.relu(block.aggregate(self.first(x)) + self.bias))
        return out


class SageLayer(torch.nn.Module):
    """Hamilton et al., 2017, mean aggregator: x_i W + mean_j(x_j) V + b."""

    def __init__(self, num_in: int, num_out: int, generator: torch.Generator) -> None:
        super().__init__()
        self.own = Linear(num_in, num_out, generator)
        self.others = Linear(num_in, num_out, generator, bias=False)

    def forward(self, x: Inputs, block: Block) -> torch.Tensor:
        others = block.aggregate(self.others(x))
        return block.own(self.own(x)) + others


class GatLayer(torch.nn.Module):
    """Veličković et al., 2018: attention over neighbours and self, heads concatenated.

    A link's weight w scales its unnormalised attention, so that a weight of 0 is no link.
    """

    def __init__(
        self, num_in: int, num_out: int, generator: torch.Generator, heads: int = 4
    ) -> None:
        super().__init__()
        self.heads = heads if num_out % heads == 0 else 1
        self.linear = Linear(num_in, num_out, generator, bias=False)
        width = num_out // self.heads
        bound = math.sqrt(6.0 / (1 + width))
        draw = torch.rand(2, self.heads, width, generator=generator) * 2 - 1
        self.attention = torch.nn.Parameter(draw * bound)
        self.bias = torch.nn.Parameter(torch.zeros(num_out))

    def forward(self, x: Inputs, block: Block) -> torch.Tensor:
        assert block.links is not None, "a GAT layer needs a block with links"
        h = self.linear(x).unflatten(1, (self.heads, -1))
        to_source = (h * self.attention[0]).sum(-1)
        to_target = block.own((h * self.attention[1]).sum(-1))
        mixed = attend_by_torch(h, to_source, to_target, block.links)
        return mixed.flatten(1) + self.bias


class MlpLayer(torch.nn.Module):
    """x W + b, without the graph."""

    def __init__(self, num_in: int, num_out: int, generator: torch.Generator) -> None:
        super().__init__()
        self.linear = Linear(num_in, num_out, generator)

    def forward(self, x: Inputs, block: Block) -> torch.Tensor:
        return block.own(self.linear(x))


LAYERS: dict[str, type[torch.nn.Module]] = {
    "gcn": GcnLayer,
    "gin": GinLayer,
    "sage": SageLayer,
    "gat": GatLayer,
    "mlp": MlpLayer,
}


class Encoder(torch.nn.Module):
    """Layers of one kind; ReLU and dropout between them, the last one linear.

    sizes  [d, hidden, …, out]
    """

    def __init__(
        self, backbone: Backbone, sizes: Sequence[int], seed: Seed, dropout: float = 0.0
    ) -> None:
        super().__init__()
        generator = seed.torch("init")
        self.layers = torch.nn.ModuleList(
            LAYERS[backbone](num_in, num_out, generator) for num_in, num_out in pairwise(sizes)
        )
        self.dropout = Dropout(dropout, seed)

    def forward(self, x: Inputs, block: Block) -> torch.Tensor:
        """(t, out) for inputs (n, d)."""
        h: torch.Tensor = self.layers[0](x, block)
        for layer in self.layers[1:]:
            h = layer(self.dropout(torch.relu(h)), block)
        return h
