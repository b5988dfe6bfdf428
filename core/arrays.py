"""Integer codes of node pairs, sorted sets of them, and helpers for arrays."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse


def pair_codes(pairs: np.ndarray, num_nodes: int) -> np.ndarray:
    """(k,) int64 code min·n + max of each pair: equal for both directions."""
    first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.asarray(np.minimum(first, second) * num_nodes + np.maximum(first, second))


def decode_pairs(codes: np.ndarray, num_nodes: int) -> np.ndarray:
    """(k, 2) pairs of codes (k,), as from `pair_codes`."""
    pairs = np.empty((len(codes), 2), np.int64)
    np.divmod(codes, num_nodes, out=(pairs[:, 0], pairs[:, 1]))
    return pairs


def find_places(codes: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """Index of each code, an array of any shape, in `ordered` (m,), ascending; −1 if missing."""
    codes = np.asarray(codes)
    if not len(ordered):
        return np.full(codes.shape, -1)
    order = np.argsort(codes, axis=None)  # neighbours in memory are looked up in turn
    sought = codes.ravel()[order]
    found = np.searchsorted(ordered, sought).clip(max=len(ordered) - 1)
    places = np.empty(len(sought), np.int64)
    places[order] = np.where(ordered[found] == sought, found, -1)
    return places.reshape(codes.shape)


def is_among(codes: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """(k,) bool: which codes (k,) are in `ordered`, ascending; faster than `np.isin`, which
    hashes."""
    return find_places(codes, ordered) >= 0


def canonical_edges(
    pairs: np.ndarray, num_nodes: int, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Sorted distinct i < j edges (m, 2) of any pairs; the largest weight of duplicates."""
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    loops = pairs[:, 0] == pairs[:, 1]
    codes = pair_codes(pairs, num_nodes)[~loops]
    if weights is None:
        unique, merged = sort_distinct(codes), None
    else:
        values = np.asarray(weights, dtype=np.float64)[~loops]
        unique, inverse = np.unique(codes, return_inverse=True)
        merged = np.full(len(unique), -np.inf)
        np.maximum.at(merged, inverse, values)
    return decode_pairs(unique, num_nodes), merged


def sort_distinct(codes: np.ndarray) -> np.ndarray:
    """Sorted distinct values of (k,) numbers; faster than `np.unique`, which hashes."""
    ordered: np.ndarray = np.sort(codes)
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    return np.asarray(ordered[is_first])


def divide_or_zero(dividend: np.ndarray | float, divisor: np.ndarray) -> np.ndarray:
    """Quotients (k,); 0 where the divisor is not positive."""
    is_positive = divisor > 0
    return np.where(is_positive, dividend / np.where(is_positive, divisor, 1), 0)


def join_columns(left: Any, right: Any) -> Any:
    """Both tables (n, c) side by side, CSR if the left one is; None is a table without columns."""
    if left is None or right is None:
        return left if right is None else right
    if sparse.issparse(left):
        return sparse.hstack([left, sparse.csr_array(right)], format="csr")
    return np.concatenate([np.asarray(left), right], axis=1)


def hash_array(array: np.ndarray) -> str:
    """SHA-256 of the values, to name them in a key of shared work."""
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()


def freeze(array: np.ndarray) -> np.ndarray:
    """A read-only C-ordered array; copied if the caller could still write to it."""
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def freeze_matrix(features: Any) -> np.ndarray | sparse.csr_array:
    """(n, d) float32 that cannot be written to, dense or CSR; a copy unless it already is."""
    if sparse.issparse(features):
        if isinstance(features, sparse.csr_array) and features.dtype == np.float32:
            parts = (features.data, features.indices, features.indptr)
            is_frozen = not any(part.flags.writeable for part in parts)
            if is_frozen and features.has_canonical_format:
                return features
        matrix = sparse.csr_array(features, dtype=np.float32, copy=True)
        matrix.sum_duplicates()
        matrix.sort_indices()
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
        return matrix
    array = np.asarray(features, dtype=np.float32)
    return freeze(array.reshape(len(array), -1))
