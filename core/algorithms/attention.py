"""Compiled loops of graph attention over a CSR pattern: forward, and its derivatives.

(t, s) pattern with `indptr`, `indices` and link weights; K heads of width w.
"""

from __future__ import annotations

import math

import numba
import numpy as np

SLOPE = 0.2
"""Of the leaky rectifier on the logits (Veličković et al., 2018, §3.1)."""


@numba.njit(nogil=True, cache=True, fastmath=True)
def attend(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
    to_source: np.ndarray,
    to_target: np.ndarray,
    mixed: np.ndarray,
    shares: np.ndarray,
) -> None:
    """mixed_t = Σ_e share_e · value_source(e), share the softmax over t's links, in place.

    values     (s, K, w), to_source (s, K), to_target (t, K): logit = leaky(source + target)
    mixed      (t, K, w) and shares (links, K): what comes out
    A link's weight scales its unnormalised attention, so that a weight of 0 is no link.
    """
    num_heads, width = values.shape[1], values.shape[2]
    peak = np.empty(num_heads, np.float32)
    total = np.empty(num_heads, np.float32)
    for t in range(len(indptr) - 1):
        first, last = indptr[t], indptr[t + 1]
        peak[:] = -np.float32(1e30)
        total[:] = np.float32(0.0)
        for e in range(first, last):
            s = indices[e]
            for k in range(num_heads):
                logit = to_source[s, k] + to_target[t, k]
                logit = max(logit, np.float32(SLOPE) * logit)
                shares[e, k] = logit
                peak[k] = max(peak[k], logit)
        for e in range(first, last):
            for k in range(num_heads):
                strength = np.float32(math.exp(shares[e, k] - peak[k])) * weights[e]
                shares[e, k] = strength
                total[k] += strength
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
    """Adds to `by_…` the derivatives by values, to_source and to_target for that by `mixed`."""
    num_heads, width = values.shape[1], values.shape[2]
    mean = np.empty(num_heads, np.float32)
    most = 0
    for t in range(len(indptr) - 1):
        most = max(most, indptr[t + 1] - indptr[t])
    by_share = np.empty((most, num_heads), np.float32)
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
