"""Propagation of known classes along the links of a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from core.algorithms.normalize import normalize_adjacency
from core.graph import Graph
from core.progress import Progress

SETTLED = 1e-5
"""Root mean square, over the nodes, of what rounds left out may change beside a geometric series,
as far as the last round tells. Single nodes far from all that is known may change more."""


def propagate_labels(
    graph: Graph,
    codes: Sequence[np.ndarray],
    prior: np.ndarray,
    neighbor_share: float = 0.99,
    rounds: int = 100,
    settled: float = 0.0,
    progress: Progress | None = None,
) -> list[np.ndarray]:
    """(n, C) rows that sum to one after `rounds` of F ← a D⁻¹A F + (1−a) prior, for each set of
    known classes; one pass over the links serves all sets.

    codes    (n,) known class or −1 each; known rows stay one-hot
    prior    (C,) class shares: the starting value, and the value of a node without links
    settled  0: all rounds; above it rounds end as in `follow_series`, and values are float32
    """
    progress = progress or Progress()
    dtype = np.float32 if settled else np.float64
    walk = normalize_adjacency(graph.adjacency, "row", self_loops=False, dtype=np.float64)
    is_linked = np.asarray(walk.sum(axis=1)).ravel() > 0
    walk = walk.astype(dtype)
    free = max(len(prior) - 1, 1) if settled else len(prior)
    values, shares = start_values(codes, prior, free, dtype)
    base = np.where(is_linked[:, None], (1.0 - neighbor_share) * shares, shares).astype(dtype)
    fixed = [
        (rows, slice(start, start + free), values[rows, start : start + free])
        for start, each in zip(range(0, values.shape[1], free), codes, strict=True)
        for rows in (np.flatnonzero(each >= 0),)
    ]
    last = change = np.zeros_like(values)
    factors = left = np.zeros(values.shape[1])
    for turn in range(1, rounds + 1):
        after = walk @ values
        after *= neighbor_share
        after += base
        for rows, columns, known in fixed:
            after[rows, columns] = known
        change, values = np.subtract(after, values, out=values), after
        progress.update(turn, rounds, "label propagation")
        if settled:
            uneven = change - factors.astype(dtype) * last
            pairs = ((change, last), (last, last), (uneven, uneven))
            found = np.stack([np.einsum("ij,ij->j", *pair, dtype=np.float64) for pair in pairs])
            is_settled, factors, left = follow_series(
                found, factors, graph.num_nodes, rounds - turn, settled
            )
            if is_settled:
                break
        last = change
    if not settled:
        return [np.ascontiguousarray(values[:, columns]) for _, columns, _ in fixed]
    return complete_classes(values + change * left, len(prior))


def start_values(
    codes: Sequence[np.ndarray], prior: np.ndarray, free: int, dtype: type[np.floating]
) -> tuple[np.ndarray, np.ndarray]:
    """(n, sets · free) values before the first round, of the first `free` classes, and the class
    shares of these columns."""
    width = len(prior)
    shares = np.tile(np.asarray(prior, np.float64)[:free], len(codes))
    values = np.tile(shares.astype(dtype), (len(codes[0]), 1))
    for number, each in enumerate(codes):
        rows = np.flatnonzero(each >= 0)
        values[rows, number * free : (number + 1) * free] = np.eye(width)[each[rows], :free]
    return values, shares


def follow_series(
    found: np.ndarray, factors: np.ndarray, num_nodes: int, num_left: int, settled: float
) -> tuple[bool, np.ndarray, np.ndarray]:
    """Whether every column (c,) changes by a constant factor from round to round, within `settled`;
    the factors; and the rounds left, as multiples of the last change: a geometric series (Kamvar et
    al., Extrapolation methods for accelerating PageRank computations, WWW 2003, by one eigenvalue).

    found  (3, c) Σ change · last change, Σ (last change)² and Σ (change − factor · last change)²
    """
    left = (factors ** np.arange(1, num_left + 1)[:, None]).sum(axis=0)
    products, squares, uneven = found
    if (np.sqrt(uneven / num_nodes) * (1 + left)).max() <= settled:
        return True, factors, left
    return False, (products / np.maximum(squares, 1e-30)).clip(0, 1), left


def complete_classes(values: np.ndarray, width: int) -> list[np.ndarray]:
    """(n, C) float64 rows of each set, of the values (n, sets · (C − 1)) without the last class,
    which is the rest to one."""
    free = max(width - 1, 1)
    spread = []
    for start in range(0, values.shape[1], free):
        part = np.empty((len(values), width))
        np.clip(values[:, start : start + width - 1], 0, 1, out=part[:, :-1])
        part[:, -1] = (1 - part[:, :-1].sum(axis=1)).clip(min=0)
        spread.append(part)
    return spread


def normalize_class_mass(values: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """(n, C) log-odds against the mass of each class: class mass normalisation, as logarithms.

    Propagated values stay close to the class shares, so that nearly all nodes get the largest
    class even if the ranking is good. Their logarithms get mean zero over the unknown nodes in
    each class (Zhu, Ghahramani and Lafferty, 2003, §4, divide by the class's mass); `sharpen`
    restores the class shares.
    """
    logs = np.log(np.clip(values, 1e-6, None))
    return np.asarray(logs - logs[unknown].mean(axis=0) if unknown.any() else logs)


def sharpen(logits: np.ndarray, prior: np.ndarray, power: float) -> np.ndarray:
    """(n, C) rows ∝ prior · exp(power · logits)."""
    return np.asarray(softmax(np.log(prior) + power * logits, axis=1))


def fit_power(logits: np.ndarray, prior: np.ndarray, codes: np.ndarray) -> float:
    """The power of `sharpen` under which classes (k,) are likeliest given (k, C) logits; 1 without
    any."""
    from scipy.optimize import minimize_scalar

    if not len(codes):
        return 1.0
    rows = np.arange(len(codes))

    def compute_loss(exponent: float) -> float:
        chances = sharpen(logits, prior, float(np.exp(exponent)))[rows, codes]
        return float(-np.log(np.maximum(chances, 1e-12)).mean())

    return float(np.exp(minimize_scalar(compute_loss, bounds=(-4.0, 2.0), method="bounded").x))
