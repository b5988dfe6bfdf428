"""Belief propagation over candidate matches of two graphs, scaled to a one-to-one plan.

A candidate e = (u, w) matches node u of the first graph to node w of the second. Candidates are
sorted by u, then w; `starts` (n+1,) bounds those of each u. A square is two candidates (u, w) and
(v, x) such that u-v and w-x are links.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np


class Squares(NamedTuple):
    """Squares (s,) int32: the two candidates and the slots of the messages between them.

    Candidate (u, w) has one slot for each neighbour of u and one for each neighbour of w.
    """

    first: np.ndarray
    second: np.ndarray
    to_first: np.ndarray
    to_second: np.ndarray
    back_to_first: np.ndarray
    back_to_second: np.ndarray


@numba.njit(nogil=True, cache=True)
def count_squares(
    indptr: np.ndarray,
    indices: np.ndarray,
    other_indptr: np.ndarray,
    other_indices: np.ndarray,
    starts: np.ndarray,
    images: np.ndarray,
) -> int:
    """Number of squares among the candidates."""
    is_candidate = np.zeros(len(other_indptr) - 1, np.bool_)
    count = 0
    for v in range(len(indptr) - 1):
        is_candidate[images[starts[v] : starts[v + 1]]] = True
        for a in range(indptr[v], indptr[v + 1]):
            u = indices[a]
            if u > v:
                continue
            for w in images[starts[u] : starts[u + 1]]:
                for b in range(other_indptr[w], other_indptr[w + 1]):
                    count += is_candidate[other_indices[b]]
        is_candidate[images[starts[v] : starts[v + 1]]] = False
    return count


@numba.njit(nogil=True, cache=True)
def fill_squares(
    indptr: np.ndarray,
    indices: np.ndarray,
    other_indptr: np.ndarray,
    other_indices: np.ndarray,
    starts: np.ndarray,
    images: np.ndarray,
    slots: np.ndarray,
    other_slots: np.ndarray,
    squares: Squares,
) -> None:
    """Write all squares; slots (p+1,) and other_slots (p+1,) bound those of each candidate."""
    reverse, other_reverse = _reverse(indptr, indices), _reverse(other_indptr, other_indices)
    place = np.full(len(other_indptr) - 1, -1, np.int64)
    count = 0
    for v in range(len(indptr) - 1):
        for f in range(starts[v], starts[v + 1]):
            place[images[f]] = f
        for a in range(indptr[v], indptr[v + 1]):
            u = indices[a]
            if u > v:
                continue
            for e in range(starts[u], starts[u + 1]):
                w = images[e]
                for b in range(other_indptr[w], other_indptr[w + 1]):
                    x = other_indices[b]
                    f = place[x]
                    if f < 0:
                        continue
                    squares.first[count] = e
                    squares.second[count] = f
                    squares.to_first[count] = slots[e] + reverse[a] - indptr[u]
                    squares.to_second[count] = slots[f] + a - indptr[v]
                    squares.back_to_first[count] = other_slots[e] + b - other_indptr[w]
                    squares.back_to_second[count] = (
                        other_slots[f] + other_reverse[b] - (other_indptr[x])
                    )
                    count += 1
        for f in range(starts[v], starts[v + 1]):
            place[images[f]] = -1


@numba.njit(nogil=True, cache=True)
def _reverse(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Position of each directed link's reverse; neighbours are sorted."""
    found = np.empty(len(indices), np.int64)
    for v in range(len(indptr) - 1):
        for a in range(indptr[v], indptr[v + 1]):
            u = indices[a]
            found[a] = indptr[u] + np.searchsorted(indices[indptr[u] : indptr[u + 1]], v)
    return found


@numba.njit(nogil=True, cache=True)
def scale_to_plan(
    rows: np.ndarray,
    images: np.ndarray,
    beliefs: np.ndarray,
    row_scale: np.ndarray,
    image_scale: np.ndarray,
    iterations: int,
) -> np.ndarray:
    """Candidates' probabilities (p,) by Sinkhorn's iterations from log odds `beliefs` (p,).

    Each row and each image is matched once or, at odds of one, not at all. The scales (n,) and
    (m,) are updated in place, so that a later call starts from them.
    """
    kernel = np.exp(beliefs)
    row_sums, image_sums = np.empty(len(row_scale)), np.empty(len(image_scale))
    for number in range(iterations + 1):
        row_sums[:] = 1.0
        for e in range(len(rows)):
            row_sums[rows[e]] += kernel[e] * image_scale[images[e]]
        row_scale[:] = 1.0 / row_sums
        if number == iterations:
            break
        image_sums[:] = 1.0
        for e in range(len(rows)):
            image_sums[images[e]] += kernel[e] * row_scale[rows[e]]
        image_scale[:] = 1.0 / image_sums
    plan: np.ndarray = kernel * row_scale[rows] * image_scale[images]
    return plan


@numba.njit(nogil=True, cache=True)
def pass_messages(
    squares: Squares,
    plan: np.ndarray,
    weights: np.ndarray,
    power: float,
    damping: float,
    slots: np.ndarray,
    messages: np.ndarray,
    other_slots: np.ndarray,
    other_messages: np.ndarray,
) -> np.ndarray:
    """Sum (p,) of the messages to each candidate from the neighbours on both sides.

    Neighbour v of u sends (u, w) power · log(1 + weight · Σ q(v, x)) over the neighbours x of w,
    where q is the plan without the messages from (u, w) to (v, x); the neighbours of w do
    likewise, and the two sums are averaged. Messages are damped and updated in place.

    plan, weights  (p,) probability of each candidate and factor of its evidence
    """
    sums, other_sums = np.zeros(len(messages)), np.zeros(len(other_messages))
    for s in range(len(squares.first)):
        e, f = squares.first[s], squares.second[s]
        sent = 0.5 * (messages[squares.to_second[s]] + other_messages[squares.back_to_second[s]])
        odds = plan[f] * np.exp(-sent)
        share = odds / (1.0 - plan[f] + odds)
        sums[squares.to_first[s]] += share
        other_sums[squares.back_to_first[s]] += share
        sent = 0.5 * (messages[squares.to_first[s]] + other_messages[squares.back_to_first[s]])
        odds = plan[e] * np.exp(-sent)
        share = odds / (1.0 - plan[e] + odds)
        sums[squares.to_second[s]] += share
        other_sums[squares.back_to_second[s]] += share
    total = np.zeros(len(plan))
    for e in range(len(plan)):
        for i in range(slots[e], slots[e + 1]):
            new = power * np.log1p(weights[e] * sums[i])
            messages[i] = damping * messages[i] + (1.0 - damping) * new
            total[e] += 0.5 * messages[i]
        for i in range(other_slots[e], other_slots[e + 1]):
            new = power * np.log1p(weights[e] * other_sums[i])
            other_messages[i] = damping * other_messages[i] + (1.0 - damping) * new
            total[e] += 0.5 * other_messages[i]
    return total
