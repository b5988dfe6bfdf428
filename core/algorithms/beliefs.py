"""Loopy belief propagation in a pairwise Markov random field; plain NumPy, no torch."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.graph import Graph
from core.progress import Progress


def compute_beliefs(
    graph: Graph,
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
    adjacency = graph.adjacency
    n, num_classes = log_prior.shape
    source = adjacency.indices
    target = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    reverse = np.lexsort((target, source))
    gather = sparse.csr_array(
        (np.ones(len(source)), np.arange(len(source)), adjacency.indptr), shape=(n, len(source))
    )
    pull = np.expm1(coupling * adjacency.data.astype(np.float64))[:, None]
    messages = np.zeros((len(source), num_classes))
    beliefs = _normalize(log_prior)
    for index in range(rounds):
        cavity = (log_prior + gather @ messages)[source] - messages[reverse]
        sent = np.log1p(pull * _normalize(cavity))
        messages = damping * messages + (1.0 - damping) * sent
        previous, beliefs = beliefs, _normalize(log_prior + gather @ messages)
        progress.update(index + 1, rounds, "belief propagation")
        if np.abs(beliefs - previous).max(initial=0.0) < tolerance:
            break
    return beliefs


def _normalize(logits: np.ndarray) -> np.ndarray:
    """Softmax of each row."""
    values = np.exp(logits - logits.max(axis=1, keepdims=True))
    beliefs: np.ndarray = values / values.sum(axis=1, keepdims=True)
    return beliefs
