"""The surrogate attacker of PPGSL: a 2-layer GCN on a weighted graph and a pair head (§III-A)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from core.graph import Graph
from core.models.adam import Adam
from core.models.encoders import make_inputs, num_columns
from core.models.gae import Head
from core.models.pair_matrix import PairMatrix, compute_pair_dots
from core.models.propagation import Propagation

HIDDEN, LR, DROPOUT = (128, 64), 0.01, 0.5
BATCH = 1 << 17
"""Maximum number of links per training step; larger graphs train on a fresh sample each time."""

WINDOW, TOLERANCE = 10, 0.005


class NodeInputs:
    """Inputs of the GCN: W ↦ X W, with X scaled as in the attackers' encoders.

    Without features X is the identity: W is then an embedding table (n, 128).
    """

    def __init__(self, graph: Graph, device: str = "cpu") -> None:
        self._inputs = None if graph.features is None else make_inputs(graph, device, "standard")
        self.size = graph.num_nodes if self._inputs is None else num_columns(self._inputs)

    def project(self, weight: torch.Tensor) -> torch.Tensor:
        """(n, h) inputs times `weight` (columns, h)."""
        if self._inputs is None:
            return weight
        if isinstance(self._inputs, Propagation):
            return self._inputs(weight)
        return self._inputs @ weight  # type: ignore[operator]


class Surrogate:
    """GCN [128, 64] and a head: cosine, inner product, or an MLP on both ends.

    `fit` trains it on the weighted graph, `freeze` fixes it, and `compute_logits` is then
    differentiable in the weights of the graph.
    """

    def __init__(
        self, inputs: NodeInputs, matrix: PairMatrix, head: Head, generator: torch.Generator
    ) -> None:
        device = generator.device
        self.inputs, self.matrix, self.head = inputs, matrix, head
        self._generator = generator
        first, second = HIDDEN
        self.w1 = _glorot(inputs.size, first, generator)
        self.b1 = torch.zeros(first, device=device)
        self.w2 = _glorot(first, second, generator)
        self.b2 = torch.zeros(second, device=device)
        self.parameters = [self.w1, self.b1, self.w2, self.b2]
        if head == "mlp":
            self.w3 = _glorot(2 * second, second, generator)
            self.b3 = torch.zeros(second, device=device)
            self.w4 = _glorot(second, 1, generator)
            self.parameters += [self.w3, self.b3, self.w4]
        for parameter in self.parameters:
            parameter.requires_grad_()
        self._optimizer = Adam(self.parameters, lr=LR)
        self._projected: torch.Tensor | None = None

    def fit(self, weights: torch.Tensor, epochs: int, report: Callable[[float], None]) -> None:
        """Minimise Eq. 5 on the graph with pair weights (E,), at most `epochs` steps.

        The loss is the cross-entropy of the scores of present links with their weights, and of as
        many absent pairs with 0. Stops if the mean loss of WINDOW steps is less than a share
        TOLERANCE below that of the previous WINDOW. `report` gets the loss of each step. Further
        calls continue the training.
        """
        self._set_trainable(True)
        weights = weights.detach()
        values = self.matrix.normalize(weights)
        present = torch.nonzero(weights > 0).squeeze(1)
        if not len(present):
            return
        losses: list[float] = []
        for _ in range(epochs):
            left, right, target = self._draw_pairs(weights, present)
            self._optimizer.zero_grad()
            z = self._embed(values, self.inputs.project(self.w1), DROPOUT)
            logits = self._score(z, left, right)
            loss = functional.binary_cross_entropy_with_logits(logits, target)
            loss.backward()
            self._optimizer.step()
            losses.append(float(loss.detach()))
            report(losses[-1])
            if len(losses) >= 3 * WINDOW and len(losses) % WINDOW == 0:
                previous, latest = sum(losses[-2 * WINDOW : -WINDOW]), sum(losses[-WINDOW:])
                if latest > (1.0 - TOLERANCE) * previous:
                    break

    def freeze(self) -> None:
        """Fix the parameters; X W of the first layer is then computed once, not per step."""
        self._set_trainable(False)
        self._projected = self.inputs.project(self.w1)

    def compute_logits(
        self, weights: torch.Tensor, left: torch.Tensor, right: torch.Tensor
    ) -> torch.Tensor:
        """(k,) similarity of each pair on the graph with pair weights (E,).

        Its sigmoid is the predicted probability of a link. Differentiable in `weights`.
        """
        projected = self.inputs.project(self.w1) if self._projected is None else self._projected
        z = self._embed(self.matrix.normalize(weights), projected)
        return self._score(z, left, right)

    def _embed(
        self, values: torch.Tensor, projected: torch.Tensor, dropout: float = 0.0
    ) -> torch.Tensor:
        hidden = torch.relu(self.matrix.matmul(values, projected) + self.b1)
        if dropout:
            noise = torch.rand(hidden.shape, generator=self._generator, device=hidden.device)
            hidden = hidden * noise.ge_(dropout)
        return self.matrix.matmul(values, hidden @ (self.w2 / (1.0 - dropout))) + self.b2

    def _score(self, z: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        if self.head == "cosine":
            return compute_pair_dots(functional.normalize(z), left, right)
        if self.head == "inner":
            return compute_pair_dots(z, left, right)
        i, j = z.index_select(0, left), z.index_select(0, right)
        first, second = (
            torch.relu(torch.cat(ends, dim=1) @ self.w3 + self.b3) @ self.w4
            for ends in ((i, j), (j, i))
        )
        return (first + second).squeeze(1) / 2

    def _draw_pairs(
        self, weights: torch.Tensor, present: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Ends and targets (2k,) of k present links and k pairs drawn uniformly.

        A uniform pair that happens to be in the graph keeps its weight as target.
        """
        matrix, generator = self.matrix, self._generator
        if len(present) > BATCH:
            chosen = torch.randint(
                len(present), (BATCH,), generator=generator, device=present.device
            )
            present = present.index_select(0, chosen)
        count, n = len(present), matrix.num_nodes
        device = present.device
        start = torch.randint(n, (count,), generator=generator, device=device)
        shift = torch.randint(1, n, (count,), generator=generator, device=device)
        end = (start + shift) % n
        return (
            torch.cat([matrix.left.index_select(0, present), start]),
            torch.cat([matrix.right.index_select(0, present), end]),
            torch.cat([weights.index_select(0, present), matrix.look_up(weights, start, end)]),
        )

    def _set_trainable(self, trainable: bool) -> None:
        self._projected = None
        for parameter in self.parameters:
            parameter.requires_grad_(trainable)


def _glorot(rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
    limit = (6.0 / (rows + columns)) ** 0.5
    weight = torch.rand(rows, columns, generator=generator, device=generator.device)
    return weight.mul_(2 * limit).sub_(limit)
