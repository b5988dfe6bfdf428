"""Stochastic block models, fitted by belief propagation and EM.

Links between i and j in blocks a and b: Poisson of mean θ_i θ_j ω_ab. Decelle, Krzakala, Moore and
Zdeborová, Asymptotic analysis of the stochastic block model, Phys. Rev. E 2011; with degrees, θ_i =
d_i: Yan et al., Model selection for degree-corrected block models, J. Stat. Mech. 2014. Blocks may
be assortative or disassortative. Link weights are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from scipy import sparse

from core.graph import Graph
from core.progress import Progress

PSEUDO = 1.0
"""Pseudo-counts of links and nodes over all blocks, so that none is empty."""

ROUNDS = 40
"""Rounds of EM at most."""

TILE = 100_000
"""Links weighed at once."""

UNDERFLOW = 1e-200
"""Threshold below which products are rescaled: far above the smallest number, 2e-308, since one
more factor may take as much again."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """A fitted block model of a graph of n nodes.

    chances   (n, B) block probabilities
    rates     (B, B) symmetric ω
    shares    (B,) of the nodes
    evidence  log-likelihood of the links by the Bethe approximation (exact on a forest), minus that
              of a single block
    """

    chances: np.ndarray
    rates: np.ndarray
    shares: np.ndarray
    evidence: float

    @property
    def gain(self) -> float:
        """Evidence minus ½ log n per parameter beyond a single block's (BIC; Schwarz, 1978)."""
        n, count = self.chances.shape
        num_parameters = count * (count + 1) / 2 + count - 2
        return self.evidence - 0.5 * float(np.log(n)) * float(num_parameters)


