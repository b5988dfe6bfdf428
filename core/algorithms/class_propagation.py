"""Spreading known labels over a graph; plain SciPy, no torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from core.graph import Graph
from core.progress import Progress


def propagate_labels(
    graph: Graph,
    codes: np.ndarray,
    prior: np.ndarray,
    neighbor_share: float = 0.99,
    rounds: int = 100,
    progress: Progress | None = None,
) -> np.ndarray:
    """(n, C) rows that sum to one after `rounds` of F ← a D⁻¹A F + (1−a) prior.

    codes  (n,) known class or −1; known rows stay one-hot
    prior  (C,) class shares; also the starting value, and the value of a node without links
    """
    return propagate_several(graph, [codes], prior, neighbor_share, rounds, progress)[0]


def propagate_several(
    graph: Graph,
    codes: Sequence[np.ndarray],
    prior: np.ndarray,
    neighbor_share: float = 0.99,
    rounds: int = 100,
    progress: Progress | None = None,
) -> list[np.ndarray]:
    """`spread_labels` of several sets of known classes, side by side: one pass over the links a
    round serves all, for no column enters another's sum."""
    progress = progress or Progress()
    adjacency = graph.adjacency.astype(np.float64)
    totals = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    walk = sparse.csr_array(sparse.diags_array(scale) @ adjacency)
    del adjacency
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

    Spread values huddle around the class shares, so that the largest class wins nearly
    everywhere however well they rank. Their logarithms get mean zero over the unknown nodes in
    each class (Zhu, Ghahramani and Lafferty, 2003, §4, divide by the class's mass); `sharpen`
    puts them back on the class shares.
    """
    logs = np.log(np.clip(values, 1e-6, None))
    centred: np.ndarray = logs - logs[unknown].mean(axis=0) if unknown.any() else logs
    return centred


def sharpen(logits: np.ndarray, prior: np.ndarray, power: float) -> np.ndarray:
    """(n, C) rows ∝ prior · exp(power · logits)."""
    scaled = np.log(prior) + power * logits
    scaled -= scaled.max(axis=1, keepdims=True)
    values = np.exp(scaled)
    rows: np.ndarray = values / values.sum(axis=1, keepdims=True)
    return rows
