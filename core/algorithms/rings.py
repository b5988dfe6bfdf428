"""Nodes at one and two links from both ends of pairs."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def count_rings(
    indptr: np.ndarray, indices: np.ndarray, pairs: np.ndarray, counts: np.ndarray
) -> None:
    """Count into `counts` (k, 5) the nodes at distance 1 and 1, 1 and 2, 2 and 2, 1 and more, and 2
    and more from the ends of the pairs (k, 2); the ends themselves do not count as each other's.

    Symmetric pattern without self-loops. The rings of a pair's first end are reused while pairs
    begin with it, and a search ends once it has reached all nodes.
    """
    n = len(indptr) - 1
    level = np.zeros(n, np.int8)  # distance from the first end, 0 if more than 2
    stamp = np.full(n, -1, np.int64)
    ring, size, last, near, far = np.empty(n, np.int64), 0, -1, 0, 0
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        if i != last:
            for a in range(size):
                level[ring[a]] = 0
            near = indptr[i + 1] - indptr[i]
            size = 0
            for a in range(indptr[i], indptr[i + 1]):
                ring[size] = indices[a]
                level[indices[a]] = 1
                size += 1
            for a in range(near):
                if size >= n - 1:
                    break
                u = ring[a]
                for b in range(indptr[u], indptr[u + 1]):
                    v = indices[b]
                    if level[v] == 0 and v != i:
                        level[v] = 2
                        ring[size] = v
                        size += 1
            far, last = size - near, i
        both = np.zeros((3, 3), np.int64)
        stamp[j] = k
        near_j, reached = indptr[j + 1] - indptr[j], 1
        for a in range(indptr[j], indptr[j + 1]):
            v = indices[a]
            stamp[v] = k
            both[level[v], 1] += 1
            reached += 1
        far_j = 0
        for a in range(indptr[j], indptr[j + 1]):
            if reached >= n:
                break
            u = indices[a]
            for b in range(indptr[u], indptr[u + 1]):
                v = indices[b]
                if stamp[v] != k:
                    stamp[v] = k
                    both[level[v], 2] += 1
                    reached += 1
                    far_j += 1
        mixed = both[1, 2] + both[2, 1]
        counts[k, 0], counts[k, 1], counts[k, 2] = both[1, 1], mixed, both[2, 2]
        counts[k, 3] = near + near_j - 2 * both[1, 1] - mixed - 2 * (level[j] == 1)
        counts[k, 4] = far + far_j - mixed - 2 * both[2, 2] - 2 * (level[j] == 2)
