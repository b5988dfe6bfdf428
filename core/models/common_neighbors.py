"""A pair network on both ends, their common neighbours, and pair features."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from torch.nn.functional import normalize

from core.context import Context
from core.graph import Graph
from core.models.adam import Adam
from core.models.encoders import Block, Dropout, Inputs, Linear, num_columns
from core.models.propagation import Propagation
from core.seeding import Seed

HIDDEN, OUT, PAIR_HIDDEN = 64, 32, 64
LENGTH = 3.0
"""Norm of an embedding, so that initial products of two are of order one."""

DROPOUT, PAIR_DROPOUT = 0.5, 0.3
LR, WEIGHT_DECAY = 0.01, 3e-4
PATIENCE = 6


@dataclass(frozen=True, eq=False)
class PairBatch:
    """k pairs with their graph.

    block    aggregation structure of the encoder
    ends     (2, k) int64;  columns  (k, c) float32 pair features
    common   x (n, d) ↦ (k, d), the sum over each pair's common neighbours
    """

    block: Block
    ends: torch.Tensor
    columns: torch.Tensor
    common: Propagation

    @staticmethod
    def of_pairs(
        graph: Graph, pairs: np.ndarray, columns: np.ndarray, device: str, block: Block
    ) -> PairBatch:
        """Batch of `pairs` (k, 2) with `columns` (k, c) and the graph's block."""
        links = sparse.csr_array(graph.adjacency, dtype=np.float32)
        common = sparse.csr_array(links[pairs[:, 0]].multiply(links[pairs[:, 1]]))
        return PairBatch(
            block,
            torch.from_numpy(np.ascontiguousarray(pairs.T)).to(device),
            torch.from_numpy(columns.astype(np.float32)).to(device),
            Propagation(common, False, device),
        )


class PairNetwork(torch.nn.Module):
    """Logit from h_i∘h_j, o_i∘o_j, o_i∘h_j + o_j∘h_i, Σ_u h_u over common neighbours u, columns.

    h is a two-layer GCN's embedding of a node, o an embedding by the same first layer without
    neighbours. The columns also enter the logit linearly. Symmetric in the ends.
    """

    def __init__(self, num_inputs: int, num_columns: int, seed: Seed) -> None:
        super().__init__()
        generator = seed.torch("init")
        self.first = Linear(num_inputs, HIDDEN, generator)
        self.second = Linear(HIDDEN, OUT, generator)
        self.second_alone = Linear(HIDDEN, OUT, generator)
        self.pair_hidden = Linear(num_columns + 4 * OUT, PAIR_HIDDEN, generator)
        self.last = Linear(PAIR_HIDDEN, 1, generator)
        self.skip = Linear(num_columns, 1, generator)
        self.dropout = Dropout(DROPOUT, seed.child("nodes"))
        self.pair_dropout = Dropout(PAIR_DROPOUT, seed.child("pairs"))

    def embed(self, inputs: Inputs, block: Block) -> tuple[torch.Tensor, torch.Tensor]:
        """(n, out) embeddings h with neighbours, and o without."""
        projected = self.first(inputs)
        hidden = self.dropout(torch.relu(block.aggregate(projected)))
        embedded = block.aggregate(self.second(hidden))
        own = self.second_alone(self.dropout(torch.relu(projected)))
        return LENGTH * normalize(embedded), LENGTH * normalize(own)

    def forward(
        self, embedded: tuple[torch.Tensor, torch.Tensor], pairs: PairBatch
    ) -> torch.Tensor:
        """(k,) logits of the pairs, from the embeddings of all nodes."""
        h, o = embedded
        h_i, h_j = (h.index_select(0, end) for end in pairs.ends)
        o_i, o_j = (o.index_select(0, end) for end in pairs.ends)
        parts = [pairs.columns, h_i * h_j, o_i * o_j, o_i * h_j + o_j * h_i, pairs.common(h)]
        hidden = torch.relu(self.pair_hidden(self.pair_dropout(torch.cat(parts, 1))))
        logits: torch.Tensor = self.last(self.pair_dropout(hidden)) + self.skip(pairs.columns)
        return logits.squeeze(1)


def fit_pair_network(
    inputs: Inputs,
    batches: list[tuple[PairBatch, torch.Tensor]],
    context: Context,
    *,
    epochs: int,
    share_done: tuple[int, int] = (0, 1),
) -> PairNetwork:
    """Network of the epoch with the lowest loss on the first batch; one step per other batch.

    batches     pairs with their truth (k,) float32, at least two; the first is held out
    share_done  (number of this network, how many will be trained), for the progress
    """
    network = PairNetwork(num_columns(inputs), batches[0][0].columns.shape[1], context.seed)
    network = network.to(batches[0][1].device)
    optimizer = Adam(network.parameters(), lr=LR, weight_decay=WEIGHT_DECAY)
    rng, (number, count) = context.rng("order"), share_done
    best, best_loss, best_epoch = deepcopy(network.state_dict()), float("inf"), 0
    for epoch in range(epochs):
        network.train()
        for index in rng.permutation(len(batches) - 1) + 1:
            pairs, truth = batches[index]
            optimizer.zero_grad()
            loss = cross_entropy(network(network.embed(inputs, pairs.block), pairs), truth)
            loss.backward()
            optimizer.step()
            context.progress.check()
        network.eval()
        with torch.no_grad():
            pairs, truth = batches[0]
            logits = network(network.embed(inputs, pairs.block), pairs)
            held_out = float(cross_entropy(logits, truth))
        context.progress.record("pair_network_loss", epoch, held_out)
        context.progress.update(number * epochs + epoch + 1, count * epochs, "pair network")
        if held_out < best_loss:
            best, best_loss, best_epoch = deepcopy(network.state_dict()), held_out, epoch
        elif epoch - best_epoch >= PATIENCE:
            break
    network.load_state_dict(best)
    network.eval()
    return network
