"""Enclosing subgraphs of node pairs with double-radius labels (SEAL, Zhang and Chen, 2018).

Extracted by a compiled kernel, kept as flat arrays, joined into block-diagonal batches.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numba
import numpy as np
from scipy import sparse

from core.algorithms.walks import draw_below
from core.context import Context

MAX_LABEL = 63
"""Label shared by all nodes farther away."""
PAIRS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Subgraphs:
    """k subgraphs one after another: N nodes, E directed links in all, without the target links.

    sizes, num_entries  (k,) nodes and directed links of each
    labels      (N,) double-radius labels: 1 for the pair, 0 if one end is unreachable
    row_counts  (N,) links of each node;  columns, values  (E,) their other ends, counted from the
                subgraph's first node, and weights
    """

    sizes: np.ndarray
    num_entries: np.ndarray
    labels: np.ndarray
    row_counts: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.sizes)

    def join(self, chosen: np.ndarray) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
        """Block-diagonal adjacency (N', N'), labels (N',) and sizes of the chosen subgraphs."""
        node_starts = np.cumsum(self.sizes) - self.sizes
        entry_starts = np.cumsum(self.num_entries) - self.num_entries
        sizes, num_entries = self.sizes[chosen], self.num_entries[chosen]
        nodes = _concatenate_ranges(node_starts[chosen], sizes)
        entries = _concatenate_ranges(entry_starts[chosen], num_entries)
        shift = np.repeat(np.cumsum(sizes) - sizes, num_entries)
        indptr = np.concatenate([[0], np.cumsum(self.row_counts[nodes])])
        matrix = sparse.csr_array(
            (self.values[entries], self.columns[entries] + shift, indptr),
            shape=(len(nodes), len(nodes)),
        )
        return matrix, self.labels[nodes], sizes


def extract_subgraphs(
    adjacency: sparse.csr_array,
    pairs: np.ndarray,
    context: Context,
    *,
    hops: int = 2,
    max_nodes: int = 100,
) -> Subgraphs:
    """Subgraphs of the nodes within `hops` of either end of (k, 2) `pairs`.

    Besides the pair at most `max_nodes`, the nearest first; the hop that reaches more is sampled,
    by a random stream of the pair: neither the order of the pairs nor of their ends changes a
    subgraph. O(k) memory.
    """
    adjacency = sparse.csr_array(adjacency, copy=True)
    adjacency.eliminate_zeros()
    pairs = np.sort(np.asarray(pairs, dtype=np.int64), axis=1)
    root = np.uint64(context.seed.child("subgraphs").to_int())
    visited = np.full(adjacency.shape[0], -1, np.int64)
    local = np.full(adjacency.shape[0], -1, np.int64)
    parts = []
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        visited[:] = -1
        parts.append(
            _extract(
                adjacency.indptr,
                adjacency.indices,
                adjacency.data,
                pairs[start : start + PAIRS_AT_ONCE],
                hops,
                max_nodes,
                root,
                visited,
                local,
            )
        )
        context.progress.update(start + len(parts[-1][0]), len(pairs), "enclosing subgraphs")
    if not parts:
        empty = np.zeros(0, np.int64)
        return Subgraphs(*(empty for _ in fields(Subgraphs)))
    return Subgraphs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _concatenate_ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """start, start + 1, … of each range, one after another."""
    offsets = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - offsets, lengths))


@numba.njit(nogil=True, cache=True)
def _compute_distances(
    row_starts: np.ndarray, columns: np.ndarray, source: int, removed: int
) -> np.ndarray:
    """Distances from `source` in the subgraph without node `removed`; −1 if unreachable."""
    distances = np.full(len(row_starts) - 1, -1, np.int64)
    queue = np.empty(len(distances), np.int64)
    queue[0], head, tail = source, 0, 1
    distances[source] = 0
    while head < tail:
        node = queue[head]
        head += 1
        for index in range(row_starts[node], row_starts[node + 1]):
            other = columns[index]
            if other != removed and distances[other] < 0:
                distances[other] = distances[node] + 1
                queue[tail] = other
                tail += 1
    return distances


