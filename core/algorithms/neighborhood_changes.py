"""Greedy link changes by what they do to the similarities of closed neighbourhoods, compiled.

Rows hold N[i] = N(i) ∪ {i}, sorted, with room to grow: row i is columns[starts[i] :
starts[i] + sizes[i]]. The similarity of i and j is |N[i] ∩ N[j]| / √(|N[i]| |N[j]|).
"""

from __future__ import annotations

import math

import numba
import numpy as np

from core.algorithms.walks import contains

SEARCHED = 8
"""A row this many times longer than the other is searched, not walked."""


@numba.njit(nogil=True, cache=True)
def make_room(
    starts: np.ndarray, sizes: np.ndarray, columns: np.ndarray, room: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Starts and columns of the same rows with `room` (n,) free places at the end of each."""
    begins = np.zeros(len(sizes) + 1, np.int64)
    for i in range(len(sizes)):
        begins[i + 1] = begins[i] + sizes[i] + room[i]
    wider = np.empty(begins[-1], np.int64)
    for i in range(len(sizes)):
        wider[begins[i] : begins[i] + sizes[i]] = columns[starts[i] : starts[i] + sizes[i]]
    return begins, wider


@numba.njit(nogil=True, cache=True)
def make_changes(
    starts: np.ndarray,
    sizes: np.ndarray,
    columns: np.ndarray,
    secret_starts: np.ndarray,
    secrets: np.ndarray,
    candidates: np.ndarray,
) -> None:
    """Flip in turn, of each row of `candidates` (k, c, 2), the pair with the best gain per loss.

    secret_starts, secrets  CSR of the sensitive links. Nothing is flipped where no pair gains.
    """
    mark = np.zeros(len(sizes), np.bool_)
    for turn in range(len(candidates)):
        best, best_ratio = -1, 0.0
        for place in range(candidates.shape[1]):
            u, v = candidates[turn, place, 0], candidates[turn, place, 1]
            gain, loss = compute_effect(starts, sizes, columns, secret_starts, secrets, u, v, mark)
            if gain > 0 and gain / (loss + 1e-3) > best_ratio:
                best, best_ratio = place, gain / (loss + 1e-3)
        if best >= 0:
            u, v = candidates[turn, best, 0], candidates[turn, best, 1]
            _flip(starts, sizes, columns, u, v)
            _flip(starts, sizes, columns, v, u)


@numba.njit(nogil=True, cache=True)
def compute_effect(
    starts: np.ndarray,
    sizes: np.ndarray,
    columns: np.ndarray,
    secret_starts: np.ndarray,
    secrets: np.ndarray,
    u: int,
    v: int,
    mark: np.ndarray,
) -> tuple[float, float]:
    """(gain, loss) of removing (u, v) where it is a link, of adding it where not; `mark` (n,)
    all False."""
    gain = loss = 0.0
    is_link = contains(columns, starts[u], starts[u] + sizes[u], v)
    sign = -1 if is_link else 1
    for a, b in ((u, v), (v, u)):
        row = columns[starts[a] : starts[a] + sizes[a]]
        for x in row:
            mark[x] = True
        for x in secrets[secret_starts[a] : secret_starts[a + 1]]:
            if x != b:
                gain -= _change(starts, sizes, columns, a, b, x, sign, mark)
        for x in row:
            if x != a and x != b:
                loss += abs(_change(starts, sizes, columns, a, b, x, sign, mark))
        for x in row:
            mark[x] = False
    return gain, loss


@numba.njit(nogil=True, cache=True)
def _change(
    starts: np.ndarray,
    sizes: np.ndarray,
    columns: np.ndarray,
    a: int,
    b: int,
    x: int,
    sign: int,
    mark: np.ndarray,
) -> float:
    """Δ s_ax when b enters (sign 1) or leaves (−1) N[a], which is marked; N[x] stays."""
    first, size, own = starts[x], sizes[x], sizes[a]
    common = 0
    if size > SEARCHED * own:
        for y in columns[starts[a] : starts[a] + own]:
            common += contains(columns, first, first + size, y)
    else:
        for y in columns[first : first + size]:
            common += mark[y]
    after = common + sign * contains(columns, first, first + size, b)
    return after / math.sqrt((own + sign) * size) - common / math.sqrt(own * size)


@numba.njit(nogil=True, cache=True)
def _flip(starts: np.ndarray, sizes: np.ndarray, columns: np.ndarray, a: int, b: int) -> None:
    """Take b out of N[a] or put it in, the row kept sorted."""
    first, size = starts[a], sizes[a]
    place = first
    while place < first + size and columns[place] < b:
        place += 1
    if place < first + size and columns[place] == b:
        for at in range(place, first + size - 1):
            columns[at] = columns[at + 1]
        sizes[a] -= 1
        return
    for at in range(first + size, place, -1):
        columns[at] = columns[at - 1]
    columns[place] = b
    sizes[a] += 1
