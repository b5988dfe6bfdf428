"""Graph matching as quadratic assignment, by the Frank–Wolfe method on doubly stochastic tables."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.progress import Progress

TOLERANCE = 1e-4
"""Gain relative to the objective below which the search ends."""


def match_by_frank_wolfe(
    known: sparse.csr_array,
    published: sparse.csr_array,
    start: np.ndarray,
    seeds: np.ndarray,
    rounds: int,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """(k,) mapping that makes tr(A P B Pᵀ) large, −1 if unmatched, and (k, n) the gradient A P B.

    known, published  (k, k) A and (n, n) B, symmetric
    start   (k, n) table to start from; its rows and columns of seeds are replaced
    seeds   (s, 2) fixed matches

    Each round moves towards the assignment that fits the gradient best, as far as the objective
    along the line grows; the last table is rounded to an assignment. O(n³) time per round.
    """
    rows = np.setdiff1d(np.arange(start.shape[0]), seeds[:, 0])
    columns = np.setdiff1d(np.arange(start.shape[1]), seeds[:, 1])
    table = np.zeros(start.shape)
    table[np.ix_(rows, columns)] = start[np.ix_(rows, columns)]
    table[seeds[:, 0], seeds[:, 1]] = 1.0

    def multiply(values: np.ndarray) -> np.ndarray:
        return np.asarray((published @ (known @ values).T).T)

    gradient = multiply(table)
    for number in range(rounds):
        progress.update(number, rounds, "matching")
        step = _assign(gradient, rows, columns) - table
        step[seeds[:, 0]] = 0.0
        curved = multiply(step)
        linear, square = 2.0 * float((gradient * step).sum()), float((curved * step).sum())
        # Rounding may leave `linear` below 0 where the table is an assignment already.
        linear = max(linear, 0.0)
        # A convex objective along the line is largest at its end.
        length = 1.0 if 2.0 * square + linear >= 0 else -linear / (2.0 * square)
        table += length * step
        gain = length * linear + length**2 * square
        gradient = gradient + length * curved
        if gain <= TOLERANCE * float((gradient * table).sum()):
            break
    image = np.full(len(table), -1)
    image[seeds[:, 0]] = seeds[:, 1]
    found = _assign(table, rows, columns)
    image[rows] = np.where(found[rows].any(axis=1), found[rows].argmax(axis=1), -1)
    return image, gradient


def _assign(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(k, n) 0/1 table of the best assignment of `rows` to `columns`."""
    from scipy.optimize import linear_sum_assignment  # half a second of every start

    assigned = np.zeros(values.shape)
    left, right = linear_sum_assignment(values[np.ix_(rows, columns)], maximize=True)
    assigned[rows[left], columns[right]] = 1.0
    return assigned


def compare_ranks(known: np.ndarray, published: np.ndarray, rounds: int = 50) -> np.ndarray:
    """(k, n) table with rows that sum to one: nodes alike in the ranks of their columns (k, c) and
    (n, c) within their graph.

    exp(−squared distance), relative to the mean distance of the fifth nearest, scaled by turns to
    equal row and column sums (Sinkhorn).
    """
    from scipy.spatial.distance import cdist
    from scipy.stats import rankdata

    here, there = (rankdata(values, axis=0) / len(values) for values in (known, published))
    distances = cdist(here, there, "sqeuclidean")
    place = min(5, distances.shape[1] - 1)
    scale = float(np.partition(distances, place, axis=1)[:, place].mean())
    table: np.ndarray = np.exp(-distances / max(scale, 1e-9)) + 1e-12
    for _ in range(rounds):
        table /= table.sum(axis=0)
        table /= table.sum(axis=1, keepdims=True)
    return table
