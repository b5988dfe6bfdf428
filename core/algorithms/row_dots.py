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
    lefts, rights, done = _view(left), _view(right), 0
    for tile in split_by_work(lengths, TILE):
        chosen = order[tile]
        found = np.empty(len(chosen))
        _dot_rows(*lefts, *rights, pairs[chosen], spread, found)
        dots[chosen] = found
        done += len(chosen)
        context.progress.update(done, len(pairs), message)
    return dots


def _view(matrix: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Its arrays, indices as int64, all read-only: the loop is compiled for one kind of arrays."""
    indptr = matrix.indptr.astype(np.int64, copy=False).view()
    indices = matrix.indices.astype(np.int64, copy=False).view()
    data = matrix.data.view()
    for part in (indptr, indices, data):
        part.flags.writeable = False
    return indptr, indices, data


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
    dots: np.ndarray,
) -> None:
    """Products of pairs in order of their first ends; `spread` (d,) is zero before and after."""
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
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
