"""Positions of a sample of nodes, before and after a defense."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pandas as pd


def compute_layout(changes: pd.DataFrame, nodes: Sequence[int] | np.ndarray) -> np.ndarray:
    """(k, 2) positions of `nodes` by the links before and after together; deterministic."""
    union = nx.Graph()
    union.add_nodes_from(int(node) for node in nodes)
    union.add_edges_from(changes[["source", "target"]].itertuples(index=False, name=None))
    placed = nx.spring_layout(union, seed=0, iterations=120, k=1.6 / np.sqrt(max(len(nodes), 1)))
    return np.array([placed[int(node)] for node in nodes])
