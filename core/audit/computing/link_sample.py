"""A part of a graph small enough to be drawn, before and after a defense.

Drawn where a release is made and stored with it, so that no page loads two graphs for 60 nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from core.arrays import pair_codes
from core.data.packing import Arrays
from core.graph import Graph
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import reach_nodes, select_links

NUM_SAMPLED = 60

STATES = ("kept", "removed", "added")

SAMPLE = ("sample_nodes", "sample_links")
"""Names of the stored arrays."""


@dataclass(frozen=True, eq=False)
class LinkSample:
    """nodes (k,) node numbers, ascending; changes: `compute_link_changes` among them."""

    nodes: np.ndarray
    changes: pd.DataFrame

    @staticmethod
    def draw(before: Graph, after: Graph) -> LinkSample:
        """The sample of a release and of the graph that was defended."""
        nodes = choose_sample(before)
        return LinkSample(nodes, compute_link_changes(before, after, nodes))

    def pack(self) -> Arrays:
        """As the arrays of `SAMPLE`, beside those of a packed graph."""
        states = self.changes.state.map(STATES.index).to_numpy(np.int64)
        ends = self.changes[["source", "target"]].to_numpy(np.int64)
        return dict(zip(SAMPLE, (self.nodes, np.column_stack([ends, states])), strict=True))

    @staticmethod
    def unpack(arrays: Arrays) -> LinkSample | None:
        """Inverse of `pack`; None if no sample was stored."""
        if not arrays.keys() >= set(SAMPLE):
            return None
        nodes, links = (arrays[name] for name in SAMPLE)
        source, target, states = links.T
        names = np.array(STATES)[states].tolist()
        changes = pd.DataFrame({"source": source, "target": target, "state": names})
        return LinkSample(nodes, changes)


def choose_sample(before: Graph, num_nodes: int = NUM_SAMPLED) -> np.ndarray:
    """Up to `num_nodes` node numbers around a node of median degree, breadth first.

    Median over nodes of the largest component with at least two links: a hub would show a star.
    """
    degrees = before.degrees
    if not before.num_edges:
        return np.arange(min(num_nodes, before.num_nodes))
    if isinstance(before, PartitionedGraph):  # of any component: nobody knows the largest
        linked = np.flatnonzero(degrees >= 2)
        linked = linked if len(linked) else np.flatnonzero(degrees)
        start = int(linked[np.argsort(degrees[linked], kind="stable")[len(linked) // 2]])
        return reach_nodes(before.links, start, num_nodes)
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
        if isinstance(graph, PartitionedGraph):
            return select_links(graph.links, np.asarray(nodes, int))
        return np.asarray(graph.edges[inside[graph.edges].all(axis=1)])

    old, new = select(before), select(after)
    old_codes, new_codes = (pair_codes(edges, before.num_nodes) for edges in (old, new))
    is_kept = np.isin(old_codes, new_codes)
    is_added = ~np.isin(new_codes, old_codes)
    parts = zip((old[is_kept], old[~is_kept], new[is_added]), STATES, strict=True)
    frames = [
        pd.DataFrame({"source": e[:, 0], "target": e[:, 1], "state": state}) for e, state in parts
    ]
    return pd.concat(frames, ignore_index=True)
