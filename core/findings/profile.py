"""Degrees of the loaded graph, and ticks for their logarithmic axes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from core.graph import Graph


def compute_degree_counts(graph: Graph) -> pd.DataFrame:
    """degree, nodes (count), share_at_least: share of the nodes with at least that degree."""
    degrees, counts = np.unique(graph.degrees, return_counts=True)
    at_least = counts[::-1].cumsum()[::-1] / graph.num_nodes
    return pd.DataFrame({"degree": degrees, "nodes": counts, "share_at_least": at_least})


def list_log_ticks(low: float, high: float, max_ratio: float) -> list[float]:
    """1, 2 and 5 times the powers of ten from `low` to `high`; powers alone if `high` / `low` is
    not below `max_ratio`."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < max_ratio else (1,)
    ticks = [step * 10.0**power for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high]
