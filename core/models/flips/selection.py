"""Class scores of one node under every flip at it, exactly: Â²XW in closed form, and 2-layer GCNs.

With s_i = (d_i + 1)^-½, g_l = s_l (XW)_l and H_j = Σ_{l ∈ N(j) ∪ {j}} g_l, the linear scores of v
are s_v Σ_{j ∈ N(v) ∪ {v}} s_j² H_j. A flip of (v, u) changes the degrees of v and u only, hence
g_v, g_u, and H at their neighbours: all u are scored by a few operations on vectors, and a flip
that is made updates H in O(d_v + d_u). (NetFense Eq. 5, 6.)

A GCN's hidden state at a neighbour j of v depends on u only if u is linked to j as well, so that
one sum over N(v) serves all other u.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from core.graph import Graph


class FlippedGraph:
    """A graph in which links and features are flipped, with its scores kept up to date.

    features (n, d) as the classifier reads them; W (d, k) may hold several classifiers' columns
    side by side. The given graph is not modified.

    flipped   changed links and non-links (i, j), i < j
    partners  node → nodes with which it was ever flipped
    """

    def __init__(
        self, graph: Graph, features: np.ndarray | sparse.csr_array, weights: np.ndarray
    ) -> None:
        adjacency = graph.adjacency
        self.num_nodes = graph.num_nodes
        self.neighbors = [
            row.astype(np.int64) for row in np.split(adjacency.indices, adjacency.indptr[1:-1])
        ]
        self.degrees = graph.degrees.astype(np.int64).copy()
        self.flipped: set[tuple[int, int]] = set()
        self.partners: defaultdict[int, set[int]] = defaultdict(set)
        self.flipped_features: set[tuple[int, int]] = set()
        self._features, self._weights = features, weights
        self._start = graph
        self._projected = np.asarray(features @ weights, dtype=np.float64)
        self._scale = 1.0 / np.sqrt(self.degrees + 1.0)
        self._scaled = self._scale[:, None] * self._projected
        self._sums = np.asarray(adjacency @ self._scaled) + self._scaled

    @property
    def adjacency(self) -> sparse.csr_array:
        """(n, n) in its current state."""
        ends = np.concatenate([[0], np.cumsum(self.degrees)])
        values = np.ones(ends[-1])
        shape = (self.num_nodes, self.num_nodes)
        return sparse.csr_array((values, np.concatenate(self.neighbors), ends), shape=shape)

    def to_graph(self) -> Graph:
        """Graph with the current links and the original features."""
        if not self.flipped:
            return self._start
        pairs = np.array(sorted(self.flipped))
        is_link = self._start.contains_pairs(pairs)
        kept = self._start.without_edges(pairs[is_link]).edges
        return self._start.with_edges(np.concatenate([kept, pairs[~is_link]]))

    def compute_scores(self, v: int) -> np.ndarray:
        """(k,) current scores of v."""
        closed = np.append(self.neighbors[v], v)
        return np.asarray(self._scale[v] * (self._scale[closed] ** 2 @ self._sums[closed]))

    def compute_all_scores(self) -> np.ndarray:
        """(n, k) current scores of all nodes."""
        weighted = (self._scale**2)[:, None] * self._sums
        return np.asarray(self._scale[:, None] * (np.asarray(self.adjacency @ weighted) + weighted))

    def score_link_flips(self, v: int) -> np.ndarray:
        """(n, k) scores of v after flipping (v, u), for every u; row v is the current one."""
        neighbors, s = self.neighbors[v], self._scale
        is_neighbor = np.zeros(self.num_nodes, bool)
        is_neighbor[neighbors] = True
        change = np.where(is_neighbor, -1, 1)
        new_s = 1.0 / np.sqrt(np.maximum(self.degrees + change + 1.0, 1.0))
        new_g = new_s[:, None] * self._projected
        u_change = new_g - self._scaled
        v_scale = 1.0 / np.sqrt(self.degrees[v] + change + 1.0)
        v_scaled = v_scale[:, None] * self._projected[v]
        v_change = v_scaled - self._scaled[v]
        squares = s[neighbors] ** 2
        base, total = squares @ self._sums[neighbors], squares.sum()
        common = self._count_common(neighbors, squares)
        kept_squares = np.where(is_neighbor, total - s**2, total)
        neighbor_sums = base + kept_squares[:, None] * v_change + common[:, None] * u_change
        neighbor_sums -= np.where(is_neighbor, s**2, 0.0)[:, None] * self._sums
        v_sums = self._sums[v] + v_change + np.where(is_neighbor[:, None], -self._scaled, new_g)
        u_sums = self._sums + u_change + v_scaled
        result: np.ndarray = neighbor_sums + (v_scale**2)[:, None] * v_sums
        result += np.where(is_neighbor, 0.0, new_s**2)[:, None] * u_sums
        result *= v_scale[:, None]
        result[v] = self.compute_scores(v)
        return result

    def score_feature_flips(self, v: int) -> np.ndarray:
        """(d, k) scores of v after flipping each of its features between 0 and 1."""
        closed = np.append(self.neighbors[v], v)
        to_itself = self._scale[v] ** 2 * (self._scale[closed] ** 2).sum()
        signs = 1.0 - 2.0 * self.read_features(v)
        return np.asarray(self.compute_scores(v) + to_itself * signs[:, None] * self._weights)

    def read_features(self, v: int) -> np.ndarray:
        """(d,) current features of v."""
        row: Any = self._features[[v]]
        values = np.array(row.toarray() if sparse.issparse(row) else row, np.float64).ravel()
        for node, column in self.flipped_features:
            if node == v:
                values[column] = 1.0 - values[column]
        return values

    def flip_link(self, v: int, u: int) -> None:
        """Add or remove the link v–u and update the scores."""
        pair = (min(u, v), max(u, v))
        self.flipped.symmetric_difference_update({pair})
        self.partners[u].add(v)
        self.partners[v].add(u)
        is_link = bool(np.isin(u, self.neighbors[v]))
        step = -1 if is_link else 1
        for a, b in ((u, v), (v, u)):
            self._sums[a] += step * self._scaled[b]
            neighbors = self.neighbors[a]
            position = int(np.searchsorted(neighbors, b))
            self.neighbors[a] = (
                np.delete(neighbors, position) if is_link else np.insert(neighbors, position, b)
            )
            self.degrees[a] += step
        for a in (u, v):
            self._scale[a] = 1.0 / np.sqrt(self.degrees[a] + 1.0)
            self._refresh(a)

    def flip_feature(self, v: int, column: int) -> None:
        """Flip the binary feature `column` of v."""
        sign = 1.0 - 2.0 * self.read_features(v)[column]
        self.flipped_features.symmetric_difference_update({(v, column)})
        self._projected[v] += sign * self._weights[column]
        self._refresh(v)

    def _refresh(self, a: int) -> None:
        """Propagate a new scale or projection of a to itself and its neighbours."""
        value = self._scale[a] * self._projected[a]
        closed = np.append(self.neighbors[a], a)
        self._sums[closed] += value - self._scaled[a]
        self._scaled[a] = value

    def _count_common(self, neighbors: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """(n,) Σ s_j² over j ∈ N(v) that are linked to u."""
        if not len(neighbors):
            return np.zeros(self.num_nodes)
        lists = [self.neighbors[j] for j in neighbors]
        counts = [len(part) for part in lists]
        return np.bincount(
            np.concatenate(lists), np.repeat(squares, counts), minlength=self.num_nodes
        )


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
    """`FlippedGraph` with the scores (n, k) of GCNs."""

    def __init__(self, graph: Graph, features: Features, weights: GcnWeights) -> None:
        super().__init__(graph, features, weights.first)
        self._gcn = weights

    def compute_scores(self, v: int) -> np.ndarray:
        closed = np.append(self.neighbors[v], v)
        hidden = self._activate(self._scale[closed], self._sums[closed]).sum(axis=0)
        return self._finish(self._scale[v] * hidden)

    def compute_all_scores(self) -> np.ndarray:
        hidden = self._activate(self._scale, self._sums)
        return self._finish(self._scale[:, None] * (self.adjacency @ hidden + hidden))

    def score_link_flips(self, v: int) -> np.ndarray:
        is_neighbor = np.zeros(self.num_nodes, bool)
        is_neighbor[self.neighbors[v]] = True
        is_other = ~is_neighbor
        is_other[v] = False
        result = np.empty((self.num_nodes, self._gcn.second.shape[1]))
        result[v] = self.compute_scores(v)
        for partners, step in ((np.flatnonzero(is_other), 1), (self.neighbors[v], -1)):
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
        neighbors = self.neighbors[v]
        v_scale = 1.0 / np.sqrt(self.degrees[v] + step + 1.0)
        v_scaled = v_scale * self._projected[v]
        v_change = v_scaled - self._scaled[v]
        new_s = 1.0 / np.sqrt(np.maximum(self.degrees[partners] + step + 1.0, 1.0))
        new_g = new_s[:, None] * self._projected[partners]
        u_change = new_g - self._scaled[partners]
        sums = self._sums[neighbors] + v_change
        hidden = self._activate(self._scale[neighbors], sums)
        total = np.tile(hidden.sum(axis=0), (len(partners), 1))
        self._add_common(total, neighbors, sums, hidden, partners, u_change)
        if step == 1:
            total += self._activate(new_s, self._sums[partners] + u_change + v_scaled)
        else:
            total -= hidden  # `partners` are the neighbours, in the same order
        v_sums = self._sums[v] + v_change + (new_g if step == 1 else -self._scaled[partners])
        total += self._activate(np.full(len(partners), v_scale), v_sums)
        return self._finish(v_scale * total)

    def _add_common(
        self,
        total: np.ndarray,
        neighbors: np.ndarray,
        sums: np.ndarray,
        hidden: np.ndarray,
        partners: np.ndarray,
        u_change: np.ndarray,
    ) -> None:
        """Correct the sums (p, h) of partners that are linked to neighbours of v."""
        lists = [self.neighbors[j] for j in neighbors]
        if not lists:
            return
        row = np.repeat(np.arange(len(neighbors)), [len(part) for part in lists])
        partner_row = np.full(self.num_nodes, -1)
        partner_row[partners] = np.arange(len(partners))
        target = partner_row[np.concatenate(lists)]
        row, target = row[target >= 0], target[target >= 0]
        change = (
            self._activate(self._scale[neighbors][row], sums[row] + u_change[target]) - hidden[row]
        )
        entries = (np.ones(len(target)), (target, np.arange(len(target))))
        total += sparse.csr_array(entries, shape=(len(partners), len(target))) @ change

    def _activate(self, scale: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """(r, h) hidden states of nodes, scaled for the sum over neighbours."""
        values: np.ndarray = scale[:, None] * sums
        values += self._gcn.first_bias
        np.maximum(values, 0.0, out=values)
        values *= scale[:, None]
        return values

    def _finish(self, hidden: np.ndarray) -> np.ndarray:
        return np.asarray(hidden @ self._gcn.second + self._gcn.second_bias)
