"""Two-layer classifiers trained together: every setting on every fold in one pass.

Single classifiers are dominated by call overhead: on 400 nodes it is most of the time. Together
they share inputs, propagation and dropout masks, which also makes their comparison fairer. Only
the nodes that the known nodes' scores depend on are computed, at most two steps away.

Shapes: S settings, F folds, n nodes, d input columns, h hidden, C classes, t targets of a layer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from scipy import sparse

from core.algorithms.normalize import normalize_adjacency
from core.arrays import sort_distinct
from core.graph import Graph
from core.models.attention import Attention, project
from core.models.encoders import NORMS, Inputs
from core.models.propagation import Identity, Propagation
from core.models.trials import Setting, Trials
from core.seeding import Seed

StackBackbone = Literal["gcn", "sage", "gat", "mlp"]

TERMS: dict[StackBackbone, str] = {"gcn": "A", "sage": "IA", "gat": "I", "mlp": "I"}
"""Terms of a layer: I, a node's own row; A, the normalised sum of its neighbours' rows."""

HEADS = 4
"""Number of heads of GAT layers whose width is divisible by it; else one."""


class Layer:
    """Aggregation structure of a layer: a normalised matrix (t, s), and `own` (t,) the sources
    that are the targets themselves."""

    def __init__(self, matrix: sparse.csr_array, own: np.ndarray, is_symmetric: bool, device: str):
        self._matrix, self._device = matrix, device
        self.propagate = Propagation(matrix, is_symmetric, device)
        self._own = None
        if matrix.shape[0] != matrix.shape[1] or (own != np.arange(len(own))).any():
            self._own = torch.from_numpy(own).to(device)

    def select_own(self, rows: torch.Tensor) -> torch.Tensor:
        """(t, …) of (s, …)."""
        return rows if self._own is None else rows.index_select(0, self._own)

    def apply(self, term: str, rows: torch.Tensor) -> torch.Tensor:
        """(t, …) of (s, …) by one of TERMS."""
        return self.select_own(rows) if term == "I" else self.propagate(rows)

    @cached_property
    def attention(self) -> Attention:
        """Attention over the same links."""
        return Attention(self._matrix, self._device)


@dataclass(frozen=True, eq=False)
class Field:
    """The rows that the scores of some nodes depend on, and the two layers that lead to them."""

    inputs: torch.Tensor | Propagation
    layers: tuple[Layer, Layer]


def make_field(
    graph: Graph,
    backbone: StackBackbone,
    inputs: Inputs,
    nodes: np.ndarray | None = None,
    device: str = "cpu",
) -> Field:
    """Rows and layers that the scores of `nodes` (sorted, distinct; None: all) depend on.

    Where each node has a free row, the first layer reads all of them, as none needs computing.
    """
    assert not isinstance(inputs, tuple)
    norm, self_loops = NORMS[backbone]
    matrix, n = normalize_adjacency(graph.adjacency, norm, self_loops), graph.num_nodes
    targets = np.arange(n) if nodes is None else nodes
    layers: list[Layer] = []
    for step in range(2):
        rows = matrix if len(targets) == n else sparse.csr_array(matrix[targets])
        reached = rows.indices if backbone != "mlp" else targets[:0]
        sources = sort_distinct(np.concatenate([targets, reached]).astype(np.int64))
        if step and isinstance(inputs, Identity):
            sources = np.arange(n)
        part = rows if len(sources) == n else sparse.csr_array(rows[:, sources])
        part.sort_indices()
        is_symmetric = len(targets) == n and norm != "row"
        layers.insert(0, Layer(part, np.searchsorted(sources, targets), is_symmetric, device))
        targets = sources
    if len(targets) < n:
        if isinstance(inputs, Propagation):
            inputs = inputs.select_rows(targets)
        else:
            inputs = inputs[torch.from_numpy(targets).to(device)]
    return Field(inputs, (layers[0], layers[1]))


class Stack(Trials):
    """Trials of two layers.

    dropouts  S shares of the inputs (dense ones only) and of hidden values that are dropped
    roots     S: whether GraphSAGE uses a node's own features
    """

    def __init__(
        self,
        backbone: StackBackbone,
        sizes: tuple[int, int, int],
        dropouts: Sequence[float],
        roots: Sequence[bool],
        seeds: Sequence[Seed],
        masks: Seed,
        device: str = "cpu",
    ) -> None:
        super().__init__(dropouts, seeds, masks, device)
        self.backbone = backbone
        self._rooted = None
        if backbone == "sage" and not all(roots):
            self._rooted = torch.tensor(np.flatnonzero(roots), device=device)
        self._aggregated: tuple[Field, torch.Tensor] | None = None
        weights, attentions = [], []
        for num_in, num_out in pairwise(sizes):
            bound = math.sqrt(6.0 / (num_in + num_out))
            shape = (len(TERMS[backbone]), num_in, num_out)
            terms = zip(TERMS[backbone], self.make_weights(shape, bound), strict=True)
            parts = [self._select_rooted(part, term) for term, part in terms]
            weights.append(torch.nn.ParameterList(part.contiguous() for part in parts))
            if backbone == "gat":
                heads = HEADS if num_out % HEADS == 0 else 1
                bound = math.sqrt(6.0 / (1 + num_out // heads))
                shape = (2, heads, num_out // heads)
                attentions.append(self._make_parameter(shape, bound))
        self.weights: list[list[torch.nn.Parameter]] = [list(parts) for parts in weights]
        """(in, S, F, out) of each term of both layers; S: those that use the term."""
        self._parts = torch.nn.ModuleList(weights)
        self.attentions = torch.nn.ParameterList(attentions)
        """(2, heads, S, F, width): towards the source, and towards the target."""
        self.biases = torch.nn.ParameterList(self.make_bias(size) for size in sizes[1:])

    def _make_parameter(self, shape: tuple[int, int, int], bound: float) -> torch.nn.Parameter:
        return torch.nn.Parameter(self.make_weights(shape, bound).contiguous())

    def _select_rooted(self, rows: torch.Tensor, term: str) -> torch.Tensor:
        """(a, S', F, b) of (a, S, F, b): those of the settings that use the term."""
        if term != "I" or self._rooted is None:
            return rows
        return rows.index_select(1, self._rooted)

    def forward(self, field: Field) -> torch.Tensor:
        """Scores (t, S, F, C)."""
        first, last = field.layers
        if isinstance(field.inputs, Propagation):
            mixed = self._mix_sparse(field.inputs, first)
        elif self.backbone == "gat":
            mixed = self._attend(0, self._multiply(self.drop_inputs(field.inputs)), first)
        else:
            mixed = self._mix_dense(field, first)
        hidden = self.drop(torch.relu(mixed + self.biases[0]))
        products = [
            torch.einsum("tsfh,hsfc->tsfc", self._select_rooted(hidden, term), weight)
            for term, weight in zip(TERMS[self.backbone], self.weights[1], strict=True)
        ]
        scores: torch.Tensor = self._combine(1, products, last) + self.biases[1]
        return scores

    def _mix_sparse(self, inputs: Propagation, layer: Layer) -> torch.Tensor:
        """(t, S, F, h): weights first, so that narrow rows are propagated."""
        return self._combine(0, [inputs(weight) for weight in self.weights[0]], layer)

    def _mix_dense(self, field: Field, layer: Layer) -> torch.Tensor:
        """(t, S, F, h): inputs first, as they need no gradient and are equal in all folds."""
        assert isinstance(field.inputs, torch.Tensor)
        if self.training:
            aggregated = self._aggregate(self.drop_inputs(field.inputs), layer)
        else:
            if self._aggregated is None or self._aggregated[0] is not field:
                self._aggregated = field, self._aggregate(field.inputs[:, None], layer)
            aggregated = self._aggregated[1]
        return self._multiply(aggregated)

    def _aggregate(self, rows: torch.Tensor, layer: Layer) -> torch.Tensor:
        """(t, S, terms · d) of (s, S, d)."""
        return torch.cat([layer.apply(term, rows) for term in TERMS[self.backbone]], dim=2)

    def _multiply(self, rows: torch.Tensor) -> torch.Tensor:
        """(t, S, F, h) of (t, S or 1, terms · d) and the first layer's weights."""
        weight: torch.Tensor = self.weights[0][-1]
        if len(self.weights[0]) > 1:
            own: torch.Tensor = self.weights[0][0]
            if self._rooted is not None:
                own = torch.zeros_like(weight).index_copy(1, self._rooted, own)
            weight = torch.cat([own, weight])
        product: torch.Tensor = rows.transpose(0, 1) @ weight.transpose(0, 1).flatten(2)
        spread: torch.Tensor = product.transpose(0, 1).unflatten(2, weight.shape[-2:])
        return spread

    def _combine(self, number: int, products: list[torch.Tensor], layer: Layer) -> torch.Tensor:
        """(t, S, F, out) of each term's (s, S, F, out), of those settings that use it."""
        if self.backbone == "gat":
            return self._attend(number, products[0], layer)
        terms = zip(TERMS[self.backbone], products, strict=True)
        parts = [layer.apply(term, product) for term, product in terms]
        if len(parts) == 1:
            return parts[0]
        own, others = parts
        if self._rooted is None:
            return own + others
        return others.index_add(1, self._rooted, own)

    def _attend(self, number: int, product: torch.Tensor, layer: Layer) -> torch.Tensor:
        """(t, S, F, out) of (s, S, F, out), each head on its own columns."""
        towards = self.attentions[number].movedim(1, 3)
        values = product.unflatten(3, towards.shape[3:]).flatten(1, 3)
        to_source, to_target = project(values, towards.flatten(1, 3))
        mixed = layer.attention(values, to_source, layer.select_own(to_target))
        return mixed.reshape(-1, *product.shape[1:])


@dataclass(frozen=True, eq=False)
class EncoderFamily:
    """Two layers of one kind on a graph."""

    backbone: StackBackbone
    graph: Graph
    inputs: Inputs
    sizes: tuple[int, int, int]
    device: str = "cpu"

    def make_field(self, nodes: np.ndarray | None) -> Field:
        """Rows that the scores of `nodes` depend on."""
        return make_field(self.graph, self.backbone, self.inputs, nodes, self.device)

    def make(self, settings: Sequence[Setting], seeds: Sequence[Seed], masks: Seed) -> Stack:
        """Every setting with every seed, untrained."""
        dropouts, roots = [s.dropout for s in settings], [s.root for s in settings]
        return Stack(self.backbone, self.sizes, dropouts, roots, seeds, masks, self.device)

    def count_values(self, field: Field) -> int:
        """Numbers in one trial's layers on a field and in its weights."""
        columns, hidden, num_classes = self.sizes
        rows = field.layers[0].propagate.matrix.shape[1]
        return int(rows * (hidden + num_classes) + (columns + num_classes) * hidden)
