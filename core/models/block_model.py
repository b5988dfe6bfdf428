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
        self._indptr, self._indices = adjacency.indptr, adjacency.indices
        self._degrees = np.diff(adjacency.indptr).astype(np.float64)
        self._theta = self._degrees if corrected else np.ones(graph.num_nodes)
        places = np.arange(len(adjacency.indices))
        shape = (graph.num_nodes, graph.num_nodes)
        numbered = sparse.csr_array((places, adjacency.indices, adjacency.indptr), shape=shape)
        # The adjacency is symmetric: place k of the columns is place k of the rows inverted.
        self._reverse = numbered.tocsc().data

    def fit(
        self,
        start: np.ndarray,
        rng: np.random.Generator,
        rounds: int = 40,
        sweeps: int = 2,
        tolerance: float = 1e-3,
        progress: Progress | None = None,
    ) -> Blocks:
        """Blocks reached by EM from (n, B) positive probabilities, with `sweeps` of messages per
        round.

        Stops when a round changes nodes by at most `tolerance` on average. O(m B²) per sweep.
        """
        progress = progress or Progress()
        chances = np.array(start, np.float64)
        rows = np.repeat(np.arange(len(chances)), np.diff(self._indptr))
        messages = chances[self._indices]
        links = messages.T @ chances[rows]
        order, logs = rng.permutation(len(chances)), np.zeros(len(chances))
        for number in range(rounds):
            rates, shares = self._compute_rates(links, chances), _count(chances)
            absent = (self._theta @ chances) @ rates
            change = 0.0
            for _ in range(sweeps):
                change += pass_messages(
                    self._indptr,
                    self._indices,
                    self._reverse,
                    order,
                    self._theta,
                    rates,
                    shares,
                    absent,
                    messages,
                    chances,
                    logs,
                )
            links, link_logs = weigh_links(self._reverse, rates, messages)
            progress.update(number + 1, rounds, "belief propagation")
            if change <= tolerance * len(chances):
                break
        evidence = self._compute_evidence(float(logs.sum()) - link_logs, chances, rates)
        return Blocks(chances, rates, shares, evidence)

    def _compute_rates(self, links: np.ndarray, chances: np.ndarray) -> np.ndarray:
        """(B, B) of expected link ends between blocks, over all pairs, weighted by θ."""
        mass = self._theta @ chances
        mass += PSEUDO * mass.sum() / max(self._degrees.sum(), 1.0) / len(mass)
        ends = (links + links.T) / 2 + PSEUDO / links.size
        return np.asarray(ends / np.outer(mass, mass))

    def _compute_evidence(self, logs: float, chances: np.ndarray, rates: np.ndarray) -> float:
        """Σ_i log Z_i − Σ_links log Z_ij + ½ θᵀωθ, minus the same of a single block."""
        mass = self._theta @ chances
        ends = self._degrees.sum() + PSEUDO
        total = self._theta.sum() * (1.0 + PSEUDO / max(self._degrees.sum(), 1.0))
        rate = ends / max(total, 1.0) ** 2
        single = 0.5 * self._degrees.sum() * np.log(rate) - 0.5 * rate * self._theta.sum() ** 2
        return float(logs + 0.5 * mass @ rates @ mass - single)


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
        start = indptr[i]
        for e in range(start, indptr[i + 1]):
            found[:] = 0.0
            for b in range(num_blocks):  # inner loop over contiguous entries, vectorised
                share = messages[e, b]
                for a in range(num_blocks):
                    found[a] += share * rates[b, a]
            peak = 0.0
            for a in range(num_blocks):
                sent[e - start, a] = found[a]
                product[a] *= found[a]
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
        for e in range(start, indptr[i + 1]):
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
