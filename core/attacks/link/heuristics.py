"""Sums over common neighbours, for many pairs at once."""

from __future__ import annotations

from typing import Literal

import numpy as np

from core.context import Context
from core.graph import Graph


def compute_neighbor_sums(
    graph: Graph, pairs: np.ndarray, kind: Literal["ones", "log", "inverse"], context: Context
) -> np.ndarray:
    """(k,) Σ f(d_z) over the common neighbours z of each pair; f = 1, 1/log d, 1/d."""
    adjacency = graph.adjacency.copy()
    adjacency.data[:] = 1.0
    degrees = graph.degrees.astype(np.float64)
    if kind == "ones":
        factor = np.ones_like(degrees)
    elif kind == "log":
        factor = 1.0 / np.log(np.maximum(degrees, 2))
    else:
        factor = 1.0 / np.maximum(degrees, 1)
    left = adjacency[pairs[:, 0]].astype(np.float64)
    right = adjacency[pairs[:, 1]].astype(np.float64)
    return np.asarray((left.multiply(right)) @ factor).ravel()
