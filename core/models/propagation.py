"""Sparse propagation over an undirected graph, with a backward pass that uses A = Aᵀ."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numba
import numpy as np
import torch
from scipy import sparse

from core.algorithms.normalize import Norm, normalize_adjacency
from core.graph import Graph

# torch warns once per process; the calls used here are tested against dense products.
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")

_DENSE_LIMIT = 1 << 26
"""Maximum number of entries of a dense matrix: 256 MiB."""

_WIDE = 48
"""Columns from which the compiled product is faster than torch's."""


class _SparseMatmul(torch.autograd.Function):
    """M @ x for a constant sparse M; the backward pass multiplies by the given transpose."""

    @staticmethod
    def forward(
        ctx: Any, matrix: torch.Tensor, transpose: torch.Tensor, x: torch.Tensor
    ) -> torch.Tensor:
        ctx.transpose = transpose
        return multiply(matrix, x)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, None, multiply(ctx.transpose, gradients[0])


class Propagation:
    """x ↦ M x for a constant sparse M (n, n), differentiable in x.

    A symmetric M serves as its own transpose, which saves the transposed product that torch
    would build in every backward pass.
    """

    def __init__(self, matrix: sparse.csr_array, is_symmetric: bool, device: str = "cpu") -> None:
        self.matrix = to_torch_matrix(matrix, device)
        self.source, self._is_symmetric = matrix, is_symmetric

    @cached_property
    def transpose(self) -> torch.Tensor:
        """Built when a gradient is first needed."""
        if self._is_symmetric:
            return self.matrix
        return to_torch_matrix(sparse.csr_array(self.source.T), str(self.matrix.device))

    def select_rows(self, rows: np.ndarray) -> Propagation:
        """The product's `rows` only."""
        return Propagation(sparse.csr_array(self.source[rows]), False, str(self.matrix.device))

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """M x (t, …) of x (s, …)."""
        if x.ndim > 2:
            spread: torch.Tensor = self(x.flatten(1)).unflatten(1, x.shape[1:])
            return spread
        if not (torch.is_grad_enabled() and x.requires_grad):
            return multiply(self.matrix, x)
        product: torch.Tensor = _SparseMatmul.apply(self.matrix, self.transpose, x)  # type: ignore[no-untyped-call]
        return product

    @staticmethod
    def of_graph(
        graph: Graph, norm: Norm = "symmetric", self_loops: bool = True, device: str = "cpu"
    ) -> Propagation:
        """`symmetric`: D^-½ (A+I) D^-½ (GCN); `row`: D⁻¹ (A+I), the mean; `none`: A (+ I)."""
        matrix = normalize_adjacency(graph.adjacency, norm, self_loops)
        return Propagation(matrix, norm != "row", device)


class Identity(Propagation):
    """x ↦ x, for one free row a node."""

    def __init__(self, num_nodes: int, device: str = "cpu") -> None:
        eye = sparse.csr_array(sparse.eye_array(num_nodes, dtype=np.float32))
        super().__init__(eye, True, device)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """x itself."""
        return x


def to_torch_matrix(matrix: sparse.csr_array, device: str = "cpu") -> torch.Tensor:
    """Dense if at least a tenth is filled and it is small (weighted releases), else CSR."""
    size = matrix.shape[0] * matrix.shape[1]
    if size <= _DENSE_LIMIT and matrix.nnz * 10 >= size:
        return torch.from_numpy(matrix.toarray().astype(np.float32)).to(device)
    return to_torch_csr(matrix, device)


def to_torch_csr(matrix: sparse.csr_array, device: str = "cpu") -> torch.Tensor:
    """A torch sparse CSR float32 tensor with int32 indices where they fit (faster on CPU)."""
    kind = np.int32 if max(matrix.nnz, *matrix.shape) < 2**31 else np.int64
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(kind)),
        torch.from_numpy(matrix.indices.astype(kind)),
        torch.from_numpy(matrix.data.astype(np.float32)),
        size=matrix.shape,
        check_invariants=False,
    ).to(device)


def multiply(matrix: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """matrix @ x of a constant matrix (t, s) and x (s, d).

    Wide rows on a CPU are multiplied by a compiled loop. On one thread it takes about two thirds of
    torch's time at 189 columns, less than half at 576.
    """
    is_wide = x.ndim == 2 and x.shape[1] >= _WIDE and x.is_cpu and x.dtype == torch.float32
    if not is_wide or matrix.layout != torch.sparse_csr:
        return matrix @ x
    out = torch.empty(matrix.shape[0], x.shape[1])
    parts = (matrix.crow_indices(), matrix.col_indices(), matrix.values(), x.contiguous(), out)
    _multiply_rows(*(part.detach().numpy() for part in parts))
    return out


@numba.njit(nogil=True, cache=True)
def _multiply_rows(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, x: np.ndarray, out: np.ndarray
) -> None:
    """Row by row, four entries at a time, so that a row of `out` is read and written less."""
    for row in range(len(out)):
        for k in range(out.shape[1]):
            out[row, k] = 0.0
        index, end = indptr[row], indptr[row + 1]
        while index + 3 < end:
            a, b = indices[index], indices[index + 1]
            c, d = indices[index + 2], indices[index + 3]
            wa, wb, wc, wd = data[index], data[index + 1], data[index + 2], data[index + 3]
            for k in range(out.shape[1]):
                out[row, k] += wa * x[a, k] + wb * x[b, k] + wc * x[c, k] + wd * x[d, k]
            index += 4
        while index < end:
            a, wa = indices[index], data[index]
            for k in range(out.shape[1]):
                out[row, k] += wa * x[a, k]
            index += 1
