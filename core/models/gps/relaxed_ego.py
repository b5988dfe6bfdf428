"""Graph layers on relaxed graphs, with gradients for the link weights.

A `Block` of the encoders aggregates over a constant graph; the blocks made here aggregate over the
same pattern with one differentiable weight per link, normalised as the backbone requires, so that
the encoders are used unchanged. At weights of 0 and 1 they are the blocks of the sampled graph.
"""

from __future__ import annotations

import numpy as np
import torch

from core.arrays import pair_codes
from core.graph import Graph
from core.models.encoders import NORMS, Backbone, Block
from core.models.gps.attacker import EgoBlocks
from core.models.gps.ego import build_ego_batch
from core.models.pair_matrix import PairMatrix


class RelaxedBlock(Block):
    """Aggregation structure of a `backbone` layer for symmetric link weights W (E,) ≥ 0.

    gcn   D^-½ (W + I) D^-½ with D the row sums of W + I;  gin  W + I
    sage  D⁻¹ W;  gat  the links with their weights, and loops of weight 1

    rows   (t,) the source of each row, if rows are copies of fewer sources; else None
    floor  lower bound on the divisors of means, the smallest positive link weight: bounds the
           gradients of nodes with almost no links
    """

    def __init__(
        self,
        matrix: PairMatrix,
        weights: torch.Tensor,
        backbone: Backbone,
        rows: torch.Tensor | None = None,
        floor: float = 1.0,
    ) -> None:
        self.num_targets = count = matrix.num_nodes
        self.links = None
        self._own = rows
        norm, self_loops = NORMS[backbone]
        if backbone == "gat":
            nodes = torch.arange(count, device=weights.device)
            source = torch.cat([matrix.right, matrix.left, nodes])
            self.links = (
                torch.cat([matrix.left, matrix.right, nodes]),
                source if rows is None else rows[source],
                torch.cat([weights, weights, weights.new_ones(count)]),
            )
        loops = weights.new_ones(count) if self_loops else weights.new_zeros(count)
        values = matrix.normalize(weights) if norm == "symmetric" else torch.cat([weights, loops])

        def aggregate(x: torch.Tensor) -> torch.Tensor:
            total = matrix.matmul(values, x if rows is None else x[rows])
            if norm != "row":
                return total
            return total / matrix.sum_at_ends(weights).clamp_min(floor)[:, None]

        self.aggregate = aggregate


class RelaxedEgos:
    """The ego networks of `nodes` (k,) of a graph whose links are kept with shares (m,).

    The network of i in a graph drawn with these shares s holds j if the link ij was drawn, and
    the link jk between two neighbours if ij, ik and jk were. Its share is therefore
    s_ij s_ik s_jk, that of ij itself s_ij, and j's row counts s_ij in the sum; at shares 0 and 1
    this is the ego network of the drawn graph exactly. Links keep the graph's weights.
    """

    def __init__(self, graph: Graph, nodes: np.ndarray, slots: np.ndarray, device: str) -> None:
        """slots: `find_entry_slots` of the graph."""
        batch = build_ego_batch(graph, nodes, slots)
        members, inner, sizes = batch.members, batch.adjacency, np.diff(batch.offsets)
        row = np.repeat(np.arange(len(members)), np.diff(inner.indptr))
        is_upper = row < inner.indices
        left, right = row[is_upper], inner.indices[is_upper]
        is_center = members == np.repeat(nodes, sizes)
        starts, ends = graph.adjacency.indptr[nodes], graph.adjacency.indptr[nodes + 1]
        entry = np.zeros(len(members), np.int64)  # that of a centre is not read
        entry[~is_center] = np.concatenate([slots[i:j] for i, j in zip(starts, ends, strict=True)])
        self._matrix = PairMatrix(len(members), np.stack([left, right], axis=1), device)
        at_center = is_center[left] | is_center[right]
        self._slots = torch.from_numpy(inner.data[is_upper]).to(device)
        self._entry = torch.from_numpy(entry).to(device)
        self._is_center = torch.from_numpy(is_center).to(device)
        self._at_center = torch.from_numpy(at_center).to(device)
        self._members = torch.from_numpy(members).to(device)
        self._network = torch.from_numpy(np.repeat(np.arange(len(nodes)), sizes)).to(device)
        self._centers = torch.from_numpy(batch.centers).to(device)
        self._nodes = torch.from_numpy(nodes).to(device)
        self._strength, self._floor = link_strengths(graph, device)

    def make_blocks(self, kept: torch.Tensor, backbone: Backbone) -> EgoBlocks:
        """Differentiable in the shares `kept` (m,)."""
        entry = torch.where(self._is_center, 1.0, kept[self._entry])
        matrix = self._matrix
        end_shares = torch.where(self._at_center, 1.0, entry[matrix.left] * entry[matrix.right])
        inner = (self._strength * kept)[self._slots] * end_shares
        count = len(self._nodes)

        def pool(h: torch.Tensor) -> torch.Tensor:
            total = h.new_zeros(count, h.shape[1])
            return total.index_add(0, self._network, entry[:, None] * h)

        return EgoBlocks(
            self._nodes,
            self._centers,
            RelaxedBlock(matrix, inner, backbone, self._members, self._floor),
            RelaxedBlock(matrix, inner, backbone, None, self._floor),
            pool,
        )


def link_strengths(graph: Graph, device: str) -> tuple[torch.Tensor, float]:
    """(m,) float32 weights of the links, 1 if it has none, and the smallest positive one."""
    weights = graph.link_weights
    present = weights[weights > 0]
    least = float(present.min()) if len(present) else 1.0
    return torch.from_numpy(weights.astype(np.float32)).to(device), least


def find_entry_slots(graph: Graph) -> np.ndarray:
    """(nnz,) int64 position in the graph's list of the link of each entry of its adjacency."""
    rows, columns = graph.adjacency.nonzero()
    codes = pair_codes(np.stack([rows, columns], axis=1), graph.num_nodes)
    return np.searchsorted(graph.edge_codes, codes)
