"""Products with a symmetric sparse matrix of learned values, one per pair.

The pattern is fixed: n nodes and E pairs i < j, plus the diagonal. The values are a vector (E +
n,), pairs first, then the diagonal. Both gradient kernels work on the list of pairs: dL/dv_ij =
g_i·x_j + g_j·x_i for the product, and the product itself for dL/dx. Time and memory are linear in
E, and nothing of size E × d is held.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch

TILE = 1 << 16
"""Pairs per chunk when whole rows are gathered (GPU)."""


class PairMatrix:
    """The fixed pattern of distinct pairs i < j sorted by (i, j); `matmul` is differentiable in
    the values and in x.
    """

    def __init__(self, num_nodes: int, pairs: np.ndarray, device: str = "cpu") -> None:
        n, count = num_nodes, len(pairs)
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        left, right = (np.ascontiguousarray(ends) for ends in pairs.T)
        indptr, indices, slots = _list_entries(left, right, n)
        self.num_nodes, self.num_pairs = n, count
        self.indptr, self.indices, self.slots, self.left, self.right = (
            torch.from_numpy(part).to(device) for part in (indptr, indices, slots, left, right)
        )
        self._codes = self.left * n + self.right

    def sum_at_ends(self, weights: torch.Tensor) -> torch.Tensor:
        """(n,) weighted degrees for pair weights (E,); differentiable."""
        sums = weights.new_zeros(self.num_nodes).index_add(0, self.left, weights)
        return sums.index_add(0, self.right, weights)

    def normalize(self, weights: torch.Tensor) -> torch.Tensor:
        """Values (E + n,) of D^-½ (A + I) D^-½, the GCN's, for pair weights (E,)."""
        degrees = torch.ones(self.num_nodes, device=weights.device, dtype=weights.dtype)
        degrees = degrees.index_add(0, self.left, weights).index_add(0, self.right, weights)
        scale = degrees.rsqrt()
        between = scale.index_select(0, self.left) * scale.index_select(0, self.right)
        return torch.cat([weights * between, scale * scale])

    def look_up(
        self, weights: torch.Tensor, left: torch.Tensor, right: torch.Tensor
    ) -> torch.Tensor:
        """(k,) weight of each given pair, 0 outside the pattern."""
        if not self.num_pairs:
            return torch.zeros(len(left), device=weights.device)
        codes = torch.minimum(left, right) * self.num_nodes + torch.maximum(left, right)
        place = torch.searchsorted(self._codes, codes).clamp_(max=self.num_pairs - 1)
        found = self._codes.index_select(0, place) == codes
        return torch.where(found, weights.index_select(0, place), 0.0)

    def matmul(self, values: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """M(values) @ x for values (E + n,) and x (n, d)."""
        product: torch.Tensor = _Matmul.apply(values, x, self)  # type: ignore[no-untyped-call]
        return product


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, x: torch.Tensor, pattern: PairMatrix) -> Any:
        ctx.save_for_backward(values, x)
        ctx.pattern = pattern
        return _multiply(pattern, values, x)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        values, x = ctx.saved_tensors
        pattern, g = ctx.pattern, gradients[0].contiguous()
        of_values = of_x = None
        if ctx.needs_input_grad[0]:
            pairs = _dot_both_ways(g, x, pattern.left, pattern.right)
            of_values = torch.cat([pairs, torch.linalg.vecdot(g, x)])
        if ctx.needs_input_grad[1]:
            of_x = _multiply(pattern, values, g)
        return of_values, of_x, None


class _PairDots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> Any:
        ctx.save_for_backward(z, left, right)
        out = torch.empty(len(left), dtype=z.dtype, device=z.device)
        if _has_kernels(z):
            _dot_kernel(left.numpy(), right.numpy(), z.detach().numpy(), out.numpy())
            return out
        for start in range(0, len(left), TILE):
            i, j = left[start : start + TILE], right[start : start + TILE]
            out[start : start + TILE] = torch.linalg.vecdot(z[i], z[j])
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        z, left, right = ctx.saved_tensors
        g = gradients[0].contiguous()
        out = torch.zeros_like(z)
        if _has_kernels(z):
            _scatter_kernel(left.numpy(), right.numpy(), g.numpy(), z.detach().numpy(), out.numpy())
            return out, None, None
        for start in range(0, len(left), TILE):
            i, j = left[start : start + TILE], right[start : start + TILE]
            part = g[start : start + TILE, None]
            out.index_add_(0, i, part * z[j])
            out.index_add_(0, j, part * z[i])
        return out, None, None


