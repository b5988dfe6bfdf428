"""Multi-head attention over one graph, differentiable, compiled on a CPU."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch
from scipy import sparse

Links = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Target, source and weight of each link, (links,) each."""


def list_links(matrix: sparse.csr_array, device: str) -> Links:
    """The entries of a matrix (t, s) of link weights."""
    targets = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return (
        torch.from_numpy(targets).to(device),
        torch.from_numpy(matrix.indices.astype(np.int64)).to(device),
        torch.from_numpy(matrix.data.astype(np.float32)).to(device),
    )


def attend_by_torch(
    values: torch.Tensor, to_source: torch.Tensor, to_target: torch.Tensor, links: Links
) -> torch.Tensor:
    """Mixed values (t, K, w) of values (s, K, w), to_source (s, K) and to_target (t, K).

    Torch operations, for GPUs and for link weights that need a gradient.
    """
    target, source, weight = links
    logits = torch.nn.functional.leaky_relu(to_source[source] + to_target[target], SLOPE)
    shape = to_target.shape
    peak = logits.detach().new_full(shape, -torch.inf)
    peak = peak.scatter_reduce(0, target[:, None].expand_as(logits), logits.detach(), "amax")
    strength = torch.exp(logits - peak[target]) * weight[:, None]
    total = strength.new_zeros(shape).index_add(0, target, strength)
    share = strength / total.clamp_min(1e-12)[target]
    mixed = values.new_zeros(shape[0], *values.shape[1:])
    return mixed.index_add(0, target, share[:, :, None] * values[source])


class Attention:
    """Softmax over each target's links of leaky(source + target), weighted by the links."""

    def __init__(self, matrix: sparse.csr_array, device: str = "cpu") -> None:
        """matrix (t, s): link weights."""
        self.num_targets = matrix.shape[0]
        self._indptr = matrix.indptr.astype(np.int64)
        self._indices = matrix.indices.astype(np.int64)
        self._weights = matrix.data.astype(np.float32)
        self.links = list_links(matrix, device)

    def __call__(
        self, values: torch.Tensor, to_source: torch.Tensor, to_target: torch.Tensor
    ) -> torch.Tensor:
        """Mixed values (t, K, w) of values (s, K, w), to_source (s, K) and to_target (t, K)."""
        if values.device.type != "cpu":
            return attend_by_torch(values, to_source, to_target, self.links)
        mixed: torch.Tensor = _Attend.apply(self, values, to_source, to_target)  # type: ignore[no-untyped-call]
        return mixed

    def forward(self, values: Any, to_source: Any, to_target: Any) -> tuple[Any, Any]:
        """Mixed values (t, K, w) and attention shares (links, K), as arrays."""
        mixed = np.empty((self.num_targets, *values.shape[1:]), np.float32)
        shares = np.empty((len(self._indices), values.shape[1]), np.float32)
        compute_logits(self._indptr, self._indices, to_source, to_target, shares)
        np.exp(shares, out=shares)  # many at once, in a third of the time of one by one
        mix(self._indptr, self._indices, self._weights, values, shares, mixed)
        return mixed, shares

    def backward(
        self, values: Any, to_source: Any, to_target: Any, shares: Any, gradient: Any
    ) -> tuple[Any, Any, Any]:
        """Derivatives with respect to values, to_source and to_target, as arrays."""
        gradients = np.zeros_like(values), np.zeros_like(to_source), np.zeros_like(to_target)
        attend_backward(
            self._indptr, self._indices, values, to_source, to_target, shares, gradient, *gradients
        )
        return gradients


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, attention: Attention, *inputs: torch.Tensor) -> torch.Tensor:
        arrays = [part.detach().contiguous().numpy() for part in inputs]
        mixed, shares = attention.forward(*arrays)
        ctx.attention, ctx.arrays, ctx.shares = attention, arrays, shares
        return torch.from_numpy(mixed)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        gradient = gradients[0].contiguous().numpy()
        derivatives = ctx.attention.backward(*ctx.arrays, ctx.shares, gradient)
        return None, *map(torch.from_numpy, derivatives)


