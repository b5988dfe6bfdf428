"""GPS's layers: GIN and GraphSAGE as in the authors' code, GCN and GAT plain.

Their GIN has batch normalisation within its perceptron, a ReLU behind it and a learnt weight of
the node itself, and hands both layers on; their GraphSAGE normalises its first layer. Both drop
input features, and draw first weights and biases uniformly within 1/√inputs. The code has no GCN
or GAT. `tests/benchmarks/gps_layers.py` measures each of these.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import batch_norm

from core.models.encoders import LAYERS, Backbone, Block, Dropout, Inputs, Linear, SageLayer
from core.seeding import Seed


class BatchNorm(torch.nn.BatchNorm1d):
    """Batch normalisation that takes a single row too, by the running statistics."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(n, d) normalised columns of x (n, d)."""
        if self.training and len(x) == 1:  # one row has no batch statistics
            return batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias)
        return super().forward(x)


class NormalisedGin(torch.nn.Module):
    """ReLU(MLP((1 + e) x_i + Σ_j x_j)) with batch normalisation in the perceptron, e learnt."""

    def __init__(self, num_in: int, num_out: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = Linear(num_in, num_out, generator, bias=False)
        self.bias = torch.nn.Parameter(torch.zeros(num_out))
        self.norm = BatchNorm(num_out)
        self.second = Linear(num_out, num_out, generator)
        self.own = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x: Inputs, block: Block) -> torch.Tensor:
        h = self.first(x)
        h = block.aggregate(h) + self.own * block.own(h) + self.bias
        return torch.relu(self.second(torch.relu(self.norm(h))))


class NormalisedSage(SageLayer):
    """GraphSAGE's layer with batch normalisation."""

    def __init__(self, num_in: int, num_out: int, generator: torch.Generator) -> None:
        super().__init__(num_in, num_out, generator)
        self.norm = BatchNorm(num_out)

    def forward(self, x: Inputs, block: Block) -> torch.Tensor:
        normed: torch.Tensor = self.norm(super().forward(x, block))
        return normed


AUTHORS: dict[str, tuple[type[torch.nn.Module], type[torch.nn.Module]]] = {
    "gin": (NormalisedGin, NormalisedGin),
    "sage": (NormalisedSage, SageLayer),
}


def make_layers(
    backbone: Backbone, num_in: int, hidden: int, generator: torch.Generator, plain: bool
) -> tuple[torch.nn.Module, torch.nn.Module]:
    """Two layers, from `num_in` to `hidden` and on to `hidden` columns."""
    kinds = (LAYERS[backbone],) * 2 if plain else AUTHORS.get(backbone, (LAYERS[backbone],) * 2)
    return kinds[0](num_in, hidden, generator), kinds[1](hidden, hidden, generator)


def drop_inputs(dropout: Dropout, x: Any) -> Any:
    """Inputs with a share of them dropped; sparse ones are unchanged."""
    return tuple(map(dropout, x)) if isinstance(x, tuple) else dropout(x)


class ProximityEncoder(torch.nn.Module):
    """Two layers on the whole graph; GIN's are handed on side by side."""

    def __init__(
        self, backbone: Backbone, num_in: int, hidden: int, seed: Seed, dropout: float, plain: bool
    ) -> None:
        super().__init__()
        generator = seed.torch("init")
        self.first, self.second = make_layers(backbone, num_in, hidden, generator, plain)
        self.dropout = Dropout(dropout, seed)
        self.drops_inputs = not plain and backbone in AUTHORS
        self.is_joined = not plain and backbone == "gin"
        self.num_out = hidden * (2 if self.is_joined else 1)

    def forward(self, inputs: Inputs, block: Block) -> torch.Tensor:
        """(n, num_out) for inputs (n, d)."""
        x = drop_inputs(self.dropout, inputs) if self.drops_inputs else inputs
        h1 = torch.relu(self.first(x, block))
        h2: torch.Tensor = self.second(self.dropout(h1), block)
        return torch.cat([h1, h2], dim=1) if self.is_joined else h2


def draw_uniform(model: torch.nn.Module, generator: torch.Generator) -> None:
    """Weights and biases of all linear maps drawn anew, within 1/√inputs."""
    for module in model.modules():
        biased = getattr(module, "bias", None)
        if isinstance(module, NormalisedGin):
            module.bias.data.uniform_(*_range(module.first), generator=generator)
        elif isinstance(module, Linear):
            module.weight.data.uniform_(*_range(module), generator=generator)
            if biased is not None:
                biased.data.uniform_(*_range(module), generator=generator)


def _range(linear: Linear) -> tuple[float, float]:
    bound = float(linear.weight.shape[0]) ** -0.5
    return -bound, bound