def compute_pair_dots(z: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """(k,) inner products z_i·z_j of the rows of z (n, d), differentiable in z."""
    dots: torch.Tensor = _PairDots.apply(z.contiguous(), left, right)  # type: ignore[no-untyped-call]
    return dots


def _has_kernels(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "cpu"


def _multiply(pattern: PairMatrix, values: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    entries = values.detach().index_select(0, pattern.slots)
    x = x.detach().contiguous()
    if _has_kernels(x):
        out = torch.empty_like(x)
        _multiply_kernel(
            pattern.indptr.numpy(), pattern.indices.numpy(), entries.numpy(), x.numpy(), out.numpy()
        )
        return out
    size = (pattern.num_nodes, pattern.num_nodes)
    matrix = torch.sparse_csr_tensor(
        pattern.indptr, pattern.indices, entries, size=size, check_invariants=False
    )
    return matrix @ x


def _dot_both_ways(
    g: torch.Tensor, x: torch.Tensor, left: torch.Tensor, right: torch.Tensor
) -> torch.Tensor:
    """(k,) g_i·x_j + g_j·x_i."""
    out = torch.empty(len(left), dtype=x.dtype, device=x.device)
    if _has_kernels(x):
        _dot_both_ways_kernel(
            left.numpy(), right.numpy(), g.numpy(), x.detach().contiguous().numpy(), out.numpy()
        )
        return out
    for start in range(0, len(left), TILE):
        i, j = left[start : start + TILE], right[start : start + TILE]
        out[start : start + TILE] = torch.linalg.vecdot(g[i], x[j]) + torch.linalg.vecdot(
            g[j], x[i]
        )
    return out


@numba.njit(nogil=True, cache=True)
def _list_entries(
    left: np.ndarray, right: np.ndarray, num_nodes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR row pointers and columns of the pattern, and each entry's place in the values.

    Taken node by node, pairs fill each row in ascending order: lower nodes, the diagonal, and the
    node's own pairs.
    """
    indptr = np.zeros(num_nodes + 1, np.int32)
    for e in range(len(left)):
        indptr[left[e] + 1] += 1
        indptr[right[e] + 1] += 1
    for i in range(num_nodes):
        indptr[i + 1] += indptr[i] + 1
    place = indptr[:-1].copy()
    indices = np.empty(2 * len(left) + num_nodes, np.int32)
    slots = np.empty(len(indices), np.int64)
    e = 0
    for i in range(num_nodes):
        indices[place[i]], slots[place[i]] = i, len(left) + i
        place[i] += 1
        while e < len(left) and left[e] == i:
            j = right[e]
            indices[place[i]], slots[place[i]] = j, e
            indices[place[j]], slots[place[j]] = i, e
            place[i] += 1
            place[j] += 1
            e += 1
    assert e == len(left), "pairs must be sorted"
    return indptr, indices, slots


@numba.njit(nogil=True, fastmath=True, cache=True)
def _multiply_kernel(
    indptr: np.ndarray, indices: np.ndarray, entries: np.ndarray, x: np.ndarray, out: np.ndarray
) -> None:
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            value = entries[p]
            if value != 0.0:
                for k in range(out.shape[1]):
                    out[i, k] += value * x[j, k]


@numba.njit(nogil=True, fastmath=True, cache=True)
def _dot_both_ways_kernel(
    left: np.ndarray, right: np.ndarray, g: np.ndarray, x: np.ndarray, out: np.ndarray
) -> None:
    for e in range(len(left)):
        i = left[e]
        j = right[e]
        total = g[i, 0] * x[j, 0] * 0.0
        for k in range(x.shape[1]):
            total += g[i, k] * x[j, k] + g[j, k] * x[i, k]
        out[e] = total


@numba.njit(nogil=True, fastmath=True, cache=True)
def _dot_kernel(left: np.ndarray, right: np.ndarray, z: np.ndarray, out: np.ndarray) -> None:
    for e in range(len(left)):
        i = left[e]
        j = right[e]
        total = z[i, 0] * 0.0
        for k in range(z.shape[1]):
            total += z[i, k] * z[j, k]
        out[e] = total


@numba.njit(nogil=True, fastmath=True, cache=True)
def _scatter_kernel(
    left: np.ndarray, right: np.ndarray, g: np.ndarray, z: np.ndarray, out: np.ndarray
) -> None:
    for e in range(len(left)):
        i = left[e]
        j = right[e]
        value = g[e]
        for k in range(z.shape[1]):
            out[i, k] += value * z[j, k]
            out[j, k] += value * z[i, k]
