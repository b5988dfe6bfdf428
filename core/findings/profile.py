"""What the loaded graph looks like: degrees and classes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.graph import Graph


def compute_degree_counts(graph: Graph) -> pd.DataFrame:
    """degree, nodes (count), share_at_least: share of the nodes with that degree or more."""
    degrees, counts = np.unique(graph.degrees, return_counts=True)
    at_least = counts[::-1].cumsum()[::-1] / graph.num_nodes
    return pd.DataFrame({"degree": degrees, "nodes": counts, "share_at_least": at_least})
