"""Graph layers on a graph whose links are kept in part, with gradients for the kept shares.

A `Block` of the encoders aggregates over a constant graph; the blocks made here aggregate over
the same pattern with one differentiable weight a link, so that the encoders serve unchanged.
"""

from __future__ import annotations

import numpy as np
import torch

from core.graph import Graph
from core.models.encoders import Block
from core.models.gps.attacker import EgoBlocks
from core.models.gps.ego import build_ego_batch
from core.models.pair_matrix import PairMatrix


class RelaxedBlock(Block):
    """x ↦ (W + I) x: what GIN aggregates, for symmetric link weights W.

    rows  (t,) the source of each row, where rows are copies of fewer sources; else None
    """

    def __init__(
        self, matrix: PairMatrix, weights: torch.Tensor, rows: torch.Tensor | None = None
    ) -> None:
        self.num_targets = matrix.num_nodes
        self.links = None
        self._own = rows
        values = torch.cat([weights, weights.new_ones(matrix.num_nodes)])
        self.aggregate = lambda x: matrix.matmul(values, x if rows is None else x[rows])


class RelaxedEgos:
    """The ego networks of `nodes` (k,) of a graph with link weights (m,) in [0, 1].

    The network of i in a graph drawn with these weights holds j if the link ij was drawn, and
    the link jk if ij, ik and jk were. The weight of jk is therefore w_ij w_ik w_jk, of j's row
    in the sum w_ij; at weights 0 and 1 this is the ego network of the drawn graph exactly.
    """

    def __init__(self, graph: Graph, nodes: np.ndarray, device: str) -> None:
        batch = build_ego_batch(graph, nodes)
        members, offsets = batch.members, batch.offsets
        n, num_rows = graph.num_nodes, len(members)
        inner = batch.adjacency.indptr
        left = np.repeat(np.arange(num_rows), np.diff(inner))
        pairs = np.stack([left, batch.adjacency.indices], axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        network = np.repeat(np.arange(len(nodes)), np.diff(offsets))
        self._matrix = PairMatrix(num_rows, pairs, device)
        self._slots = _find_slots(graph, members[pairs[:, 0]], members[pairs[:, 1]], device)
        is_center = members == nodes[network]
        other = np.where(is_center, (members + 1) % n, members)  # any pair but a loop
        self._entry = _find_slots(graph, nodes[network], other, device)
        self._is_center = torch.from_numpy(is_center).to(device)
        self._members = torch.from_numpy(members).to(device)
        self._network = torch.from_numpy(network).to(device)
        self._centers = torch.from_numpy(batch.centers).to(device)
        self._nodes = torch.from_numpy(nodes).to(device)

    def make_blocks(self, weights: torch.Tensor) -> EgoBlocks:
        """Differentiable in `weights`; for GIN layers only."""
        entry = torch.where(self._is_center, 1.0, weights[self._entry])
        matrix = self._matrix
        inner = weights[self._slots] * entry[matrix.left] * entry[matrix.right]
        count = len(self._nodes)

        def pool(h: torch.Tensor) -> torch.Tensor:
            total = h.new_zeros(count, h.shape[1])
            return total.index_add(0, self._network, entry[:, None] * h)

        return EgoBlocks(
            self._nodes,
            self._centers,
            RelaxedBlock(matrix, inner, self._members),
            RelaxedBlock(matrix, inner),
            pool,
        )


def _find_slots(graph: Graph, left: np.ndarray, right: np.ndarray, device: str) -> torch.Tensor:
    """(k,) position of each link in the graph's list; an arbitrary one where there is none."""
    codes = np.minimum(left, right) * graph.num_nodes + np.maximum(left, right)
    place = np.searchsorted(graph.edge_codes, codes)
    return torch.from_numpy(np.minimum(place, graph.num_edges - 1)).to(device)
