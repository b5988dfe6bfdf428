"""Propagation of known classes along the links of a graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from core.algorithms.normalize import normalize_adjacency
from core.graph import Graph
from core.progress import Progress


def propagate_labels(
    graph: Graph,
    codes: Sequence[np.ndarray],
    prior: np.ndarray,
    neighbor_share: float = 0.99,
    rounds: int = 100,
    progress: Progress | None = None,
) -> list[np.ndarray]:
    """(n, C) rows that sum to one after `rounds` of F ← a D⁻¹A F + (1−a) prior, for each set of
    known classes; one pass over the links serves all sets.

    codes  (n,) known class or −1 each; known rows stay one-hot
    prior  (C,) class shares: the starting value, and the value of a node without links
    """
    progress = progress or Progress()
    walk = normalize_adjacency(graph.adjacency, "row", self_loops=False, dtype=np.float64)
    totals = np.asarray(graph.adjacency.astype(np.float64).sum(axis=1)).ravel()
    width, ends = len(prior), range(0, len(codes) * len(prior), len(prior))
    known = [np.flatnonzero(each >= 0) for each in codes]
    truth = [np.eye(width)[each[rows]] for each, rows in zip(codes, known, strict=True)]
    values = np.tile(np.asarray(prior, np.float64), (graph.num_nodes, len(codes)))
    fixed = list(zip(known, ends, truth, strict=True))
    for rows, start, classes in fixed:
        values[rows, start : start + width] = classes
    shares = np.tile(np.asarray(prior, np.float64), len(codes))
    base = np.where(totals[:, None] > 0, (1.0 - neighbor_share) * shares, shares)
    for index in range(rounds):
        values = walk @ values
        values *= neighbor_share
        values += base
        for rows, start, classes in fixed:
            values[rows, start : start + width] = classes
        progress.update(index + 1, rounds, "label propagation")
    return [np.ascontiguousarray(values[:, start : start + width]) for start in ends]


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
