"""Who of one graph is who in another: candidates by the neighbours already matched.

All take both graphs as `indptr` (n+1,) and `indices` (symmetric, no self-loops).
"""

from __future__ import annotations

import numba
import numpy as np

NOBODY = -1

NUM_CANDIDATES = 10
"""Whom a matcher names for each person, at most: hits are counted at 1 and at 10."""


@numba.njit(nogil=True, cache=True)
def rank_candidates(
    indptr: np.ndarray,
    indices: np.ndarray,
    other_indptr: np.ndarray,
    other_indices: np.ndarray,
    image: np.ndarray,
    top: np.ndarray,
    scores: np.ndarray,
) -> np.ndarray:
    """The people of the other graph with most witnesses, for each node of this one.

    A witness of (u, w) is a neighbour v of u whose image is a neighbour of w; it counts
    1 / log(2 + d(image of v)), since hubs are witnesses of everybody (Adamic and Adar 2003).
    The score is the witnesses' sum over the geometric mean of what u's and w's matched
    neighbours could have given, times √(d_min / d_max) of the two numbers of links: in [0, 1].

    image   (n,) node of the other graph, or NOBODY
    top     (n, k) int64: receives the best k, best first, NOBODY where there are fewer
    scores  (n, k) float64: receives their scores
    Returns (n,) int64 number of witnesses of the best one.
    """
    n, m, k = len(indptr) - 1, len(other_indptr) - 1, top.shape[1]
    weights = np.zeros(m)
    for w in range(m):
        weights[w] = 1.0 / np.log(2.0 + other_indptr[w + 1] - other_indptr[w])
    is_image = np.zeros(m, np.bool_)
    for v in range(n):
        if image[v] >= 0:
            is_image[image[v]] = True
    possible = np.zeros(m)
    for w in range(m):
        for e in range(other_indptr[w], other_indptr[w + 1]):
            if is_image[other_indices[e]]:
                possible[w] += weights[other_indices[e]]
    total = np.zeros(m)
    count = np.zeros(m, np.int64)
    touched = np.empty(m, np.int64)
    witnesses = np.zeros(n, np.int64)
    for u in range(n):
        num_touched, own = 0, 0.0
        for e in range(indptr[u], indptr[u + 1]):
            v = image[indices[e]]
            if v < 0:
                continue
            own += weights[v]
            for f in range(other_indptr[v], other_indptr[v + 1]):
                w = other_indices[f]
                if count[w] == 0:
                    touched[num_touched] = w
                    num_touched += 1
                count[w] += 1
                total[w] += weights[v]
        for place in range(k):
            top[u, place], scores[u, place] = NOBODY, 0.0
        for t in range(num_touched):
            w = touched[t]
            a, b = indptr[u + 1] - indptr[u], other_indptr[w + 1] - other_indptr[w]
            score = total[w] / np.sqrt(own * possible[w]) * np.sqrt(min(a, b) / max(a, b))
            if score > scores[u, k - 1] or (score == scores[u, k - 1] and top[u, k - 1] < 0):
                place = k - 1
                while place > 0 and score > scores[u, place - 1]:
                    scores[u, place] = scores[u, place - 1]
                    top[u, place] = top[u, place - 1]
                    place -= 1
                scores[u, place], top[u, place] = score, w
        if top[u, 0] >= 0:
            witnesses[u] = count[top[u, 0]]
        for t in range(num_touched):
            count[touched[t]] = 0
            total[touched[t]] = 0.0
    return witnesses


@numba.njit(nogil=True, cache=True)
def extend_by_eccentricity(
    indptr: np.ndarray,
    indices: np.ndarray,
    other_indptr: np.ndarray,
    other_indices: np.ndarray,
    image: np.ndarray,
    inverse: np.ndarray,
    order: np.ndarray,
    least: float,
    outcome: np.ndarray,
) -> int:
    """One pass of Narayanan and Shmatikov's propagation over `order`; returns what changed.

    image (n,) and inverse (m,) are the mapping so far, both ways, and are updated; `outcome`
    (n, 4) receives the best node of the other graph, its score, the next best score and the
    eccentricity. A pair is taken where both ways it stands out by at least `least`.
    """
    n, m = len(indptr) - 1, len(other_indptr) - 1
    size = max(n, m)
    total, touched = np.zeros(size), np.empty(size, np.int64)
    back = np.empty(4)
    changed = 0
    for u in order:
        _stand_out(
            indptr, indices, other_indptr, other_indices, image, u, total, touched, outcome[u]
        )
        found = int(outcome[u, 0])
        if found < 0 or outcome[u, 3] < least:
            continue
        _stand_out(
            other_indptr, other_indices, indptr, indices, inverse, found, total, touched, back
        )
        if int(back[0]) != u or back[3] < least or image[u] == found:
            continue
        if image[u] >= 0:
            inverse[image[u]] = NOBODY
        if inverse[found] >= 0:
            image[inverse[found]] = NOBODY
        image[u], inverse[found] = found, u
        changed += 1
    return changed


@numba.njit(nogil=True, cache=True)
def _stand_out(
    indptr: np.ndarray,
    indices: np.ndarray,
    other_indptr: np.ndarray,
    other_indices: np.ndarray,
    image: np.ndarray,
    u: int,
    total: np.ndarray,
    touched: np.ndarray,
    outcome: np.ndarray,
) -> None:
    """Scores Σ 1/√d(w) over the mapped neighbours; how far the best stands above the next,
    in standard deviations of all scores (nodes that score nothing counted as zeros)."""
    m = len(other_indptr) - 1
    count = 0
    for e in range(indptr[u], indptr[u + 1]):
        v = image[indices[e]]
        if v < 0:
            continue
        for f in range(other_indptr[v], other_indptr[v + 1]):
            w = other_indices[f]
            if total[w] == 0.0:
                touched[count] = w
                count += 1
            total[w] += 1.0 / np.sqrt(other_indptr[w + 1] - other_indptr[w])
    best, second, found = 0.0, 0.0, NOBODY
    plain, squares = 0.0, 0.0
    for t in range(count):
        w = touched[t]
        score = total[w]
        plain += score
        squares += score * score
        if score > best:
            best, second, found = score, best, w
        elif score > second:
            second = score
        total[w] = 0.0
    deviation = np.sqrt(max(squares / m - (plain / m) ** 2, 0.0))
    outcome[0], outcome[1], outcome[2] = found, best, second
    outcome[3] = (best - second) / deviation if deviation > 0 else 0.0
