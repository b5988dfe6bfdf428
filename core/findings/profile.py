"""Degrees and classes of the loaded graph."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.graph import Graph


def compute_degree_counts(graph: Graph) -> pd.DataFrame:
    """degree, nodes (count), share_at_least: share of the nodes with at least that degree."""
    degrees, counts = np.unique(graph.degrees, return_counts=True)
    at_least = counts[::-1].cumsum()[::-1] / graph.num_nodes
    return pd.DataFrame({"degree": degrees, "nodes": counts, "share_at_least": at_least})