class BlockModel:
    """Fits block models to one graph; `corrected`: θ_i is the degree, else 1."""

    def __init__(self, graph: Graph, corrected: bool = True) -> None:
        adjacency = graph.adjacency
        self.indptr, self.indices = adjacency.indptr, adjacency.indices
        self.degrees = np.diff(adjacency.indptr).astype(np.float64)
        self.theta = self.degrees if corrected else np.ones(graph.num_nodes)
        places = np.arange(len(adjacency.indices))
        shape = (graph.num_nodes, graph.num_nodes)
        numbered = sparse.csr_array((places, adjacency.indices, adjacency.indptr), shape=shape)
        # The adjacency is symmetric: place k of the columns is place k of the rows inverted.
        self.reverse = numbered.tocsc().data

    def fit(
        self,
        start: np.ndarray,
        rng: np.random.Generator,
        rounds: int = ROUNDS,
        sweeps: int = 2,
        tolerance: float = 1e-3,
        progress: Progress | None = None,
    ) -> Blocks:
        """Blocks reached by EM from (n, B) positive probabilities; see `Fitting.go_on`."""
        return Fitting(self, start, rng).go_on(rounds, sweeps, tolerance, progress)

    def compute_rates(self, links: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """(B, B) of expected link ends between blocks, over all pairs, weighted by θ."""
        mass = self.theta @ chances
        mass += PSEUDO * mass.sum() / max(self.degrees.sum(), 1.0) / len(mass)
        ends = (links + links.T) / 2 + PSEUDO / links.size
        return np.asarray(ends / np.outer(mass, mass))

    def compute_evidence(self, logs: float, chances: np.ndarray, rates: np.ndarray) -> float:
        """Σ_i log Z_i − Σ_links log Z_ij + ½ θᵀωθ, minus the same of a single block."""
        mass = self.theta @ chances
        ends = self.degrees.sum() + PSEUDO
        total = self.theta.sum() * (1.0 + PSEUDO / max(self.degrees.sum(), 1.0))
        rate = ends / max(total, 1.0) ** 2
        single = 0.5 * self.degrees.sum() * np.log(rate) - 0.5 * rate * self.theta.sum() ** 2
        return float(logs + 0.5 * mass @ rates @ mass - single)


class Fitting:
    """EM from (n, B) positive probabilities, which can be stopped and taken up again."""

    def __init__(self, model: BlockModel, start: np.ndarray, rng: np.random.Generator) -> None:
        self._model = model
        self._chances = np.array(start, np.float64)
        rows = np.repeat(np.arange(len(start)), np.diff(model.indptr))
        self._messages = self._chances[model.indices]
        self._links = self._messages.T @ self._chances[rows]
        self._order, self._logs = rng.permutation(len(start)), np.zeros(len(start))
        self.rounds = 0

    def go_on(
        self,
        rounds: int = ROUNDS,
        sweeps: int = 2,
        tolerance: float = 1e-3,
        progress: Progress | None = None,
    ) -> Blocks:
        """Blocks after `rounds` rounds in all, of `sweeps` of messages each, one more at least.

        Stops when a round changes nodes by at most `tolerance` on average. O(m B²) per sweep.
        """
        progress, model, chances = progress or Progress(), self._model, self._chances
        change = np.inf
        while change > tolerance * len(chances):
            rates, shares = model.compute_rates(self._links, chances), _count(chances)
            absent = (model.theta @ chances) @ rates
            change = 0.0
            for _ in range(sweeps):
                change += pass_messages(
                    model.indptr,
                    model.indices,
                    model.reverse,
                    self._order,
                    model.theta,
                    rates,
                    shares,
                    absent,
                    self._messages,
                    chances,
                    self._logs,
                )
            self._links, link_logs = weigh_links(model.reverse, rates, self._messages)
            self.rounds += 1
            progress.update(min(self.rounds, rounds), rounds, "belief propagation")
            if self.rounds >= rounds:
                break
        evidence = model.compute_evidence(float(self._logs.sum()) - link_logs, chances, rates)
        return Blocks(chances.copy(), rates, shares, evidence)


def _count(chances: np.ndarray) -> np.ndarray:
    counts = chances.sum(axis=0) + PSEUDO / chances.shape[1]
    return np.asarray(counts / counts.sum())


@numba.njit(nogil=True, cache=True)
def pass_messages(
    indptr: np.ndarray,
    indices: np.ndarray,
    reverse: np.ndarray,
    order: np.ndarray,
    theta: np.ndarray,
    rates: np.ndarray,
    shares: np.ndarray,
    absent: np.ndarray,
    messages: np.ndarray,
    chances: np.ndarray,
    logs: np.ndarray,
) -> float:
    """One sweep of belief propagation over the nodes in `order`.

    Updates `messages`, `chances`, `absent` and `logs` in place; returns the summed absolute
    change of the block probabilities `chances` (n, B).

    messages  (2m, B) messages to node i from its neighbours, in row i of the CSR pattern
    reverse   (2m,) position of the opposite message of each link
    absent    (B,) Σ_j θ_j Σ_b ω_ab q_jb, the contribution of absent links
    logs      (n,) logarithms of the normalisers of `chances`
    """
    num_blocks = len(shares)
    widest = 0
    for i in range(len(indptr) - 1):
        widest = max(widest, indptr[i + 1] - indptr[i])
    sent = np.empty((widest, num_blocks))
    product, found = np.empty(num_blocks), np.empty(num_blocks)
    change = 0.0
    for i in order:
        scale = -theta[i] * absent.min()
        for a in range(num_blocks):
            product[a] = shares[a] * np.exp(-theta[i] * absent[a] - scale)
        start, end = indptr[i], indptr[i + 1]
        np.dot(messages[start:end], rates, sent[: end - start])
        for e in range(end - start):
            peak = 0.0
            for a in range(num_blocks):
                product[a] *= sent[e, a]
                peak = max(peak, product[a])
            if peak < UNDERFLOW or peak > 1.0 / UNDERFLOW:
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
                absent[a] += found[b] * rates[b, a]
        for e in range(start, end):
            total = 0.0
            for a in range(num_blocks):
                found[a] = product[a] / sent[e - start, a]
                total += found[a]
            for a in range(num_blocks):
                messages[reverse[e], a] = found[a] / total
    return change


def weigh_links(
    reverse: np.ndarray, rates: np.ndarray, messages: np.ndarray
) -> tuple[np.ndarray, float]:
    """Expected link ends between blocks (B, B), and the summed logarithms of the links'
    normalisers."""
    joint, logs = np.zeros_like(rates), 0.0
    once = np.flatnonzero(reverse > np.arange(len(reverse)))  # each link by its first position
    for start in range(0, len(once), TILE):
        places = once[start : start + TILE]
        sent, returned = messages[places], messages[reverse[places]]
        totals = ((sent @ rates) * returned).sum(axis=1)
        joint += (sent / totals[:, None]).T @ returned
        logs += float(np.log(totals).sum())
    joint *= rates
    return joint + joint.T, logs
