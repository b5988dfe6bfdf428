"""The server's view under link-local DP, sampled without an n×n array.

Every node flips each bit of its own adjacency row with probability p, so the server holds two bits
per undirected pair. If the server treats both ends equally, a pair is described by its number of
received ones c ∈ {0, 1, 2}: Binomial(2, 1−p) for a link, Binomial(2, p) otherwise. The distribution
equals that of the protocol on n² bits; only the pairs that the server keeps are built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.arrays import decode_pairs, pair_codes
from core.graph import Graph
from core.privacy.mechanisms import compute_flip_probability

Tile = tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]

MOST_FALSE_REPORTS = 2.0
"""Links of a node that both ends report falsely, in expectation, up to which rows are of use."""


def recommend_delta(epsilon: float, num_nodes: int) -> float:
    """Degree share δ, 0.1 or 0.9: the ends of the range that the authors search (Blink §5.2.2).

    With δ = 0.1 a row's bits flip with q = 1 / (1 + e^(0.9ε)), so that n q² others and a node
    report each other falsely. If there are more than MOST_FALSE_REPORTS, degrees are worth more.
    """
    false_reports = num_nodes * compute_flip_probability(0.9 * epsilon) ** 2
    return 0.1 if false_reports <= MOST_FALSE_REPORTS else 0.9


def draw_link_reports(graph: Graph, flip: float, rng: np.random.Generator) -> np.ndarray:
    """(m,) number of ones received for each link."""
    return rng.binomial(2, 1.0 - flip, graph.num_edges)


@dataclass(frozen=True, eq=False)
class PairBand:
    """The pairs with low < x_i + x_j ≤ high, as ranges of the nodes sorted by x.

    Pair number t of the band belongs to the last sorted position with `starts` ≤ t; memory is
    O(n) for any number of pairs.
    """

    order: np.ndarray
    first: np.ndarray
    starts: np.ndarray
    count: int

    @staticmethod
    def of(x: np.ndarray, low: float, high: float) -> PairBand:
        """The pairs whose x_i + x_j lies in (low, high]."""
        order = np.argsort(x, kind="stable")
        values = x[order]
        own = np.arange(len(x)) + 1
        first = np.maximum(np.searchsorted(values, low - values, "right"), own)
        last = np.maximum(np.searchsorted(values, high - values, "right"), first)
        starts = np.concatenate([[0], np.cumsum(last - first)])
        return PairBand(order, first, starts, int(starts[-1]))

    def decode(self, numbers: np.ndarray) -> np.ndarray:
        """(k, 2) node pairs i < j of the band's pairs number 0 … count − 1."""
        row = np.searchsorted(self.starts, numbers, "right") - 1
        column = self.first[row] + numbers - self.starts[row]
        return np.sort(np.stack([self.order[row], self.order[column]], axis=1), axis=1)

    def draw_non_links(
        self, graph: Graph, links_inside: int, share: float, rng: np.random.Generator
    ) -> np.ndarray:
        """(k, 2): each non-linked pair of the band, independently with probability `share`."""
        available = self.count - links_inside
        count = int(rng.binomial(available, share)) if share < 1 else available
        if count == 0:
            return np.empty((0, 2), np.int64)
        if 4 * count > self.count:
            pairs = self.decode(np.arange(self.count))
            pairs = pairs[~graph.contains_pairs(pairs)]
            # Rounding of the sum may put a link at the border inside or outside the band.
            count = min(count, len(pairs))
            return np.asarray(pairs[np.sort(rng.choice(len(pairs), count, replace=False))])
        found = np.empty(0, np.int64)
        while len(found) < count:
            fresh = rng.integers(0, self.count, 2 * (count - len(found)) + 16)
            fresh = fresh[~graph.contains_pairs(self.decode(fresh))]
            found = pd.unique(np.concatenate([found, fresh]))
        return self.decode(found[:count])


def iterate_pair_tiles(
    graph: Graph,
    flip: float,
    link_reports: np.ndarray,
    rng_of_tile: Callable[[int], np.random.Generator],
    tile_pairs: int,
) -> Iterator[Tile]:
    """Yield (i, j, c, edge) over all pairs i < j, a few rows at a time.

    i, j (k,) int32 ends; c (k,) int8 received ones; edge = (positions in the tile, link numbers).
    `rng_of_tile` makes the draws of a tile repeatable, so that a second pass sees the same bits.
    """
    n = graph.num_nodes
    pointer = np.searchsorted(graph.edges[:, 0], np.arange(n + 1))
    both_flipped, any_flipped = flip * flip, 1.0 - (1.0 - flip) ** 2
    row = 0
    while row < n - 1:
        rows = max(1, min(n - 1 - row, tile_pairs // (n - 1 - row)))
        lengths = n - 1 - np.arange(row, row + rows)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        i = np.repeat(np.arange(row, row + rows, dtype=np.int32), lengths)
        j = np.arange(starts[-1], dtype=np.int64) - starts[i - row] + i + 1
        u = rng_of_tile(row).random(len(i), dtype=np.float32)
        c = (u < any_flipped).astype(np.int8) + (u < both_flipped)
        numbers = np.arange(pointer[row], pointer[row + rows])
        left, right = graph.edges[numbers].T
        positions = starts[left - row] + right - left - 1
        c[positions] = link_reports[numbers]
        yield i, j.astype(np.int32), c, (positions, numbers)
        row += rows


def draw_noisy_rows(
    graph: Graph, keep: np.ndarray, add: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """(k, 2) directed ones (reporter, other) of rows that keep and add bits independently.

    keep (n,) probability that a node reports a true link; add (n,) probability for any other pair.
    The number of added bits of a row is Binomial and their places are uniform without replacement,
    so nothing of size n² is drawn.
    """
    n = graph.num_nodes
    directed = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    kept = directed[rng.random(len(directed)) < keep[directed[:, 0]]]
    missing = rng.binomial(n - 1 - graph.degrees, np.clip(add, 0.0, 1.0))
    rows = np.repeat(np.arange(n), missing)
    found = np.empty(0, np.int64)
    while len(rows):
        columns = rng.integers(0, n, len(rows))
        codes = rows * n + columns
        is_new = (rows != columns) & ~graph.contains_pairs(np.stack([rows, columns], axis=1))
        is_new &= ~pd.Series(codes).duplicated().to_numpy() & ~np.isin(codes, found)
        found = np.concatenate([found, codes[is_new]])
        rows = rows[~is_new]
    return np.concatenate([kept, decode_pairs(found, n)])


def merge_reports(graph: Graph, ones: np.ndarray) -> Graph:
    """Undirected graph of directed ones: weight 1 if both ends report a link, else ½."""
    n = graph.num_nodes
    codes, counts = np.unique(pair_codes(ones, n), return_counts=True)
    edges = decode_pairs(codes, n)
    return replace(graph, edges=edges, weights=counts / 2.0, link_table=None)
