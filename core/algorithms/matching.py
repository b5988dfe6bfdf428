"""Node matching between two graphs by already matched neighbours.

All take both graphs as `indptr` (n+1,) and `indices` (symmetric, no self-loops).
"""

from __future__ import annotations

import numba
import numpy as np

NO_MATCH = -1

NUM_CANDIDATES = 10
"""Maximum number of candidates per node: hits are counted at 1 and at 10."""


@numba.njit(nogil=True, cache=True)
def weigh_witnesses(
    indptr: np.ndarray,
    indices: np.ndarray,
    other_indptr: np.ndarray,
    other_indices: np.ndarray,
    guesses: np.ndarray,
    chances: np.ndarray,
    least: float,
    near: np.ndarray,
    top: np.ndarray,
    values: np.ndarray,
    own: np.ndarray,
    possible: np.ndarray,
) -> None:
    """Expected witnesses of (u, w): Σ p(v, x) over neighbours v of u and x of w.

    Each counts 1 / log(2 + d(x)), which reduces the weight of hubs (Adamic and Adar 2003); the
    score is the weighted sum over the geometric mean of the maxima for u and w, times √(d_min /
    d_max) of the two degrees: in [0, 1].

    guesses (k, c) candidate nodes of the other graph for each node, or NO_MATCH
    chances (k, c) confidence of each; those below `least` are ignored
    near    (k, e) further candidates, or NO_MATCH
    top     (k, t + e) int64 receives the t best by score, best first, then those of `near` that are
    not among them; NO_MATCH elsewhere
    values  (k, t + e, 3) receives their scores, weighted sums and plain sums
    own     (k,) receives the maximum for u, weighted
    possible (m,) receives the maximum for w, weighted
    """
    n, m = len(indptr) - 1, len(other_indptr) - 1
    num_extra = near.shape[1]
    t = top.shape[1] - num_extra
    weights = np.zeros(m)
    for w in range(m):
        weights[w] = 1.0 / np.log(2.0 + other_indptr[w + 1] - other_indptr[w])
    reach = np.zeros(m)
    for v in range(n):
        for c in range(guesses.shape[1]):
            if guesses[v, c] >= 0 and chances[v, c] >= least:
                reach[guesses[v, c]] += chances[v, c]
    for w in range(m):
        possible[w] = 0.0
        for e in range(other_indptr[w], other_indptr[w + 1]):
            x = other_indices[e]
            possible[w] += min(reach[x], 1.0) * weights[x]
    total, plain = np.zeros(m), np.zeros(m)
    touched = np.empty(m, np.int64)
    for u in range(n):
        num_touched = 0
        own[u] = 0.0
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            for c in range(guesses.shape[1]):
                x, chance = guesses[v, c], chances[v, c]
                if x < 0 or chance < least:
                    continue
                own[u] += chance * weights[x]
                for f in range(other_indptr[x], other_indptr[x + 1]):
                    w = other_indices[f]
                    if plain[w] == 0.0:
                        touched[num_touched] = w
                        num_touched += 1
                    plain[w] += chance
                    total[w] += chance * weights[x]
        top[u, :] = NO_MATCH
        values[u, :, :] = 0.0
        a = indptr[u + 1] - indptr[u]
        for i in range(num_touched):
            w = touched[i]
            b = other_indptr[w + 1] - other_indptr[w]
            score = total[w] / np.sqrt(own[u] * possible[w]) * np.sqrt(min(a, b) / max(a, b))
            if score > values[u, t - 1, 0] or top[u, t - 1] < 0:
                place = t - 1
                while place > 0 and score > values[u, place - 1, 0]:
                    values[u, place, 0] = values[u, place - 1, 0]
                    top[u, place] = top[u, place - 1]
                    place -= 1
                values[u, place, 0], top[u, place] = score, w
        for c in range(t):
            if top[u, c] >= 0:
                values[u, c, 1], values[u, c, 2] = total[top[u, c]], plain[top[u, c]]
        for j in range(num_extra):
            w = near[u, j]
            is_new = w >= 0
            for c in range(t):
                if top[u, c] == w:
                    is_new = False
            if not is_new:
                continue
            top[u, t + j] = w
            values[u, t + j, 1], values[u, t + j, 2] = total[w], plain[w]
            if plain[w] > 0.0:
                b = other_indptr[w + 1] - other_indptr[w]
                values[u, t + j, 0] = (
                    total[w] / np.sqrt(own[u] * possible[w]) * np.sqrt(min(a, b) / max(a, b))
                )
        for i in range(num_touched):
            total[touched[i]] = 0.0
            plain[touched[i]] = 0.0


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
    result: np.ndarray,
) -> int:
    """One pass of Narayanan and Shmatikov's propagation over `order`; returns the number of
    changes.

    image (n,) and inverse (m,) are the current mapping and its inverse, updated in place; `result`
    (n, 4) receives the best node of the other graph, its score, the next best score and the
    eccentricity.
    A pair is accepted if its eccentricity is at least `least` in both directions.
    """
    n, m = len(indptr) - 1, len(other_indptr) - 1
    size = max(n, m)
    total, touched = np.zeros(size), np.empty(size, np.int64)
    reverse = np.empty(4)
    changed = 0
    for u in order:
        _find_best_match(
            indptr, indices, other_indptr, other_indices, image, u, total, touched, result[u]
        )
        found = int(result[u, 0])
        if found < 0 or result[u, 3] < least:
            continue
        _find_best_match(
            other_indptr, other_indices, indptr, indices, inverse, found, total, touched, reverse
        )
        if int(reverse[0]) != u or reverse[3] < least or image[u] == found:
            continue
        if image[u] >= 0:
            inverse[image[u]] = NO_MATCH
        if inverse[found] >= 0:
            image[inverse[found]] = NO_MATCH
        image[u], inverse[found] = found, u
        changed += 1
    return changed


@numba.njit(nogil=True, cache=True)
def _find_best_match(
    indptr: np.ndarray,
    indices: np.ndarray,
    other_indptr: np.ndarray,
    other_indices: np.ndarray,
    image: np.ndarray,
    u: int,
    total: np.ndarray,
    touched: np.ndarray,
    result: np.ndarray,
) -> None:
    """Best of the scores Σ 1/√d(w) over the mapped neighbours, and its eccentricity: distance to
    the next in standard deviations of all scores, zeros included."""
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
    best, second, found = 0.0, 0.0, NO_MATCH
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
    result[0], result[1], result[2] = found, best, second
    result[3] = (best - second) / deviation if deviation > 0 else 0.0
