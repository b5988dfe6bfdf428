"""The least increases of degrees after which each occurs at least k times."""

from __future__ import annotations

import numba
import numpy as np


def compute_group_degrees(degrees: np.ndarray, k: int) -> np.ndarray:
    """(n,) int64 targets ≥ `degrees` (n,), each occurring at least k times, of least sum.

    Dynamic programme of Liu and Terzi (SIGMOD 2008, §5.1) over the descending degrees: a group
    of k to 2k − 1 neighbours in the order is raised to its highest. Raises ValueError for n < k.
    """
    if len(degrees) < k:
        raise ValueError("there must be at least k degrees")
    order = np.argsort(-degrees, kind="stable")
    targets = np.empty(len(degrees), np.int64)
    targets[order] = _raise_groups(degrees[order].astype(np.int64), k)
    return targets


@numba.njit(nogil=True, cache=True)
def _raise_groups(ordered: np.ndarray, k: int) -> np.ndarray:
    n = len(ordered)
    sums = np.zeros(n + 1, np.int64)
    for i in range(n):
        sums[i + 1] = sums[i] + ordered[i]
    unreachable = np.int64(1) << 60
    cost = np.full(n + 1, unreachable)
    size = np.zeros(n + 1, np.int64)
    cost[0] = 0
    for i in range(k, n + 1):
        for s in range(k, min(2 * k, i + 1)):
            if cost[i - s] == unreachable:
                continue
            total = cost[i - s] + ordered[i - s] * s - (sums[i] - sums[i - s])
            if total < cost[i]:
                cost[i], size[i] = total, s
    targets = np.empty(n, np.int64)
    i = n
    while i > 0:
        start = i - size[i]
        targets[start:i] = ordered[start]
        i = start
    return targets
