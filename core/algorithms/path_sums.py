"""Sums over the paths of three links between the ends of pairs."""

from __future__ import annotations

import numba
import numpy as np
from scipy import sparse

from core.algorithms.pairs import split_by_work
from core.context import Context

TILE = 50_000_000
"""Steps between two progress reports: a fraction of a second."""


def sum_paths(
    rows: sparse.csr_array,
    matrix: sparse.csr_array,
    pairs: np.ndarray,
    context: Context,
    factor: float = 1.0,
) -> np.ndarray:
    """(k,) Σ_v factor · (rows · matrix)_iv · rows_jv of the pairs (i, j), float64.

    The row i of the product is computed once for all pairs that begin with i, since pairs outnumber
    nodes where many released links are described. The terms are added in the order of scipy's
    `((rows[i] @ matrix) * factor).multiply(rows[j]).sum(axis=1)`: equal to the last bit.
    """
    order = np.argsort(pairs[:, 0], kind="stable")
    source, target = pairs[order].T
    degrees = np.diff(matrix.indptr)
    widths = np.bincount(
        np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)),
        degrees[rows.indices],
        minlength=rows.shape[0],
    )
    lengths = np.diff(rows.indptr)[target].astype(np.int64)
    is_first = np.append(True, source[1:] != source[:-1])[: len(source)]
    limit = max(min(context.memory_budget // 64, TILE), 1)
    tiles = split_by_work(np.where(is_first, widths[source], 0) + lengths, limit)
    sums = np.zeros(len(pairs))
    for number, tile in enumerate(tiles):
        context.progress.update(number, len(tiles), "paths of three links")
        if not len(tile):
            continue
        terms = np.empty(int(lengths[tile].sum()))
        counts = _list_terms(
            rows.indptr,
            rows.indices,
            rows.data,
            matrix.indptr,
            matrix.indices,
            matrix.data,
            source[tile],
            target[tile],
            factor,
            terms,
        )
        first = np.cumsum(counts) - counts
        has_terms = counts > 0  # reduceat takes no empty sums
        if has_terms.any():
            sums[order[tile[has_terms]]] = np.add.reduceat(terms[: counts.sum()], first[has_terms])
    return sums


@numba.njit(nogil=True, cache=True)
def _list_terms(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    matrix_indptr: np.ndarray,
    matrix_indices: np.ndarray,
    matrix_data: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    factor: float,
    terms: np.ndarray,
) -> np.ndarray:
    """Write the terms other than 0, pair after pair, into `terms`; returns each pair's number.

    `source` (k,) is sorted. A pair's terms come in the order in which v is first reached.
    """
    n = len(indptr) - 1
    row, rank = np.zeros(n), np.full(n, -1, np.int64)
    reached, size, last = np.empty(n, np.int64), 0, -1
    counts, start = np.zeros(len(source), np.int64), 0
    for k in range(len(source)):
        i, j = source[k], target[k]
        if i != last:
            for a in range(size):
                row[reached[a]] = 0.0
                rank[reached[a]] = -1
            size, last = 0, i
            for a in range(indptr[i], indptr[i + 1]):
                u, value = indices[a], data[a]
                for b in range(matrix_indptr[u], matrix_indptr[u + 1]):
                    v = matrix_indices[b]
                    if rank[v] < 0:
                        rank[v] = size
                        reached[size] = v
                        size += 1
                    row[v] += value * matrix_data[b]
        count = 0
        ranks = np.empty(indptr[j + 1] - indptr[j], np.int64)
        for a in range(indptr[j], indptr[j + 1]):
            v = indices[a]
            if rank[v] >= 0:
                term = row[v] * factor * data[a]
                if term != 0.0:
                    ranks[count] = rank[v]
                    terms[start + count] = term
                    count += 1
        in_order = np.argsort(ranks[:count])
        terms[start : start + count] = terms[start : start + count][in_order]
        counts[k] = count
        start += count
    return counts
