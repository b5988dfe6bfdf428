"""Graph auto-encoder: a GCN whose embeddings reconstruct the links (Kipf and Welling, 2016).

Two GCN layers [128, 64] and a prediction head, trained on the release's links against fresh
non-links every epoch: the attacker that PPGSL (§III-B, §V-A) uses as surrogate and as GAE.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from torch.nn.functional import normalize

from core.algorithms.pairs import draw_non_links
from core.context import Context
from core.graph import Graph
from core.models.encoders import Block, Encoder, Linear, make_inputs, num_columns
from core.models.pair_matrix import compute_pair_dots
from core.models.training import train

Head = Literal["cosine", "inner", "mlp"]

HIDDEN, OUT, LR, DROPOUT = 128, 64, 0.01, 0.5
BATCH = 131_072
"""Maximum number of links per epoch; larger releases train on a fresh sample each epoch."""
SCORED_AT_ONCE = 65_536


class PairHead(torch.nn.Module):
    """Logit of a link from the two ends' embeddings (PPGSL §V-F): symmetric in the ends.

    cosine  cos(z_i, z_j), at most 1, which limits how far training separates pairs
    inner   z_i · z_j
    mlp     a perceptron with one hidden layer on [z_i, z_j], mean of both orders
    """

    def __init__(self, kind: Head, generator: torch.Generator) -> None:
        super().__init__()
        self.kind = kind
        if kind == "mlp":
            self.first = Linear(2 * OUT, OUT, generator)
            self.last = Linear(OUT, 1, generator)

    def forward(self, vectors: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """(k,) logits of the pairs `ends` (2, k), from all embeddings (n, 64)."""
        left, right = ends
        if self.kind == "cosine":  # once per node, not per pair
            return compute_pair_dots(normalize(vectors), left, right)
        if self.kind == "inner":
            return compute_pair_dots(vectors, left, right)
        left, right = vectors.index_select(0, left), vectors.index_select(0, right)
        orders = torch.cat([torch.cat([left, right], 1), torch.cat([right, left], 1)])
        scores: torch.Tensor = self.last(torch.relu(self.first(orders))).view(2, -1).mean(dim=0)
        return scores


class GraphAutoEncoder:
    """A trained auto-encoder: `vectors` (n, 64) float32 on the CPU, and scores of pairs."""

    def __init__(self, vectors: torch.Tensor, head: PairHead) -> None:
        self._vectors, self._head = vectors, head

    @property
    def vectors(self) -> np.ndarray:
        return self._vectors.cpu().numpy()

    def score(self, pairs: np.ndarray) -> np.ndarray:
        """(k,) float64 logits of (k, 2) pairs."""
        scores = [np.zeros(0)]
        with torch.no_grad():
            for part in torch.from_numpy(pairs).split(SCORED_AT_ONCE):
                ends = part.T.contiguous().to(self._vectors.device)
                scores.append(self._head(self._vectors, ends).double().cpu().numpy())
        return np.concatenate(scores)


def share_gae(
    graph: Graph, context: Context, head: Head = "cosine", epochs: int = 100
) -> GraphAutoEncoder:
    """One auto-encoder per release, seed and settings, shared between attacks."""
    return context.share(
        ("gae", graph.content_hash, head, epochs),
        lambda shared: compute_gae(graph, shared, head=head, epochs=epochs),
    )


def compute_gae(
    graph: Graph, context: Context, *, head: Head = "cosine", epochs: int = 100
) -> GraphAutoEncoder:
    """Train on all links of `graph`; weights act in propagation and weigh the links' loss.

    Without features every node gets a free row. A graph without links returns the
    untrained encoder. O(epochs · m) time; deterministic under `context.seed` on one device.
    """
    device = context.device.torch_name
    inputs = make_inputs(graph, device, "standard")
    block = Block.of_graph(graph, "gcn", device)
    encoder = Encoder(
        "gcn", [num_columns(inputs), HIDDEN, OUT], context.seed.child("encoder"), DROPOUT
    )
    encoder = encoder.to(device)
    scorer = PairHead(head, context.seed.torch("head")).to(device)
    rng = context.rng("pairs")

    def compute_loss(_epoch: int) -> torch.Tensor:
        vectors = encoder(inputs, block)
        links, weights = _draw_links(graph, rng)
        absent = draw_non_links(graph, len(links), rng)
        ends = torch.from_numpy(np.concatenate([links, absent]).T.copy()).to(device)
        logits = scorer(vectors, ends)
        targets = torch.zeros_like(logits)
        targets[: len(links)] = 1.0
        importance = torch.full_like(logits, 0.5 / max(len(absent), 1))
        importance[: len(links)] = 0.5 * torch.from_numpy(weights).to(device)
        return cross_entropy(logits, targets, importance, reduction="sum")

    context.progress.check()
    if graph.num_edges:
        train(
            [*encoder.parameters(), *scorer.parameters()],
            compute_loss,
            epochs=epochs,
            lr=LR,
            progress=context.progress,
            message="graph auto-encoder",
            curve="gae_loss",
        )
    encoder.eval()
    with torch.no_grad():
        return GraphAutoEncoder(encoder(inputs, block), scorer)


def _draw_links(graph: Graph, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Links (k, 2) of one epoch and their shares (k,) float32 of the loss, which sum to one."""
    chosen: np.ndarray | slice = slice(None)
    if graph.num_edges > BATCH:
        chosen = rng.integers(0, graph.num_edges, BATCH)
    links = graph.edges[chosen]
    weights = graph.link_weights[chosen]
    return links, (weights / max(weights.sum(), 1e-12)).astype(np.float32)
