"""One-hop ego networks of many nodes as one block-diagonal graph, built once.

The ego network of i holds i and its neighbours with all links among them. The networks of a
batch lie one after the other: row r of the batch is node `members[r]` as seen in the network
of one centre, so that one sparse product aggregates within all networks at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numba
import numpy as np
from scipy import sparse

from core.algorithms.normalize import normalize_adjacency
from core.graph import Graph
from core.models.encoders import NORMS, Backbone, Block
from core.models.propagation import Propagation

HUB = 8
"""Links per member of the network above which a member's list is searched instead of walked."""


@dataclass(frozen=True, eq=False)
class EgoBatch:
    """The ego networks of k centres, r rows in all.

    members  (r,) node of each row;  offsets (k + 1,) first row of each network
    centers  (k,) row of each centre;  adjacency (r, r) links within the networks
    """

    members: np.ndarray
    offsets: np.ndarray
    centers: np.ndarray
    adjacency: sparse.csr_array

    def make_blocks(
        self, num_nodes: int, backbone: Backbone, device: str
    ) -> tuple[Block, Block, Propagation]:
        """The first layer's block (from n nodes to r rows), the later layers' (r to r), and
        the sum over each network's rows (k, r)."""
        norm, self_loops = NORMS[backbone]
        matrix = normalize_adjacency(self.adjacency, norm, self_loops)
        num_rows = len(self.members)
        entry = sparse.csr_array(
            (matrix.data, self.members[matrix.indices], matrix.indptr), shape=(num_rows, num_nodes)
        )
        with_links = backbone == "gat"
        first = Block(entry, self.members, device=device, with_links=with_links)
        later = Block(matrix, is_symmetric=norm != "row", device=device, with_links=with_links)
        pool = sparse.csr_array(
            (np.ones(num_rows, np.float32), np.arange(num_rows), self.offsets),
            shape=(len(self.centers), num_rows),
        )
        return first, later, Propagation(pool, False, device)


def build_ego_batch(
    graph: Graph, centers: np.ndarray, values: np.ndarray | None = None
) -> EgoBatch:
    """The ego networks of `centers`, one after another.

    values  of the adjacency's entries, taken instead of the links' weights
    """
    adjacency = graph.adjacency
    values = adjacency.data if values is None else values
    indptr, indices = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)
    centers = np.asarray(centers, np.int64)
    offsets = np.zeros(len(centers) + 1, np.int64)
    np.cumsum(indptr[centers + 1] - indptr[centers] + 1, out=offsets[1:])
    members, rows = _list_members(indptr, indices, centers, offsets)
    row_ends = _count_links(indptr, indices, members, offsets)
    columns, inside = _list_links(indptr, indices, values, members, offsets, row_ends)
    inner = sparse.csr_array((inside, columns, row_ends), shape=(len(members), len(members)))
    return EgoBatch(members, offsets, rows, inner)


def compute_ego_costs(graph: Graph) -> np.ndarray:
    """(n, 2) int64: rows, and directed links, of each node's ego network."""
    adjacency = graph.adjacency
    indptr, indices = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)
    common = _count_common(indptr, indices)
    inner = np.add.reduceat(np.append(common, 0), np.minimum(indptr[:-1], len(common)))
    inner[np.diff(indptr) == 0] = 0
    degrees = np.diff(indptr)
    return np.stack([degrees + 1, 2 * degrees + inner], axis=1)


def split_centers(centers: np.ndarray, costs: np.ndarray, budget: int) -> Iterator[np.ndarray]:
    """Consecutive parts of `centers` whose summed cost stays within `budget`, at least one each."""
    start, total = 0, 0
    for index, cost in enumerate(costs[centers]):
        if index > start and total + cost > budget:
            yield centers[start:index]
            start, total = index, 0
        total += cost
    if start < len(centers):
        yield centers[start:]


