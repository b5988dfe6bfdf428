"""Effect of a defense: the same subgraph before and after, and its training curves."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from core.graph import Graph, pair_codes

MAX_NODES = 60


def choose_sample(before: Graph, num_nodes: int = MAX_NODES) -> np.ndarray:
    """Up to `num_nodes` node numbers around a node of median degree, breadth first.

    Median over nodes of the largest component with at least two links: a hub would show a star.
    """
    degrees = before.degrees
    if not before.num_edges:
        return np.arange(min(num_nodes, before.num_nodes))
    # of a symmetric matrix the same as undirected, without a copy of its transpose
    parts = connected_components(before.adjacency, connection="strong")[1]
    inside = parts == np.bincount(parts).argmax()
    linked = np.flatnonzero(inside & (degrees >= 2))
    if len(linked) == 0:
        linked = np.flatnonzero(inside)
    start = int(linked[np.argsort(degrees[linked], kind="stable")[len(linked) // 2]])
    reached, adjacency = [start], before.adjacency
    seen = {start}
    for node in reached:  # grows while it is read
        near = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        reached += [int(other) for other in near if other not in seen]
        seen.update(reached)
        if len(reached) >= num_nodes:
            break
    return np.sort(reached[:num_nodes])


def compute_link_changes(
    before: Graph, after: Graph, nodes: Sequence[int] | np.ndarray
) -> pd.DataFrame:
    """source, target (node numbers), state: kept, removed or added, among `nodes`."""
    inside = np.zeros(before.num_nodes, bool)
    inside[np.asarray(nodes, int)] = True

    def select(graph: Graph) -> np.ndarray:
        return np.asarray(graph.edges[inside[graph.edges].all(axis=1)])

    old, new = select(before), select(after)
    old_codes, new_codes = (pair_codes(edges, before.num_nodes) for edges in (old, new))
    is_kept = np.isin(old_codes, new_codes)
    is_added = ~np.isin(new_codes, old_codes)
    parts = [(old[is_kept], "kept"), (old[~is_kept], "removed"), (new[is_added], "added")]
    frames = [
        pd.DataFrame({"source": e[:, 0], "target": e[:, 1], "state": state}) for e, state in parts
    ]
    return pd.concat(frames, ignore_index=True)


def compute_layout(changes: pd.DataFrame, nodes: Sequence[int] | np.ndarray) -> np.ndarray:
    """(k, 2) positions of `nodes` by the links before and after together; deterministic."""
    union = nx.Graph()
    union.add_nodes_from(int(node) for node in nodes)
    union.add_edges_from(changes[["source", "target"]].itertuples(index=False, name=None))
    placed = nx.spring_layout(union, seed=0, iterations=120, k=1.6 / np.sqrt(max(len(nodes), 1)))
    return np.array([placed[int(node)] for node in nodes])
