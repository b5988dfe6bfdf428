"""Compiled loops over a CSR adjacency: triangles, breadth-first search, moves between communities.

All take `indptr` (n+1,) and `indices` of a symmetric pattern without self-loops.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def count_directed_triangles(
    indptr: np.ndarray, indices: np.ndarray, start: int, stop: int, counts: np.ndarray
) -> None:
    """Count every u → v → w, u → w of an acyclic orientation, given by its out-links, at its
    corners.

    For u in [start, stop). If links lead to the end of higher degree, out-degrees are at most
    √(2m): O(m^{3/2}).
    """
    mark = np.zeros(len(indptr) - 1, np.bool_)
    for u in range(start, stop):
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
    """Distances from `source` into `distances` (n,), −1 if unreachable; returns (sum, reached)."""
    distances[:] = -1
    distances[source] = 0
    queue[0] = source
    head, tail, total = 0, 1, 0
    while head < tail:
        u = queue[head]
        head += 1
        next_distance = distances[u] + 1
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if distances[v] < 0:
                distances[v] = next_distance
                total += next_distance
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
    """Per source: sum of the distances to all reachable nodes, and the largest of them."""
    n = len(indptr) - 1
    distances, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    for row in range(len(sources)):
        total, reached = search_breadth_first(indptr, indices, sources[row], distances, queue)
        totals[row] = total
        farthest[row] = distances[queue[reached - 1]]


@numba.njit(nogil=True, cache=True)
def count_distances(
    indptr: np.ndarray,
    indices: np.ndarray,
    sources: np.ndarray,
    blocks: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Add to `counts` (b, n), in the row of each source's block, the number of nodes at distance
    0, 1, …."""
    n = len(indptr) - 1
    distances, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    for row in range(len(sources)):
        _, reached = search_breadth_first(indptr, indices, sources[row], distances, queue)
        for place in range(reached):
            counts[blocks[row], distances[queue[place]]] += 1


@numba.njit(nogil=True, cache=True)
def find_pair_distances(
    indptr: np.ndarray, indices: np.ndarray, pairs: np.ndarray, result: np.ndarray
) -> None:
    """Distances between the ends of pairs (k, 2) into `result` (k,), −1 if unreachable.

    Bidirectional breadth-first search, always expanding the side with fewer links.
    """
    n = len(indptr) - 1
    steps = np.full((2, n), -1, np.int32)
    queues = np.empty((2, n), np.int32)
    head, tail, frontier_links = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64)
    for row in range(len(pairs)):
        result[row] = -1
        for side in range(2):
            node = pairs[row, side]
            queues[side, 0] = node
            head[side], tail[side] = 0, 1
            frontier_links[side] = indptr[node + 1] - indptr[node]
            steps[side, node] = 0
        if pairs[row, 0] == pairs[row, 1]:
            result[row] = 0
        while result[row] < 0 and head[0] < tail[0] and head[1] < tail[1]:
            side = 0 if frontier_links[0] <= frontier_links[1] else 1
            last, frontier_links[side] = tail[side], 0
            while head[side] < last and result[row] < 0:
                u = queues[side, head[side]]
                head[side] += 1
                next_distance = steps[side, u] + 1
                for a in range(indptr[u], indptr[u + 1]):
                    v = indices[a]
                    if steps[side, v] >= 0:
                        continue
                    if steps[1 - side, v] >= 0:
                        result[row] = next_distance + steps[1 - side, v]
                        break
                    steps[side, v] = next_distance
                    queues[side, tail[side]] = v
                    tail[side] += 1
                    frontier_links[side] += indptr[v + 1] - indptr[v]
        for side in range(2):
            for a in range(tail[side]):
                steps[side, queues[side, a]] = -1


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
    """One round of Louvain's local moves over `order`; returns the number of nodes moved.

    strengths (n,) weighted degree with self-loops, totals (n,) summed strength per community, total
    = Σ strengths. A node moves to the neighbouring community with the largest positive gain in
    modularity.
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


@numba.njit(nogil=True, cache=True)
def sum_common_neighbors(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    pairs: np.ndarray,
    factors: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Add to `sums` (k, c + 1) over the common neighbours z of each pair (k, 2), ascending,
    w_iz w_jz times the row z of `factors` (n, c), and in the last column min(w_iz, w_jz).

    The shorter list is walked and looked up in the longer one: hubs are not traversed.
    """
    width = factors.shape[1]
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        if indptr[i + 1] - indptr[i] > indptr[j + 1] - indptr[j]:
            i, j = j, i
        low, end = indptr[j], indptr[j + 1]
        for a in range(indptr[i], indptr[i + 1]):
            z = indices[a]
            reach = 1  # exponential search for the range of z, then bisection
            while low + reach < end and indices[low + reach] < z:
                low += reach
                reach *= 2
            high = min(low + reach + 1, end)
            while low < high:
                center = (low + high) // 2
                if indices[center] < z:
                    low = center + 1
                else:
                    high = center
            if low == end:
                break
            if indices[low] == z:
                left, right = np.float64(weights[a]), np.float64(weights[low])
                product = left * right
                for c in range(width):
                    sums[k, c] += product * factors[z, c]
                sums[k, width] += min(left, right)


@numba.njit(nogil=True, cache=True)
def redraw_communities(
    indptr: np.ndarray,
    indices: np.ndarray,
    order: np.ndarray,
    chances: np.ndarray,
    factor: float,
    num: int,
    community: np.ndarray,
) -> None:
    """Redraw each node's of `num` communities in place, ∝ exp(factor · its links into it).

    Nodes take turns in `order` (n,); `chances` (n,) are uniform in [0, 1).
    """
    counts = np.zeros(num, np.int64)
    linked = np.empty(num, np.int64)
    for place in range(len(order)):
        node = order[place]
        size, most = 0, 0
        for a in range(indptr[node], indptr[node + 1]):
            c = community[indices[a]]
            if counts[c] == 0:
                linked[size] = c
                size += 1
            counts[c] += 1
            most = max(most, counts[c])
        found = np.sort(linked[:size])
        unlinked = np.exp(-factor * most)
        total = (num - size) * unlinked
        for c in found:
            total += np.exp(factor * (counts[c] - most))
        left = chances[place] * total
        chosen = -1
        for c in found:
            left -= np.exp(factor * (counts[c] - most))
            if left < 0:
                chosen = c
                break
        if chosen < 0 and size < num:
            rank = min(int(left / unlinked), num - size - 1) if unlinked > 0 else 0
            chosen = rank
            for c in found:
                chosen += c <= chosen
        community[node] = chosen if chosen >= 0 else found[-1]
        for c in found:
            counts[c] = 0
