"""Personalised PageRank by forward push, compiled (Andersen, Chung and Lang, 2006)."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(nogil=True)
def push_pairs(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    degrees: np.ndarray,
    sources: np.ndarray,
    targets: np.ndarray,
    starts: np.ndarray,
    restart: float,
    tolerance: float,
    out: np.ndarray,
) -> None:
    """PageRank of each source at its targets: out[t] = p_source(targets[t]).

    sources  (s,) distinct nodes; the targets of source number r are starts[r]:starts[r + 1]
    Stops when every residual is at most tolerance · degree, so that each value is too low by at
    most tolerance · (degree of the target). O(1 / (restart · tolerance)) per source.
    """
    n = len(degrees)
    estimate, residual = np.zeros(n), np.zeros(n)
    queued = np.zeros(n, np.bool_)
    queue, touched = np.empty(n, np.int64), np.empty(n, np.int64)
    is_touched = np.zeros(n, np.bool_)
    for row in range(len(sources)):
        source = sources[row]
        residual[source] = 1.0
        queue[0], head, waiting = source, 0, 1
        touched[0], num_touched = source, 1
        queued[source] = is_touched[source] = True
        while waiting > 0:
            node = queue[head]
            head = (head + 1) % n
            waiting -= 1
            queued[node] = False
            mass = residual[node]
            residual[node] = 0.0
            estimate[node] += restart * mass
            if degrees[node] <= 0.0:  # nowhere to go: the walker restarts where it began
                estimate[node] += (1.0 - restart) * mass
                continue
            share = (1.0 - restart) * mass / degrees[node]
            for at in range(indptr[node], indptr[node + 1]):
                other = np.int64(indices[at])
                residual[other] += share * data[at]
                if not is_touched[other]:
                    is_touched[other] = True
                    touched[num_touched] = other
                    num_touched += 1
                if not queued[other] and residual[other] > tolerance * degrees[other]:
                    queued[other] = True
                    queue[(head + waiting) % n] = other
                    waiting += 1
        for at in range(starts[row], starts[row + 1]):
            out[at] = estimate[targets[at]]
        for at in range(num_touched):
            node = touched[at]
            estimate[node] = residual[node] = 0.0
            is_touched[node] = False