def standardize_role_features(graph: Graph) -> np.ndarray:
    """(n, 2) float32: the role features with mean 0 and deviation 1; constant ones 0."""
    role = compute_role_features(graph)
    spread = role.std(axis=0)
    return np.asarray((role - role.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def compute_role_features(graph: Graph) -> np.ndarray:
    """(n, 2) float32: degree, and mean Jaccard overlap of N(i) with N(j) over neighbours j."""
    return describe_roles(graph.adjacency.indptr, graph.adjacency.indices)


def describe_roles(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """`compute_role_features` of CSR row pointers (n + 1,) and ascending columns (nnz,)."""
    indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    common, degrees = _count_common(indptr, indices), np.diff(indptr)
    rows = np.repeat(np.arange(len(degrees)), degrees)
    overlap = common / np.maximum(degrees[rows] + degrees[indices] - common, 1)
    total = np.bincount(rows, overlap, minlength=len(degrees))
    mean = total / np.maximum(degrees, 1)
    return np.stack([degrees, mean], axis=1).astype(np.float32)


@numba.njit(cache=True)
def _find(indices: np.ndarray, start: int, stop: int, value: int) -> np.intp | int:
    """Place of `value` in the ascending indices[start:stop], or −1."""
    place = start + np.searchsorted(indices[start:stop], value)
    return place if place < stop and indices[place] == value else -1


@numba.njit(cache=True)
def _count_common(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Common neighbours of both ends, one per directed link, in time of the smaller degree."""
    counts = np.zeros(len(indices), np.int64)
    mark = np.full(len(indptr) - 1, -1, np.int64)
    for i in range(len(indptr) - 1):
        degree = indptr[i + 1] - indptr[i]
        for place in range(indptr[i], indptr[i + 1]):
            mark[indices[place]] = i
        for place in range(indptr[i], indptr[i + 1]):
            j = indices[place]
            other_degree = indptr[j + 1] - indptr[j]
            if other_degree > degree or (other_degree == degree and j > i):
                continue
            count = 0
            for k in range(indptr[j], indptr[j + 1]):
                if mark[indices[k]] == i:
                    count += 1
            counts[place] = count
            counts[_find(indices, indptr[j], indptr[j + 1], i)] = count
    return counts


@numba.njit(cache=True)
def _list_members(
    indptr: np.ndarray, indices: np.ndarray, centers: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Members of each network in ascending order, and the row of each centre."""
    members = np.empty(offsets[-1], np.int64)
    rows = np.empty(len(centers), np.int64)
    for k in range(len(centers)):
        i, row = centers[k], offsets[k]
        placed = False
        for place in range(indptr[i], indptr[i + 1]):
            if not placed and indices[place] > i:
                members[row] = i
                rows[k] = row
                row += 1
                placed = True
            members[row] = indices[place]
            row += 1
        if not placed:
            members[row] = i
            rows[k] = row
    return members, rows


@numba.njit(cache=True)
def _count_links(
    indptr: np.ndarray, indices: np.ndarray, members: np.ndarray, offsets: np.ndarray
) -> np.ndarray:
    """CSR row pointers of the block-diagonal adjacency."""
    ends = np.zeros(len(members) + 1, np.int64)
    mark = np.full(len(indptr) - 1, -1, np.int64)
    for k in range(len(offsets) - 1):
        start, stop = offsets[k], offsets[k + 1]
        for row in range(start, stop):
            mark[members[row]] = k
        for row in range(start, stop):
            v, count = members[row], 0
            if indptr[v + 1] - indptr[v] > HUB * (stop - start):
                for other in range(start, stop):
                    if _find(indices, indptr[v], indptr[v + 1], members[other]) >= 0:
                        count += 1
            else:
                for place in range(indptr[v], indptr[v + 1]):
                    if mark[indices[place]] == k:
                        count += 1
            ends[row + 1] = ends[row] + count
    return ends


@numba.njit(cache=True)
def _list_links(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    members: np.ndarray,
    offsets: np.ndarray,
    ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Columns and weights to `_count_links`' pointers; columns ascend within each row."""
    columns = np.empty(ends[-1], np.int64)
    values = np.empty(ends[-1], data.dtype)
    mark = np.full(len(indptr) - 1, -1, np.int64)
    row_of = np.empty(len(indptr) - 1, np.int64)
    for k in range(len(offsets) - 1):
        start, stop = offsets[k], offsets[k + 1]
        for row in range(start, stop):
            mark[members[row]] = k
            row_of[members[row]] = row
        for row in range(start, stop):
            v, target = members[row], ends[row]
            if indptr[v + 1] - indptr[v] > HUB * (stop - start):
                for other in range(start, stop):
                    place = _find(indices, indptr[v], indptr[v + 1], members[other])
                    if place >= 0:
                        columns[target] = other
                        values[target] = data[place]
                        target += 1
            else:
                for place in range(indptr[v], indptr[v + 1]):
                    u = indices[place]
                    if mark[u] == k:
                        columns[target] = row_of[u]
                        values[target] = data[place]
                        target += 1
    return columns, values
