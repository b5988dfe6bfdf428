"""Inner products of sparse rows, pair by pair."""

from __future__ import annotations

import numba
import numpy as np
from scipy import sparse

from core.algorithms.pairs import split_by_work
from core.context import Context

TILE = 50_000_000
"""Steps between two progress reports: a fraction of a second."""


def compute_row_dots(
    left: sparse.csr_array,
    right: sparse.csr_array,
    pairs: np.ndarray,
    context: Context,
    message: str,
) -> np.ndarray:
    """(k,) left_i · right_j of the pairs (i, j), float64.

    left, right  (n, d) float64
    Time is that of the rows of `right`; a row of `left` is spread out once for all pairs that begin
    with it. `message` says what is compared, for the progress.
    """
    order = np.argsort(pairs[:, 0], kind="stable")
    lengths = np.diff(right.indptr)[pairs[order, 1]].astype(np.int64) + 1
    dots, spread = np.zeros(len(pairs)), np.zeros(left.shape[1])
    done = 0
    for tile in split_by_work(lengths, TILE):
        chosen = order[tile]
        dots[chosen] = _dot_rows(
            *(left.indptr, left.indices, left.data),
            *(right.indptr, right.indices, right.data),
            pairs[chosen],
            spread,
        )
        done += len(chosen)
        context.progress.update(done, len(pairs), message)
    return dots


@numba.njit(nogil=True, cache=True)
def _dot_rows(
    left_indptr: np.ndarray,
    left_indices: np.ndarray,
    left_data: np.ndarray,
    right_indptr: np.ndarray,
    right_indices: np.ndarray,
    right_data: np.ndarray,
    pairs: np.ndarray,
    spread: np.ndarray,
) -> np.ndarray:
    """Products of pairs in order of their first ends; `spread` (d,) is zero before and after."""
    dots = np.zeros(len(pairs))
    for k in range(len(pairs)):
        i, j = pairs[k]
        if k == 0 or pairs[k - 1, 0] != i:
            for a in range(left_indptr[i], left_indptr[i + 1]):
                spread[left_indices[a]] += left_data[a]
        total = 0.0
        for b in range(right_indptr[j], right_indptr[j + 1]):
            total += spread[right_indices[b]] * right_data[b]
        dots[k] = total
        if k + 1 == len(pairs) or pairs[k + 1, 0] != i:
            for a in range(left_indptr[i], left_indptr[i + 1]):
                spread[left_indices[a]] = 0.0
    return dots
