"""DGCNN: graph convolutions, sort pooling and 1-d convolutions (Zhang et al., AAAI 2018)."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from core.models.encoders import Dropout, Linear
from core.models.propagation import Propagation
from core.seeding import Seed

CHANNELS = 32
LAYERS = 3
TOTAL = LAYERS * CHANNELS + 1
MIN_KEPT = 10
"""The second 1-d convolution (width 5 after pooling by 2) needs ten nodes."""


class Dgcnn(torch.nn.Module):
    """Logit of each subgraph of a batch, from its links and its nodes' labels only.

    kept  nodes per subgraph that sort pooling passes on; smaller subgraphs are padded by zeros
    """

    def __init__(self, num_labels: int, kept: int, seed: Seed, dropout: float = 0.5) -> None:
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
        self.dropout = Dropout(dropout, seed)

    def forward(
        self, matrix: sparse.csr_array, labels: np.ndarray, sizes: np.ndarray
    ) -> torch.Tensor:
        """(b,) logits of b subgraphs joined block-diagonally (`Subgraphs.join`)."""
        device = str(self.embed.device)
        propagate = Propagation(matrix, True, device)
        degrees = torch.from_numpy(np.asarray(matrix.sum(axis=1)).ravel() + 1.0).to(self.embed)

        def mix(x: torch.Tensor) -> torch.Tensor:  # D̃⁻¹ (A + I) x
            return (propagate(x) + x) / degrees[:, None]

        h = torch.tanh(mix(self.embed[torch.from_numpy(labels.astype(np.int64)).to(device)]))
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
        """(b · kept, TOTAL): each subgraph's first nodes in falling order of the last channel."""
        counts = torch.from_numpy(sizes).to(h.device)
        owner = torch.repeat_interleave(torch.arange(len(sizes), device=h.device), counts)
        by_value = torch.argsort(h[:, -1].detach(), descending=True, stable=True)
        order = by_value[torch.argsort(owner[by_value], stable=True)]
        rank = torch.arange(len(h), device=h.device) - (counts.cumsum(0) - counts)[owner]
        is_kept = rank < self.kept
        place = owner[is_kept] * self.kept + rank[is_kept]
        pooled = h.new_zeros(len(sizes) * self.kept, h.shape[1])
        return pooled.index_copy(0, place, h[order[is_kept]])
