"""Training of the classifiers that flips are optimised against: linear GCNs, and GCNs.

Sizes as in NetFense §5.1. A fifth of the known nodes is held out, and the weights with the lowest
loss there are kept, since margins of an overfitted classifier differ from the attacker's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from core.context import Context
from core.graph import Graph
from core.models.encoders import Block, Dropout, Encoder, GcnLayer, Inputs, Linear
from core.models.flips.selection import Features, GcnWeights
from core.models.propagation import Propagation
from core.models.training import train
from core.models.tuning import draw_folds
from core.node_column import MISSING

HIDDEN, EPOCHS, LR, WEIGHT_DECAY, DROPOUT = 16, 200, 0.01, 5e-4, 0.5
PATIENCE = 40
"""Epochs without a lower held-out loss after which training stops."""

CHECK_EVERY = 5
"""Epochs between two evaluations of the held-out loss."""

MIN_TO_HOLD_OUT = 50
"""Number of known nodes from which on a fifth is held out."""


class LinearGcn(torch.nn.Module):
    """Â²XW₁W₂: a GCN without its nonlinearity (Zügner, Akbarnejad and Günnemann, 2018, §4.1)."""

    def __init__(self, num_in: int, num_classes: int, context: Context) -> None:
        super().__init__()
        generator = context.seed.torch("init")
        self.first = Linear(num_in, HIDDEN, generator, bias=False)
        self.second = Linear(HIDDEN, num_classes, generator, bias=False)
        self.dropout = Dropout(DROPOUT, context.seed)

    def forward(self, inputs: Inputs, block: Block) -> torch.Tensor:
        hidden = self.dropout(block.aggregate(self.first(inputs)))
        return block.aggregate(self.second(hidden))

    def get_weights(self) -> np.ndarray:
        """W (d, C) float64 = W₁W₂."""
        product = self.first.weight.detach().double() @ self.second.weight.detach().double()
        return np.asarray(product.cpu().numpy())


def fit_linear_gcn(
    graph: Graph,
    features: Features,
    observed: np.ndarray,
    num_classes: int,
    context: Context,
    message: str,
) -> np.ndarray:
    """W (d, C) of a linear GCN trained on the known nodes; observed (n,), −1 where unknown."""
    fitting = _Fitting(graph, features, observed, context, message)
    model = LinearGcn(features.shape[1], num_classes, context).to(fitting.device)
    return np.asarray(fitting.fit(model, model.get_weights, 0))


def fit_gcns(
    graph: Graph,
    features: Features,
    observed: np.ndarray,
    num_classes: int,
    count: int,
    context: Context,
    message: str,
) -> list[GcnWeights]:
    """`count` GCNs trained on the known nodes from different initialisations, each with another
    fold held out."""
    fitting = _Fitting(graph, features, observed, context, message)
    sizes, found = [features.shape[1], HIDDEN, num_classes], []
    for number in range(count):
        model = Encoder("gcn", sizes, context.seed.child("member", number), DROPOUT).to(
            fitting.device
        )
        found.append(fitting.fit(model, partial(_read_gcn, model), number, PATIENCE))
    return found


class _Fitting:
    """One graph with features and known values, on which classifiers are trained."""

    def __init__(
        self, graph: Graph, features: Features, observed: np.ndarray, context: Context, message: str
    ) -> None:
        self.device = context.device.torch_name
        self._observed, self._context, self._message = observed, context, message
        self._block = Block.of_graph(graph, "gcn", self.device)
        self._inputs: Inputs
        if isinstance(features, np.ndarray):
            self._inputs = torch.from_numpy(features.astype(np.float32)).to(self.device)
        else:
            self._inputs = Propagation(features, False, self.device)
        self._known = np.flatnonzero(observed != MISSING)
        self._folds = draw_folds(observed, 5, context.rng("folds"))
        if len(self._known) < MIN_TO_HOLD_OUT:
            self._folds = [self._known[:0]]

    def fit(
        self,
        model: torch.nn.Module,
        extract: Callable[[], Any],
        number: int,
        patience: float = np.inf,
    ) -> Any:
        """`extract` of the trained model with the lowest loss on fold `number`, or of the last
        epoch if few nodes are known and all train."""
        inputs, block = self._inputs, self._block
        held_out = self._folds[number % len(self._folds)]
        train_nodes, train_codes = self._select(np.setdiff1d(self._known, held_out))
        test_nodes, test_codes = self._select(held_out)
        best: list[Any] = [np.inf, 0, None]

        def check_held_out(epoch: int) -> bool:
            if not len(held_out) or epoch % CHECK_EVERY:
                return False
            model.eval()
            with torch.no_grad():
                loss = float(cross_entropy(model(inputs, block)[test_nodes], test_codes))
            model.train()
            if loss < best[0]:
                best[:] = loss, epoch, extract()
            is_over: bool = epoch - best[1] >= patience
            return is_over

        train(
            model.parameters(),
            lambda _epoch: cross_entropy(model(inputs, block)[train_nodes], train_codes),
            epochs=EPOCHS,
            lr=LR,
            weight_decay=WEIGHT_DECAY,
            progress=self._context.progress,
            message=self._message,
            after_epoch=check_held_out,
        )
        return extract() if best[2] is None else best[2]

    def _select(self, nodes: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        values = nodes, self._observed[nodes]
        first, second = (torch.from_numpy(part).to(self.device) for part in values)
        return first, second


def _read_gcn(model: Encoder) -> GcnWeights:
    first, second = (cast(GcnLayer, layer) for layer in model.layers)
    tensors = first.linear.weight, first.bias, second.linear.weight, second.bias
    return GcnWeights(*(part.detach().cpu().double().numpy().copy() for part in tensors))
