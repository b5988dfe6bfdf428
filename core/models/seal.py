"""SEAL (Zhang and Chen, NeurIPS 2018): a DGCNN learns from enclosing subgraphs which pairs are
links."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy import sparse
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from core.algorithms.pairs import draw_training_pairs
from core.arrays import decode_pairs, pair_codes
from core.context import Context
from core.graph import Graph
from core.models.adam import Adam
from core.models.enclosing import MAX_LABEL, Subgraphs, extract_subgraphs
from core.models.encoders import Dropout, Linear
from core.models.propagation import Propagation
from core.seeding import Seed

BATCH = 64
SCORED_AT_ONCE = 256
VALIDATION = 0.1
LR = 5e-3

CHANNELS = 32
LAYERS = 3
TOTAL = LAYERS * CHANNELS + 1
MIN_KEPT = 10
"""The second 1-d convolution (width 5 after pooling by 2) needs ten nodes."""


class Dgcnn(torch.nn.Module):
    """Graph convolutions, sort pooling and 1-d convolutions (Zhang et al., AAAI 2018).

    Logit of each subgraph of a batch, from its links and its nodes' labels only.

    kept  nodes per subgraph after sort pooling; smaller subgraphs are padded by zeros
    """

    def __init__(self, num_labels: int, kept: int, seed: Seed) -> None:
        super().__init__()
        generator = seed.torch("init")
        self.kept = max(kept, MIN_KEPT)
        # One-hot labels times a weight matrix are its rows.
        self.embed = Linear(num_labels, CHANNELS, generator, bias=False).weight
        self.convolutions = torch.nn.ModuleList(
            [Linear(CHANNELS, CHANNELS, generator) for _ in range(LAYERS - 1)]
            + [Linear(CHANNELS, 1, generator)]
        )
        self.per_node = Linear(TOTAL, 16, generator)
        self.across = Linear(16 * 5, 32, generator)
        self.dense = Linear(32 * (self.kept // 2 - 4), 128, generator)
        self.last = Linear(128, 1, generator)
        self.dropout = Dropout(0.5, seed)

    def forward(
        self, matrix: sparse.csr_array, labels: np.ndarray, sizes: np.ndarray
    ) -> torch.Tensor:
        """(b,) logits of b subgraphs joined block-diagonally (`Subgraphs.join`)."""
        device = str(self.embed.device)
        propagate = Propagation(matrix, True, device)
        degrees = torch.from_numpy(np.asarray(matrix.sum(axis=1)).ravel() + 1.0).to(self.embed)

        def mix(x: torch.Tensor) -> torch.Tensor:  # D̃⁻¹ (A + I) x
            return (propagate(x) + x) / degrees[:, None]

        # (A + I) (Z W) as ((A + I) Z) W: few labels Z occur, and their means need no gradient.
        used, places = np.unique(labels, return_inverse=True)
        one_hot = torch.nn.functional.one_hot(torch.from_numpy(places), len(used)).to(self.embed)
        h = torch.tanh(mix(one_hot) @ self.embed[torch.from_numpy(used.astype(np.int64))])
        layers = [h]
        for convolution in self.convolutions:
            h = torch.tanh(mix(convolution(h)))
            layers.append(h)
        x = torch.relu(self.per_node(self._pool(torch.cat(layers, dim=1), sizes)))
        x = x.view(len(sizes), self.kept, -1).transpose(1, 2)
        x = torch.nn.functional.max_pool1d(x, 2)
        # A convolution of width 5 as one matrix product over its (batch · place, 16 · 5) windows.
        windows = x.unfold(2, 5, 1).permute(0, 2, 1, 3).flatten(2).flatten(0, 1)
        x = torch.relu(self.across(windows)).view(len(sizes), -1)
        scores: torch.Tensor = self.last(self.dropout(torch.relu(self.dense(x)))).squeeze(1)
        return scores

    def _pool(self, h: torch.Tensor, sizes: np.ndarray) -> torch.Tensor:
        """(b · kept, TOTAL): each subgraph's first nodes by descending last channel."""
        counts = torch.from_numpy(sizes).to(h.device)
        owner = torch.repeat_interleave(torch.arange(len(sizes), device=h.device), counts)
        by_value = torch.argsort(h[:, -1].detach(), descending=True, stable=True)
        order = by_value[torch.argsort(owner[by_value], stable=True)]
        rank = torch.arange(len(h), device=h.device) - (counts.cumsum(0) - counts)[owner]
        is_kept = rank < self.kept
        place = owner[is_kept] * self.kept + rank[is_kept]
        pooled = h.new_zeros(len(sizes) * self.kept, h.shape[1])
        return pooled.index_copy(0, place, h.index_select(0, order[is_kept]))


