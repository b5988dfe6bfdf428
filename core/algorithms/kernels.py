"""Compiled loops over a CSR adjacency: triangles, breadth-first search, Louvain's local moves.

All take `indptr` (n+1,) and `indices` of a symmetric pattern without self-loops.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def count_triangles(
    indptr: np.ndarray, indices: np.ndarray, start: int, stop: int, counts: np.ndarray
) -> None:
    """Add the triangles whose lowest-ranked node is in [start, stop) to all three corners.

    Every link is looked at from its end of lower degree (ties: lower number) only, so that
    the work is O(m^{3/2}) whatever the hubs.
    """
    n = len(indptr) - 1
    mark = np.zeros(n, np.bool_)
    for u in range(start, stop):
        rank_u = indptr[u + 1] - indptr[u]
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            rank_v = indptr[v + 1] - indptr[v]
            mark[v] = rank_v > rank_u or (rank_v == rank_u and v > u)
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if not mark[v]:
                continue
            rank_v = indptr[v + 1] - indptr[v]
            for b in range(indptr[v], indptr[v + 1]):
                w = indices[b]
                rank_w = indptr[w + 1] - indptr[w]
                if mark[w] and (rank_w > rank_v or (rank_w == rank_v and w > v)):
                    counts[u] += 1
                    counts[v] += 1
                    counts[w] += 1
        for a in range(indptr[u], indptr[u + 1]):
            mark[indices[a]] = False


@numba.njit(nogil=True, cache=True)
def count_directed_triangles(indptr: np.ndarray, indices: np.ndarray, counts: np.ndarray) -> None:
    """Add every u → v → w, u → w of an acyclic orientation, given by its out-links, to its corners.

    Where links lead to the end of higher degree, no node has over √(2m) of them: O(m^{3/2}), and
    hubs are never walked through (`count_triangles` looks at all their links, to go by parts).
    """
    mark = np.zeros(len(indptr) - 1, np.bool_)
    for u in range(len(indptr) - 1):
        for a in range(indptr[u], indptr[u + 1]):
            mark[indices[a]] = True
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            for b in range(indptr[v], indptr[v + 1]):
                w = indices[b]
                if mark[w]:
                    counts[u] += 1
                    counts[v] += 1
                    counts[w] += 1
        for a in range(indptr[u], indptr[u + 1]):
            mark[indices[a]] = False


@numba.njit(nogil=True, cache=True)
def search_breadth_first(
    indptr: np.ndarray, indices: np.ndarray, source: int, distances: np.ndarray, queue: np.ndarray
) -> tuple[int, int]:
    """Steps from `source` into `distances` (n,), −1 where out of reach; returns (sum, reached)."""
    distances[:] = -1
    distances[source] = 0
    queue[0] = source
    head, tail, total = 0, 1, 0
    while head < tail:
        u = queue[head]
        head += 1
        following = distances[u] + 1
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if distances[v] < 0:
                distances[v] = following
                total += following
                queue[tail] = v
                tail += 1
    return total, tail


@numba.njit(nogil=True, cache=True)
def sum_distances(
    indptr: np.ndarray,
    indices: np.ndarray,
    sources: np.ndarray,
    totals: np.ndarray,
    farthest: np.ndarray,
) -> None:
    """Per source: sum of the steps to all reachable nodes, and the largest of them."""
    n = len(indptr) - 1
    distances, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    for row in range(len(sources)):
        total, reached = search_breadth_first(indptr, indices, sources[row], distances, queue)
        totals[row] = total
        farthest[row] = distances[queue[reached - 1]]


@numba.njit(nogil=True, cache=True)
def find_pair_distances(
    indptr: np.ndarray,
    indices: np.ndarray,
    sources: np.ndarray,
    starts: np.ndarray,
    targets: np.ndarray,
    result: np.ndarray,
) -> None:
    """Steps from sources[s] to targets[starts[s] : starts[s+1]], −1 where there is no path."""
    n = len(indptr) - 1
    distances, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    for row in range(len(sources)):
        search_breadth_first(indptr, indices, sources[row], distances, queue)
        for a in range(starts[row], starts[row + 1]):
            result[a] = distances[targets[a]]


@numba.njit(nogil=True, cache=True)
def move_nodes(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    strengths: np.ndarray,
    order: np.ndarray,
    labels: np.ndarray,
    totals: np.ndarray,
    total: float,
) -> int:
    """One round of Louvain's local moves over `order`; returns how many nodes moved.

    strengths (n,) weighted degree with self-loops,
    totals (n,) summed strength per community, total = Σ strengths. A node moves to the
    neighbouring community with the largest gain in modularity, if that is larger than staying.
    """
    n = len(indptr) - 1
    links = np.zeros(n)
    touched = np.empty(n, np.int64)
    moved = 0
    for u in order:
        own, num_touched = labels[u], 0
        for a in range(indptr[u], indptr[u + 1]):
            community = labels[indices[a]]
            if links[community] == 0.0:
                touched[num_touched] = community
                num_touched += 1
            links[community] += weights[a]
        totals[own] -= strengths[u]
        best = own
        best_gain = links[own] - strengths[u] * totals[own] / total
        for t in range(num_touched):
            community = touched[t]
            gain = links[community] - strengths[u] * totals[community] / total
            if gain > best_gain + 1e-12:
                best, best_gain = community, gain
        for t in range(num_touched):
            links[touched[t]] = 0.0
        totals[best] += strengths[u]
        if best != own:
            labels[u] = best
            moved += 1
    return moved


@numba.njit(nogil=True, cache=True)
def count_marked_between(
    indptr: np.ndarray, indices: np.ndarray, pairs: np.ndarray, marked: np.ndarray
) -> np.ndarray:
    """(k,) common neighbours of each pair (k, 2) that are marked (n,); indices ascending."""
    counts = np.zeros(len(pairs), np.int64)
    for k in range(len(pairs)):
        a, b = indptr[pairs[k, 0]], indptr[pairs[k, 1]]
        last_a, last_b = indptr[pairs[k, 0] + 1], indptr[pairs[k, 1] + 1]
        while a < last_a and b < last_b:
            if indices[a] < indices[b]:
                a += 1
            elif indices[a] > indices[b]:
                b += 1
            else:
                counts[k] += marked[indices[a]]
                a += 1
                b += 1
    return counts
