"""Naming blocks: which class the people of a block are of, from few known people and shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from core.graph import MISSING

PURITIES = (0.95, 0.8, 0.5)
"""Parts of a block that have its class, if it has one; the rest is as all people."""
CERTAINTIES = (1.0, 4.0, 16.0)
"""People that the guess about a block with a class counts for beside known ones."""
CAUTIONS = (0.3, 1.0, 3.0, 10.0, 100.0)
"""The same where blocks say nothing of classes beforehand."""
TOLERANCE = 0.05
"""By how much the shares of the blocks may miss those of the classes, if blocks are classes."""
MOST_NAMINGS = 20_000
"""Namings that are weighed against the class shares one by one."""


@dataclass(frozen=True, eq=False)
class Naming:
    """table (B, C) chances of the classes in each block; evidence: log-chance of what is known."""

    table: np.ndarray
    evidence: float


def name_blocks(
    chances: np.ndarray, observed: np.ndarray, shares: np.ndarray, spread: float = 0.0
) -> Naming:
    """Weighs all that blocks may stand for, by the known people in them and their sizes.

    chances  (n, B) blocks, found without the known values
    observed (n,) codes, MISSING where unknown
    shares   (C,) of the classes, above 0, and the standard error at which they are known

    A block is like all people, or mostly of one class; which, and how purely, nobody knows: each
    possibility counts by how well it predicts the known people (Dirichlet-multinomial) and, if
    blocks are classes, by how well its sizes fit the shares. Nobody known and equal sizes leave
    the shares themselves.
    """
    known = np.flatnonzero(observed != MISSING)
    counts = chances[known].T @ np.eye(len(shares))[observed[known]]
    sizes = chances.sum(axis=0) / len(chances)
    tables, weights = [], []
    for caution in CAUTIONS:
        evidence, table = _learn(counts, np.tile(shares, (len(counts), 1)), caution)
        tables.append(table)
        weights.append(float(evidence.sum()) - np.log(2 * len(CAUTIONS)))
    few = float(len(shares)) ** len(counts) <= MOST_NAMINGS
    namings = _list_namings(*counts.shape) if few else None
    for purity in PURITIES:
        for certainty in CERTAINTIES:
            table, weight = _name_each(counts, sizes, shares, purity, certainty, spread, namings)
            tables.append(table)
            weights.append(weight - np.log(2 * len(PURITIES) * len(CERTAINTIES)))
    total = logsumexp(weights)
    mixed = np.einsum("k,kbc->bc", np.exp(np.array(weights) - total), np.array(tables))
    return Naming(mixed / mixed.sum(axis=1, keepdims=True), float(total))


def _name_each(
    counts: np.ndarray,
    sizes: np.ndarray,
    shares: np.ndarray,
    purity: float,
    certainty: float,
    spread: float,
    namings: np.ndarray | None,
) -> tuple[np.ndarray, float]:
    """(B, C) and log-weight if every block is mostly of one class, over all namings (N, B)."""
    num_blocks, num_classes = counts.shape
    evidence = np.zeros((num_blocks, num_classes))
    tables = np.zeros((num_blocks, num_classes, num_classes))
    for code in range(num_classes):
        guess = purity * np.eye(num_classes)[code] + (1 - purity) * shares
        evidence[:, code], tables[:, code] = _learn(counts, guess, certainty)
    logs = evidence + np.log(shares)
    if namings is None:
        chances = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        return np.einsum("bc,bcd->bd", chances, tables), float(logsumexp(logs, axis=1).sum())
    blocks = np.arange(num_blocks)
    prior = np.log(shares)[namings].sum(axis=1)
    masses = np.stack([(namings == code) @ sizes for code in range(num_classes)], axis=1)
    missed = purity * (masses - shares)
    prior -= 0.5 * (missed**2).sum(axis=1) / (TOLERANCE**2 + spread**2)
    prior -= logsumexp(prior)
    weights = prior + evidence[blocks, namings].sum(axis=1)
    total = logsumexp(weights)
    chances = np.zeros((num_blocks, num_classes))
    np.add.at(chances, (blocks[None, :], namings), np.exp(weights - total)[:, None])
    return np.einsum("bc,bcd->bd", chances, tables), float(total)


def _learn(
    counts: np.ndarray, guess: np.ndarray, certainty: float
) -> tuple[np.ndarray, np.ndarray]:
    """(B,) log-evidence of the counts (B, C), and the classes' chances (B, C) after them, if
    before them they were Dirichlet-distributed around a guess."""
    prior = certainty * np.maximum(np.broadcast_to(guess, counts.shape), 1e-6)
    after = prior + counts
    evidence = gammaln(prior.sum(axis=1)) - gammaln(after.sum(axis=1))
    evidence = evidence + (gammaln(after) - gammaln(prior)).sum(axis=1)
    return evidence, after / after.sum(axis=1, keepdims=True)


def _list_namings(num_blocks: int, num_classes: int) -> np.ndarray:
    """(C^B, B) classes of each block."""
    numbers = np.arange(num_classes**num_blocks)[:, None]
    named: np.ndarray = numbers // num_classes ** np.arange(num_blocks) % num_classes
    return named