@dataclass(frozen=True, eq=False)
class SealModel:
    """A trained network with its subgraph extraction; without one every pair scores 0.

    seed  for sampling large neighbourhoods, so that a pair's subgraph is always the same
    """

    graph: Graph
    network: Dgcnn | None
    seed: Seed
    hops: int
    max_nodes: int

    def score(self, pairs: np.ndarray, context: Context) -> np.ndarray:
        """(k,) float64 logits of (k, 2) pairs, independent of which others are scored."""
        if self.network is None:
            return np.zeros(len(pairs))
        # Distinct pairs in sorted order, so that a score depends on its pair only.
        n = self.graph.num_nodes
        codes, places = np.unique(pair_codes(pairs, n), return_inverse=True)
        distinct = decode_pairs(codes, n)
        scores = [np.zeros(0)]
        for start in range(0, len(distinct), SCORED_AT_ONCE):
            part = distinct[start : start + SCORED_AT_ONCE]
            targets = self.extract(part, context)
            scores.append(_predict(self.network, targets, np.arange(len(targets))))
        return np.asarray(np.concatenate(scores)[places])

    def extract(self, pairs: np.ndarray, context: Context) -> Subgraphs:
        """Enclosing subgraphs of (k, 2) pairs."""
        context = replace(context, seed=self.seed)
        return extract_subgraphs(
            self.graph.adjacency, pairs, context, hops=self.hops, max_nodes=self.max_nodes
        )


def fit_seal(
    graph: Graph,
    context: Context,
    *,
    hops: int = 2,
    max_nodes: int = 100,
    max_pairs: int = 10_000,
    epochs: int = 5,
) -> SealModel:
    """Train on at most `max_pairs` pairs, half of them links of the release without their target
    link; a tenth of them selects the epoch. The learning rate falls linearly to 0. Node features
    are not used.

    Untrained, without a network, if the release has no link or no non-link.
    """
    untrained = SealModel(graph, None, context.seed, hops, max_nodes)
    links, absent = draw_training_pairs(graph, max_pairs // 2, context.rng("pairs"))
    if len(links) < 2 or len(absent) < 2:
        return untrained
    subgraphs = untrained.extract(np.concatenate([links, absent]), context)
    truth = np.arange(len(subgraphs)) < len(links)
    return replace(untrained, network=_fit(subgraphs, truth, context, epochs))


def _fit(subgraphs: Subgraphs, truth: np.ndarray, context: Context, epochs: int) -> Dgcnn:
    """The model of the epoch with the least loss on the validation pairs."""
    kept = int(np.quantile(subgraphs.sizes, 0.4))
    model = Dgcnn(MAX_LABEL + 1, kept, context.seed.child("dgcnn"))
    model = model.to(context.device.torch_name)
    rng = context.rng("batches")
    order = rng.permutation(len(truth))
    held_out, training = np.split(order, [max(1, round(VALIDATION * len(order)))])
    optimizer = Adam(model.parameters(), lr=LR)
    best, best_loss = deepcopy(model.state_dict()), float("inf")
    batches = int(np.ceil(len(training) / BATCH))
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for step, batch in enumerate(np.array_split(rng.permutation(training), batches)):
            optimizer.lr = LR * (1.0 - (epoch * batches + step) / (epochs * batches))
            optimizer.zero_grad()
            logits = model(*subgraphs.join(batch))
            loss = cross_entropy(logits, torch.from_numpy(truth[batch]).to(logits))
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(batch)
            context.progress.update(epoch * batches + step + 1, epochs * batches, "SEAL")
        context.progress.record("seal_loss", epoch, total / len(training))
        logits = torch.from_numpy(_predict(model, subgraphs, held_out))
        held_out_loss = float(cross_entropy(logits, torch.from_numpy(truth[held_out]).to(logits)))
        context.progress.record("seal_validation_loss", epoch, held_out_loss)
        if held_out_loss < best_loss:
            best, best_loss = deepcopy(model.state_dict()), held_out_loss
    model.load_state_dict(best)
    return model


def _predict(model: Dgcnn, subgraphs: Subgraphs, chosen: np.ndarray) -> np.ndarray:
    """(len(chosen),) float64 logits."""
    model.eval()
    scores = []
    with torch.no_grad():
        for start in range(0, len(chosen), SCORED_AT_ONCE):
            batch = subgraphs.join(chosen[start : start + SCORED_AT_ONCE])
            scores.append(model(*batch).double().cpu().numpy())
    return np.concatenate(scores)
