"""Class scores of one node by 2-layer GCNs under every flip at it, exactly.

Hidden states of nodes around v change by what a flip of (v, u) does to the degrees of v and u.
At a neighbour j of v they depend on u only where u is linked to j as well, so that one sum over
N(v) serves all other u, and all flips are scored by a few operations on arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import sparse

from core.graph import Graph
from core.models.flips.selection import FlippedGraph

Features: TypeAlias = np.ndarray | sparse.csr_array


@dataclass(frozen=True, eq=False)
class GcnWeights:
    """Â relu(Â X W₁ + b₁) W₂ + b₂; several GCNs side by side where W₂ is block-diagonal.

    first (d, h), first_bias (h,), second (h, k), second_bias (k,), all float64
    """

    first: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    second_bias: np.ndarray

    @staticmethod
    def join(parts: list[GcnWeights]) -> GcnWeights:
        """Several GCNs side by side as one."""
        return GcnWeights(
            np.concatenate([part.first for part in parts], axis=1),
            np.concatenate([part.first_bias for part in parts]),
            sparse.block_diag([part.second for part in parts]).toarray(),
            np.concatenate([part.second_bias for part in parts]),
        )


class FlippedGcn(FlippedGraph):
    """A graph that links and features are flipped in, with GCN scores (n, k) at hand."""

    def __init__(self, graph: Graph, features: Features, weights: GcnWeights) -> None:
        super().__init__(graph, features, weights.first)
        self._gcn = weights

    def compute_scores(self, v: int) -> np.ndarray:
        around = np.append(self.neighbors[v], v)
        hidden = self._activate(self._scale[around], self._sums[around]).sum(axis=0)
        return self._finish(self._scale[v] * hidden)

    def compute_all_scores(self) -> np.ndarray:
        hidden = self._activate(self._scale, self._sums)
        return self._finish(self._scale[:, None] * (self.adjacency @ hidden + hidden))

    def score_link_flips(self, v: int) -> np.ndarray:
        is_near = np.zeros(self.num_nodes, bool)
        is_near[self.neighbors[v]] = True
        far = ~is_near
        far[v] = False
        result = np.empty((self.num_nodes, self._gcn.second.shape[1]))
        result[v] = self.compute_scores(v)
        for partners, step in ((np.flatnonzero(far), 1), (self.neighbors[v], -1)):
            if len(partners):
                result[partners] = self._score_flips(v, partners, step)
        return result

    def score_feature_flips(self, v: int) -> np.ndarray:
        signs = 1.0 - 2.0 * self.read_features(v)
        change = self._scale[v] * signs[:, None] * self._gcn.first
        total = np.zeros_like(change)
        for j in [*self.neighbors[v].tolist(), v]:
            total += self._activate(np.full(len(change), self._scale[j]), self._sums[j] + change)
        return self._finish(self._scale[v] * total)

    def _score_flips(self, v: int, partners: np.ndarray, step: int) -> np.ndarray:
        """(p, k) scores of v after its link to each partner is added (1) or removed (−1)."""
        near = self.neighbors[v]
        v_scale = 1.0 / np.sqrt(self.degrees[v] + step + 1.0)
        v_scaled = v_scale * self._projected[v]
        of_v = v_scaled - self._scaled[v]
        new_s = 1.0 / np.sqrt(np.maximum(self.degrees[partners] + step + 1.0, 1.0))
        new_g = new_s[:, None] * self._projected[partners]
        of_u = new_g - self._scaled[partners]
        sums = self._sums[near] + of_v
        hidden = self._activate(self._scale[near], sums)
        total = np.tile(hidden.sum(axis=0), (len(partners), 1))
        self._add_common(total, near, sums, hidden, partners, of_u)
        if step == 1:
            total += self._activate(new_s, self._sums[partners] + of_u + v_scaled)
        else:
            total -= hidden  # `partners` are the neighbours, in the same order
        own = self._sums[v] + of_v + (new_g if step == 1 else -self._scaled[partners])
        total += self._activate(np.full(len(partners), v_scale), own)
        return self._finish(v_scale * total)

    def _add_common(
        self,
        total: np.ndarray,
        near: np.ndarray,
        sums: np.ndarray,
        hidden: np.ndarray,
        partners: np.ndarray,
        of_u: np.ndarray,
    ) -> None:
        """Correct the sums (p, h) of partners that are linked to neighbours of v."""
        lists = [self.neighbors[j] for j in near]
        if not lists:
            return
        row = np.repeat(np.arange(len(near)), [len(part) for part in lists])
        place = np.full(self.num_nodes, -1)
        place[partners] = np.arange(len(partners))
        at = place[np.concatenate(lists)]
        row, at = row[at >= 0], at[at >= 0]
        change = self._activate(self._scale[near][row], sums[row] + of_u[at]) - hidden[row]
        places = (np.ones(len(at)), (at, np.arange(len(at))))
        total += sparse.csr_array(places, shape=(len(partners), len(at))) @ change

    def _activate(self, scale: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """(r, h) hidden states of nodes, as their neighbours add them up."""
        values: np.ndarray = scale[:, None] * sums
        values += self._gcn.first_bias
        np.maximum(values, 0.0, out=values)
        values *= scale[:, None]
        return values

    def _finish(self, hidden: np.ndarray) -> np.ndarray:
        return np.asarray(hidden @ self._gcn.second + self._gcn.second_bias)
