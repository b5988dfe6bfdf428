"""Compiled loops over a CSR adjacency: triangles, breadth-first search, moves between communities.

All take `indptr` (n+1,) and `indices` of a symmetric pattern without self-loops.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def count_directed_triangles(
    indptr: np.ndarray,
    indices: np.ndarray,
    start: int,
    stop: int,
    mark: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Count every u → v → w, u → w of an acyclic orientation, given by its out-links, at its
    corners.

    For u in [start, stop). If links lead to the end of higher degree, out-degrees are at most
    √(2m): O(m^{3/2}). `mark` (n,) is False before and after.
    """
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
    indptr: np.ndarray,
    indices: np.ndarray,
    sources: np.ndarray,
    distances: np.ndarray,
    queue: np.ndarray,
    totals: np.ndarray,
    farthest: np.ndarray,
) -> None:
    """Per source of (k,): sum of the distances to all reachable nodes, and the largest of them.

    `distances` (n,) int32 are those from the last source afterwards, −1 if unreachable. `queue`
    (n,) int32 may hold anything. A step is bottom-up, from unreached nodes to their first neighbour
    in the frontier, where the frontier has more than an eighth as many nodes as are unreached
    (Beamer, Asanović and Patterson, Direction-optimizing breadth-first search, SC 2012).
    """
    n = len(distances)
    for row in range(len(sources)):
        for u in range(n):
            distances[u] = -1
        distances[sources[row]] = 0
        queue[0] = sources[row]
        first, last, level, total = 0, 1, 0, 0
        while first < last < n:
            level += 1
            tail = last
            if (last - first) * 8 > n - last:
                for v in range(n):
                    if distances[v] < 0:
                        for a in range(indptr[v], indptr[v + 1]):
                            if distances[indices[a]] == level - 1:
                                distances[v] = level
                                queue[tail] = v
                                tail += 1
                                break
            else:
                for k in range(first, last):
                    for a in range(indptr[queue[k]], indptr[queue[k] + 1]):
                        v = indices[a]
                        if distances[v] < 0:
                            distances[v] = level
                            queue[tail] = v
                            tail += 1
            total += level * (tail - last)
            first, last = last, tail
        totals[row] = total
        farthest[row] = distances[queue[last - 1]]


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
    unused = np.empty(1, np.int64)
    for row in range(len(sources)):
        search_breadth_first(
            indptr, indices, sources[row : row + 1], distances, queue, unused, unused
        )
        for u in range(n):
            if distances[u] >= 0:
                counts[blocks[row], distances[u]] += 1


@numba.njit(nogil=True, cache=True)
def find_pair_distances(
    indptr: np.ndarray,
    indices: np.ndarray,
    pairs: np.ndarray,
    steps: np.ndarray,
    queues: np.ndarray,
    result: np.ndarray,
) -> None:
    """Distances between the ends of pairs (k, 2) into `result` (k,), −1 if unreachable.

    Bidirectional breadth-first search, always expanding the side with fewer links. `steps` (2, n)
    int32 is −1 before and after, `queues` (2, n) int32 may hold anything.
    """
    for row in range(len(pairs)):
        u, v = pairs[row, 0], pairs[row, 1]
        distance = 0 if u == v else -1
        side, head, tail, links = 0, 0, 1, indptr[u + 1] - indptr[u]
        other_head, other_tail, other_links = 0, 1, indptr[v + 1] - indptr[v]
        queues[0, 0], queues[1, 0] = u, v
        steps[0, u] = 0
        steps[1, v] = 0
        while distance < 0 and head < tail and other_head < other_tail:
            if links > other_links:
                side = 1 - side
                head, other_head = other_head, head
                tail, other_tail = other_tail, tail
                links, other_links = other_links, links
            last, links = tail, 0
            while head < last and distance < 0:
                u = queues[side, head]
                head += 1
                next_distance = steps[side, u] + 1
                for a in range(indptr[u], indptr[u + 1]):
                    v = indices[a]
                    if steps[side, v] < 0:
                        if steps[1 - side, v] >= 0:
                            distance = next_distance + steps[1 - side, v]
                            break
                        steps[side, v] = next_distance
                        queues[side, tail] = v
                        tail += 1
                        links += indptr[v + 1] - indptr[v]
        for a in range(tail):
            steps[side, queues[side, a]] = -1
        for a in range(other_tail):
            steps[1 - side, queues[1 - side, a]] = -1
        result[row] = distance


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
    links: np.ndarray,
    touched: np.ndarray,
) -> int:
    """One round of Louvain's local moves over `order`; returns the number of nodes moved.

    strengths (n,) weighted degree with self-loops, totals (n,) summed strength per community, total
    = Σ strengths. A node moves to the neighbouring community with the largest positive gain in
    modularity. `links` (n,) float64 is zero before and after, `touched` (n,) may hold anything.
    """
    moved = 0
    for place in range(len(order)):
        u = order[place]
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
            high = low + reach + 1
            if high > end:
                high = end
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
                sums[k, width] += left if left < right else right


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
