"""Unnoticeable flips, by personalised PageRank and by the degree distribution."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg

TOLERANCE = 1e-6
"""Of the residual of a solve, relative to the right-hand side."""

DEGREE_MIN = 2
"""Smallest degree of the power laws compared, as in Nettack."""
MAX_RATIO = 0.004
"""Nettack's threshold of the likelihood ratio: 95 % of a χ² with one degree of freedom below."""


class PageRankEffect:
    """NetFense Eq. 3, 4 for all pairs (v, u) of a target, by two sparse solves.

    M = I − (1−α) D⁻¹A becomes symmetric and positive definite when multiplied by D:
    M⁻¹ = (D − (1−α) A)⁻¹ D, so that one solve gives a row and a column of M⁻¹ at once.
    """

    def __init__(self, restart: float = 0.1) -> None:
        self.restart = restart
        self._solved: np.ndarray | None = None

    def compute(self, adjacency: sparse.csr_array, v: int) -> np.ndarray:
        """(n,) |Δ_{v→u} + Δ_{u→v}| of flipping each (v, u); 0 at v itself."""
        n = adjacency.shape[0]
        degrees = np.maximum(np.asarray(adjacency.sum(axis=1)).ravel(), 1.0)
        keep = 1.0 - self.restart
        system = sparse.csr_array(sparse.diags_array(degrees) - keep * adjacency)
        precondition = sparse.diags_array(1.0 / degrees)
        unit = np.zeros(n)
        unit[v] = 1.0
        kernel, _ = cg(system, unit, rtol=TOLERANCE, M=precondition)
        # Column sums of M⁻¹; the last solution is close to the one after a flip.
        self._solved, _ = cg(system, np.ones(n), x0=self._solved, rtol=TOLERANCE, M=precondition)
        sums = degrees * self._solved
        sign = np.ones(n)
        sign[adjacency.indices[adjacency.indptr[v] : adjacency.indptr[v + 1]]] = -1.0
        from_u, from_v = sign * keep / degrees, sign * keep / degrees[v]
        u_to_v = from_u * sums / (1.0 + from_u * kernel * degrees[v])
        v_to_u = from_v * sums[v] / (1.0 + from_v * kernel * degrees)
        effect: np.ndarray = np.abs(u_to_v + v_to_u)
        effect[v] = 0.0
        return effect


def passes_degree_test(
    start: np.ndarray, degrees: np.ndarray, v: int, change: np.ndarray
) -> np.ndarray:
    """(n,) whether flipping (v, u) preserves the degrees' power law (Nettack, Eq. 6–11).

    start    (n,) degrees of the original graph;  degrees (n,) current ones
    change   (n,) +1 if (v, u) would be added, −1 if removed

    The likelihood ratio compares one power law for both degree sequences with one for each.
    """

    def count(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        is_high = values >= DEGREE_MIN
        return is_high.astype(float), np.where(is_high, np.log(np.maximum(values, 1)), 0.0)

    start_count, start_logs = (part.sum() for part in count(start))
    now_count, now_logs = count(degrees)
    after_u, logs_u = count(degrees + change)
    after_v, logs_v = count(degrees[v] + change)
    counts = now_count.sum() - now_count - now_count[v] + after_u + after_v
    logs = now_logs.sum() - now_logs - now_logs[v] + logs_u + logs_v
    joint = _likelihood(start_count + counts, start_logs + logs)
    separate = _likelihood(start_count, start_logs) + _likelihood(counts, logs)
    return np.asarray(2.0 * (separate - joint) < MAX_RATIO)


def _likelihood(count: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Maximum log-likelihood of a power law of `count` degrees with the given sum of logs."""
    count = np.maximum(count, 1e-12)
    excess = np.maximum(logs - count * np.log(DEGREE_MIN - 0.5), 1e-12)
    exponent = 1.0 + count / excess
    return np.asarray(
        count * np.log(exponent - 1.0)
        + count * (exponent - 1.0) * np.log(DEGREE_MIN - 0.5)
        - exponent * logs
    )
