"""Compiled loops of belief propagation in block models, over a CSR adjacency."""

from __future__ import annotations

import numba
import numpy as np

LEAST = 1e-200
"""Products are scaled up before they get smaller."""


@numba.njit(nogil=True, cache=True)
def pass_messages(
    indptr: np.ndarray,
    indices: np.ndarray,
    reverse: np.ndarray,
    order: np.ndarray,
    theta: np.ndarray,
    rates: np.ndarray,
    shares: np.ndarray,
    missed: np.ndarray,
    messages: np.ndarray,
    chances: np.ndarray,
    logs: np.ndarray,
) -> float:
    """One sweep, node by node in an order; changes `messages`, `chances`, `missed` and `logs` in
    place, and returns by how much the chances (n, B) changed, summed.

    messages  (2m, B) of row i: from the neighbour to i; `reverse` (2m,): the same link's other one
    missed    (B,) Σ_j θ_j Σ_b ω_ab q_jb, by which links that are not there count
    logs      (n,) logarithms of what the chances were divided by
    """
    num_blocks = len(shares)
    widest = 0
    for i in range(len(indptr) - 1):
        widest = max(widest, indptr[i + 1] - indptr[i])
    sent = np.empty((widest, num_blocks))
    product, found = np.empty(num_blocks), np.empty(num_blocks)
    change = 0.0
    for i in order:
        scale = -theta[i] * missed.min()
        for a in range(num_blocks):
            product[a] = shares[a] * np.exp(-theta[i] * missed[a] - scale)
        start = indptr[i]
        for e in range(start, indptr[i + 1]):
            found[:] = 0.0
            for b in range(num_blocks):  # sums of rows side by side: vector instructions
                share = messages[e, b]
                for a in range(num_blocks):
                    found[a] += share * rates[b, a]
            peak = 0.0
            for a in range(num_blocks):
                sent[e - start, a] = found[a]
                product[a] *= found[a]
                peak = max(peak, product[a])
            if peak < LEAST or peak > 1.0 / LEAST:
                scale += np.log(peak)
                product /= peak
        total = product.sum()
        logs[i] = np.log(total) + scale
        for a in range(num_blocks):
            product[a] /= total
            moved = product[a] - chances[i, a]
            change += abs(moved)
            found[a] = theta[i] * moved
            chances[i, a] = product[a]
        for b in range(num_blocks):
            for a in range(num_blocks):
                missed[a] += found[b] * rates[b, a]
        for e in range(start, indptr[i + 1]):
            total = 0.0
            for a in range(num_blocks):
                found[a] = product[a] / sent[e - start, a]
                total += found[a]
            for a in range(num_blocks):
                messages[reverse[e], a] = found[a] / total
    return change


@numba.njit(nogil=True, cache=True)
def weigh_links(
    reverse: np.ndarray, rates: np.ndarray, messages: np.ndarray, links: np.ndarray
) -> float:
    """Adds the expected numbers of link ends by both blocks to `links` (B, B), and returns the
    sum of the logarithms of each link's normaliser."""
    num_blocks = len(rates)
    logs = 0.0
    both = np.empty((num_blocks, num_blocks))
    for e in range(len(reverse)):
        other = reverse[e]
        if other < e:
            continue
        total = 0.0
        for a in range(num_blocks):
            for b in range(num_blocks):
                both[a, b] = rates[a, b] * messages[e, a] * messages[other, b]
                total += both[a, b]
        logs += np.log(total)
        for a in range(num_blocks):
            for b in range(num_blocks):
                links[a, b] += both[a, b] / total
                links[b, a] += both[a, b] / total
    return logs