@numba.njit(nogil=True, cache=True)
def _compute_labels(
    row_starts: np.ndarray, columns: np.ndarray, first: int, second: int
) -> np.ndarray:
    """1 + min(a, b) + (h + (a + b) % 2 − 1) h with h = (a + b) // 2, a and b the distances."""
    to_first = _compute_distances(row_starts, columns, first, second)
    to_second = _compute_distances(row_starts, columns, second, first)
    labels = np.zeros(len(to_first), np.int16)
    for node in range(len(labels)):
        a, b = to_first[node], to_second[node]
        if node in (first, second):
            labels[node] = 1
        elif a >= 0 and b >= 0:
            half = (a + b) // 2
            labels[node] = min(1 + min(a, b) + half * (half + (a + b) % 2 - 1), MAX_LABEL)
    return labels


@numba.njit(nogil=True, cache=True)
def _collect(
    indptr: np.ndarray,
    indices: np.ndarray,
    i: int,
    j: int,
    row: int,
    hops: int,
    max_nodes: int,
    state: np.ndarray,
    visited: np.ndarray,
) -> np.ndarray:
    """Sorted nodes of one subgraph."""
    nodes = np.empty(2 + max_nodes, np.int64)
    nodes[0], nodes[1] = i, j
    visited[i] = visited[j] = row
    start, size = 0, 2
    for _ in range(hops):
        room = len(nodes) - size
        if room == 0:
            break
        capacity = 0
        for index in range(start, size):
            capacity += indptr[nodes[index] + 1] - indptr[nodes[index]]
        candidates = np.empty(capacity, np.int64)
        count = 0
        for index in range(start, size):
            for z in indices[indptr[nodes[index]] : indptr[nodes[index] + 1]]:
                if visited[z] != row:
                    visited[z] = row
                    candidates[count] = z
                    count += 1
        start = size
        for index in range(min(count, room)):
            if count > room:
                other = index + draw_below(state, count - index)
                candidates[index], candidates[other] = candidates[other], candidates[index]
            nodes[size] = candidates[index]
            size += 1
    return np.sort(nodes[:size])


@numba.njit(nogil=True, cache=True)
def _grow(array: np.ndarray, needed: int) -> np.ndarray:
    if needed <= len(array):
        return array
    larger = np.empty(max(needed, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@numba.njit(nogil=True, cache=True)
def _extract(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    pairs: np.ndarray,
    hops: int,
    max_nodes: int,
    root: np.uint64,
    visited: np.ndarray,
    local: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """The six arrays of `Subgraphs` for a few pairs; `visited` and `local` (n,) all −1."""
    n = len(indptr) - 1
    sizes = np.empty(len(pairs), np.int64)
    num_entries = np.empty(len(pairs), np.int64)
    labels = np.empty(1024, np.int16)
    row_counts = np.empty(1024, np.int32)
    columns = np.empty(4096, np.int32)
    values = np.empty(4096, np.float32)
    num_nodes, filled = 0, 0
    state = np.empty(1, np.uint64)
    for row in range(len(pairs)):
        i, j = pairs[row, 0], pairs[row, 1]
        state[0] = root ^ (np.uint64(i * n + j) * np.uint64(0xD6E8FEB86659FD93))
        nodes = _collect(indptr, indices, i, j, row, hops, max_nodes, state, visited)
        size = len(nodes)
        for index in range(size):
            local[nodes[index]] = index
        labels = _grow(labels, num_nodes + size)
        row_counts = _grow(row_counts, num_nodes + size)
        row_starts = np.zeros(size + 1, np.int64)
        begin = filled
        for index in range(size):
            node = nodes[index]
            columns = _grow(columns, filled + size)
            values = _grow(values, filled + size)
            for entry in range(indptr[node], indptr[node + 1]):
                z = indices[entry]
                is_target = (node == i and z == j) or (node == j and z == i)
                if local[z] >= 0 and not is_target:
                    columns[filled] = local[z]
                    values[filled] = data[entry]
                    filled += 1
            row_starts[index + 1] = filled - begin
            row_counts[num_nodes + index] = row_starts[index + 1] - row_starts[index]
        labels[num_nodes : num_nodes + size] = _compute_labels(
            row_starts, columns[begin:filled], local[i], local[j]
        )
        for index in range(size):
            local[nodes[index]] = -1
        sizes[row], num_entries[row] = size, filled - begin
        num_nodes += size
    return (
        sizes,
        num_entries,
        labels[:num_nodes].copy(),
        row_counts[:num_nodes].copy(),
        columns[:filled].copy(),
        values[:filled].copy(),
    )