def project(values: torch.Tensor, towards: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Two inner products (s, K) of each head's values (s, K, w), with towards (2, K, w)."""
    if values.device.type != "cpu":
        return tuple((values * part).sum(-1) for part in towards)
    products: tuple[torch.Tensor, ...] = _Project.apply(values, towards)  # type: ignore[no-untyped-call]
    return products


class _Project(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, towards: torch.Tensor) -> Any:
        arrays = [part.detach().contiguous().numpy() for part in (values, towards)]
        products = np.empty((2, *values.shape[:2]), np.float32)
        multiply_heads(arrays[0], arrays[1], products[0], products[1])
        ctx.arrays = arrays
        return tuple(map(torch.from_numpy, products))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        values, towards = ctx.arrays
        by_values, by_towards = np.empty_like(values), np.zeros(towards.shape)
        parts = [gradient.contiguous().numpy() for gradient in gradients]
        multiply_heads_backward(values, towards, parts[0], parts[1], by_values, by_towards)
        return torch.from_numpy(by_values), torch.from_numpy(by_towards.astype(np.float32))


@numba.njit(nogil=True, cache=True, fastmath=True)
def multiply_heads(
    values: np.ndarray, towards: np.ndarray, first: np.ndarray, second: np.ndarray
) -> None:
    """first, second (s, K) = Σ_c values (s, K, c) · towards (2, K, c), in place."""
    for s in range(values.shape[0]):
        for k in range(values.shape[1]):
            a = b = np.float32(0.0)
            for c in range(values.shape[2]):
                a += values[s, k, c] * towards[0, k, c]
                b += values[s, k, c] * towards[1, k, c]
            first[s, k], second[s, k] = a, b


@numba.njit(nogil=True, cache=True, fastmath=True)
def multiply_heads_backward(
    values: np.ndarray,
    towards: np.ndarray,
    by_first: np.ndarray,
    by_second: np.ndarray,
    by_values: np.ndarray,
    by_towards: np.ndarray,
) -> None:
    """`by_values` in place, and added to `by_towards`, a sum over many nodes and of doubles, from
    those of both products (s, K)."""
    for s in range(values.shape[0]):
        for k in range(values.shape[1]):
            a, b = by_first[s, k], by_second[s, k]
            for c in range(values.shape[2]):
                by_values[s, k, c] = a * towards[0, k, c] + b * towards[1, k, c]
                by_towards[0, k, c] += a * values[s, k, c]
                by_towards[1, k, c] += b * values[s, k, c]


SLOPE = 0.2
"""Negative slope of the leaky rectifier on the logits (Veličković et al., 2018, §3.1)."""


@numba.njit(nogil=True, cache=True, fastmath=True)
def compute_logits(
    indptr: np.ndarray,
    indices: np.ndarray,
    to_source: np.ndarray,
    to_target: np.ndarray,
    logits: np.ndarray,
) -> None:
    """logits (links, K) = leaky(to_source (s, K) + to_target (t, K)) minus the largest of each
    target, in place."""
    peak = np.empty(to_source.shape[1], np.float32)
    for t in range(len(indptr) - 1):
        first, last = indptr[t], indptr[t + 1]
        peak[:] = -np.float32(1e30)
        for e in range(first, last):
            s = indices[e]
            for k in range(len(peak)):
                logit = to_source[s, k] + to_target[t, k]
                logit = max(logit, np.float32(SLOPE) * logit)
                logits[e, k] = logit
                peak[k] = max(peak[k], logit)
        for e in range(first, last):
            for k in range(len(peak)):
                logits[e, k] -= peak[k]


@numba.njit(nogil=True, cache=True, fastmath=True)
def mix(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
    shares: np.ndarray,
    mixed: np.ndarray,
) -> None:
    """mixed_t = Σ_e share_e · value_source(e), in place, where `shares` (links, K) become the
    exponentials that they are, weighted, over their sum at each target.

    values (s, K, w), mixed (t, K, w)
    A link's weight scales its unnormalised attention, so that a weight of 0 removes the link.
    """
    num_heads, width = values.shape[1], values.shape[2]
    total = np.empty(num_heads, np.float32)
    for t in range(len(indptr) - 1):
        first, last = indptr[t], indptr[t + 1]
        total[:] = np.float32(0.0)
        for e in range(first, last):
            for k in range(num_heads):
                shares[e, k] *= weights[e]
                total[k] += shares[e, k]
        for k in range(num_heads):
            total[k] = np.float32(1.0) / max(total[k], np.float32(1e-12))
        mixed[t] = np.float32(0.0)
        for e in range(first, last):
            s = indices[e]
            for k in range(num_heads):
                share = shares[e, k] * total[k]
                shares[e, k] = share
                for c in range(width):
                    mixed[t, k, c] += share * values[s, k, c]


@numba.njit(nogil=True, cache=True, fastmath=True)
def attend_backward(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    to_source: np.ndarray,
    to_target: np.ndarray,
    shares: np.ndarray,
    gradient: np.ndarray,
    by_values: np.ndarray,
    by_source: np.ndarray,
    by_target: np.ndarray,
) -> None:
    """Add to `by_…` the derivatives with respect to values, to_source and to_target, given the
    `gradient` (t, K, w) with respect to `mixed`."""
    num_heads, width = values.shape[1], values.shape[2]
    mean = np.empty(num_heads, np.float32)
    max_links = 0
    for t in range(len(indptr) - 1):
        max_links = max(max_links, indptr[t + 1] - indptr[t])
    by_share = np.empty((max_links, num_heads), np.float32)
    for t in range(len(indptr) - 1):
        first, last = indptr[t], indptr[t + 1]
        mean[:] = np.float32(0.0)
        for e in range(first, last):
            s = indices[e]
            for k in range(num_heads):
                share = shares[e, k]
                product = np.float32(0.0)
                for c in range(width):
                    product += gradient[t, k, c] * values[s, k, c]
                    by_values[s, k, c] += share * gradient[t, k, c]
                by_share[e - first, k] = product
                mean[k] += share * product
        for e in range(first, last):
            s = indices[e]
            for k in range(num_heads):
                by_logit = shares[e, k] * (by_share[e - first, k] - mean[k])
                if to_source[s, k] + to_target[t, k] < 0:
                    by_logit *= np.float32(SLOPE)
                by_source[s, k] += by_logit
                by_target[t, k] += by_logit
