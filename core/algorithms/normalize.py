"""Degree-normalised adjacency matrices, and standardised columns."""

from __future__ import annotations

from typing import Literal, TypeVar

import numpy as np
from scipy import sparse

Norm = Literal["none", "symmetric", "row"]
Rows = TypeVar("Rows", np.ndarray, sparse.csr_array)


def normalize_adjacency(
    adjacency: sparse.csr_array,
    norm: Norm = "symmetric",
    self_loops: bool = True,
    dtype: type[np.floating] = np.float32,
) -> sparse.csr_array:
    """D^-½ A D^-½ (`symmetric`), D⁻¹ A (`row`) or A itself, of A + I with `self_loops`.

    D holds the weighted row sums. Rows without links stay zero. O(m) time.
    """
    n = adjacency.shape[0]
    matrix = sparse.csr_array(adjacency, dtype=dtype)
    if self_loops:
        matrix = sparse.csr_array(matrix + sparse.eye_array(n, format="csr", dtype=dtype))
    if norm == "none":
        return matrix
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    with np.errstate(divide="ignore"):
        scale = np.where(degrees > 0, degrees ** (-0.5 if norm == "symmetric" else -1.0), 0.0)
    diagonal = sparse.diags_array(scale.astype(dtype))
    matrix = diagonal @ matrix @ diagonal if norm == "symmetric" else diagonal @ matrix
    matrix = sparse.csr_array(matrix)
    matrix.sort_indices()
    return matrix


def normalize_rows(rows: Rows) -> Rows:
    """Rows (n, d) divided by their Euclidean length; rows of zeros stay."""
    if isinstance(rows, np.ndarray):
        lengths = np.linalg.norm(rows, axis=1)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1.0)[:, None])
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ rows)


def standardize(values: np.ndarray) -> np.ndarray:
    """(n, c) columns of mean 0 and variance 1; constant ones, up to rounding, are 0."""
    centre, spread = fit_scale(values)
    return np.asarray((values - centre) / spread)


def fit_scale(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(c,) means and standard deviations of the columns (n, c), 1 for constant columns."""
    spread = values.std(axis=0)
    return values.mean(axis=0), np.where(spread > 1e-12, spread, 1.0)
