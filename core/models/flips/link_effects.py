"""Effect of removing links on a trained GCN's prediction of a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from core.context import Context
from core.graph import Graph
from core.models.encoders import Block, Encoder, make_inputs, num_columns
from core.models.gps.relaxed_ego import RelaxedBlock
from core.models.pair_matrix import PairMatrix
from core.models.training import train
from core.node_column import MISSING

HIDDEN, EPOCHS, LR = 64, 200, 0.01
DROPOUT, WEIGHT_DECAY = 0.5, 5e-4

SHORTLIST = 16
"""Number of links proposed by the first-order estimate and then evaluated."""


@dataclass(frozen=True)
class LinkEffect:
    """link: index in the graph's list; both numbers are changes of the log-odds of the node's
    class without the link: the first-order estimate, and the GCNs' actual change."""

    link: int
    estimate: float
    change: float


class LinkEffects:
    """Log-odds of a node's class as a function of the graph's link weights.

    A mean over GCNs (Kipf and Welling 2017), each trained on its own set of known nodes, with the
    normalisation D^-½ (A + I) D^-½ following the weights. Log-odds are used because probabilities
    of a confident attacker saturate.
    """

    def __init__(self, graph: Graph, num_classes: int, context: Context) -> None:
        device = context.device.torch_name
        self._graph, self._num_classes, self._context = graph, num_classes, context
        self._inputs = make_inputs(graph, device, "standard")
        self._matrix = PairMatrix(graph.num_nodes, graph.edges, device)
        self.weights = torch.from_numpy(graph.link_weights.astype(np.float32)).to(device)
        self._encoders: list[Encoder] = []
        self._block = Block.of_graph(graph, "gcn", device)

    def train(self, observed: np.ndarray, context: Context) -> None:
        """Add a GCN trained on `observed` (n,): codes of the known nodes, −1 elsewhere."""
        sizes = [num_columns(self._inputs), HIDDEN, self._num_classes]
        device = context.device.torch_name
        encoder = Encoder("gcn", sizes, context.seed.child("final"), DROPOUT).to(device)
        known = torch.from_numpy(np.flatnonzero(observed != MISSING)).to(device)
        truth = torch.from_numpy(observed[observed != MISSING]).to(device)

        def compute_loss(_epoch: int) -> torch.Tensor:
            scores: torch.Tensor = encoder(encoder.dropout(self._inputs), self._block)
            return cross_entropy(scores[known], truth)

        train(
            encoder.train().parameters(),
            compute_loss,
            epochs=EPOCHS,
            lr=LR,
            weight_decay=WEIGHT_DECAY,
            decoupled=True,
            progress=context.progress,
            curve="loss",
        )
        self._encoders.append(encoder.eval().requires_grad_(False))

    def compute_log_odds(self, node: int, code: int, weights: torch.Tensor) -> torch.Tensor:
        """Scalar, differentiable in `weights` (m,)."""
        block = RelaxedBlock(self._matrix, weights, "gcn")
        total = weights.new_zeros(())
        for encoder in self._encoders:
            logits = encoder(self._inputs, block)[node]
            others = torch.cat([logits[:code], logits[code + 1 :]])
            total = total + logits[code] - torch.logsumexp(others, 0)
        return total / len(self._encoders)

    def estimate_removals(self, node: int, code: int, removed: Sequence[int] = ()) -> np.ndarray:
        """(m,) first-order change of the log-odds without each link: −w ∂/∂w.

        0 for links that are `removed` already and for links outside the node's receptive field.
        """
        weights = self._remove_links(removed).requires_grad_()
        value = self.compute_log_odds(node, code, weights)
        (gradient,) = torch.autograd.grad(value, weights)
        return (-weights * gradient).detach().cpu().numpy().astype(np.float64)

    def compute_removal(self, node: int, code: int, removed: Sequence[int]) -> float:
        """Log-odds without the `removed` links."""
        with torch.no_grad():
            return float(self.compute_log_odds(node, code, self._remove_links(removed)))

    def choose_links(self, node: int, code: int, count: int) -> list[LinkEffect]:
        """Greedily up to `count` links, each lowering the log-odds most.

        The first-order estimate proposes a few, which the GCNs evaluate. Ties go to the node's own
        links. Fewer if no further removal lowers the log-odds.
        """
        chosen: list[LinkEffect] = []
        removed: list[int] = []
        current = self.compute_removal(node, code, removed)
        is_far = ~(self._graph.edges == node).any(axis=1)
        for _ in range(count):
            estimates = self.estimate_removals(node, code, removed)
            order = np.lexsort((is_far, estimates))[:SHORTLIST]
            proposed = [int(link) for link in order if estimates[link] < 0]
            values = []
            for link in proposed:
                self._context.progress.check()
                values.append(self.compute_removal(node, code, [*removed, link]))
            if not values or min(values) >= current:
                break
            best = int(np.argmin(values))
            link = proposed[best]
            chosen.append(LinkEffect(link, float(estimates[link]), values[best] - current))
            removed.append(link)
            current = values[best]
        return chosen

    def _remove_links(self, links: Sequence[int]) -> torch.Tensor:
        weights = self.weights.clone()
        weights[list(links)] = 0.0
        return weights
