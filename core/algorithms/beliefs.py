"""Loopy belief propagation in a pairwise Markov random field; plain NumPy, no torch."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.graph import Graph
from core.progress import Progress


class BeliefPropagation:
    """Belief propagation on one graph: its links are sorted once for any number of runs.

    Arrays hold a row a class, so that what is done for each link goes over its neighbours in
    memory: with a row a link, two classes at a time, NumPy spends most of a round on calls.
    """

    def __init__(self, graph: Graph) -> None:
        adjacency = graph.adjacency
        self._n, self._source = graph.num_nodes, adjacency.indices
        num_links = len(self._source)
        target = np.repeat(np.arange(self._n), np.diff(adjacency.indptr))
        self._reverse = np.lexsort((target, self._source))
        self._gather = sparse.csr_array(
            (np.ones(num_links), np.arange(num_links), adjacency.indptr),
            shape=(self._n, num_links),
        )
        self._weights = adjacency.data.astype(np.float64)

    def compute(
        self,
        log_prior: np.ndarray,
        coupling: float,
        rounds: int = 30,
        damping: float = 0.3,
        tolerance: float = 1e-4,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """(n, C) marginals of p(z) ∝ Π_i φ_i(z_i) Π_(i,j) exp(J w_ij [z_i = z_j]).

        log_prior  (n, C) log φ;  coupling J > 0: linked nodes tend to be alike; J < 0: unlike
        damping    share of the old message kept in each round

        Exact on a forest once the messages have crossed it. O(m C) a round.
        """
        progress = progress or Progress()
        prior = np.ascontiguousarray(log_prior.T, np.float64)
        pull = np.expm1(coupling * self._weights)
        messages = np.zeros((len(prior), len(self._source)))
        total, beliefs = prior, _normalize(prior)
        for index in range(rounds):
            cavity = np.take(total, self._source, axis=1)
            cavity -= np.take(messages, self._reverse, axis=1)  # eight times faster than by []
            sent = _normalize(cavity)
            sent *= pull
            messages *= damping
            messages += (1.0 - damping) * np.log1p(sent, out=sent)
            total = prior + np.array([self._gather @ row for row in messages])
            previous, beliefs = beliefs, _normalize(total)
            progress.update(index + 1, rounds, "belief propagation")
            if np.abs(beliefs - previous).max(initial=0.0) < tolerance:
                break
        marginals: np.ndarray = np.ascontiguousarray(beliefs.T)
        return marginals


def _normalize(logits: np.ndarray) -> np.ndarray:
    """Softmax of each column of (C, k)."""
    values: np.ndarray = logits - logits.max(axis=0)
    np.exp(values, out=values)
    values /= values.sum(axis=0)
    return values
