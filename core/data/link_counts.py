"""What is counted over all links of a graph: slow for millions, so that it is kept with the graph.

A large graph is counted by the process that reads it; `core.data.packing` carries the counts from
there to the store and back.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from core.arrays import divide_or_zero
from core.graph import Graph

MANY_LINKS = 1_000_000
"""Links from which a graph is counted while it is read."""


@dataclass(frozen=True)
class LinkCounts:
    """Components and triangles of a graph.

    average_clustering  mean local clustering; nodes with fewer than two links count as 0
    """

    num_components: int
    largest_component: int
    num_triangles: int
    average_clustering: float


_counted: WeakKeyDictionary[Graph, LinkCounts] = WeakKeyDictionary()


def find_counts(graph: Graph) -> LinkCounts | None:
    """The counts of this graph if they are known already."""
    return _counted.get(graph)


def keep_counts(graph: Graph, counts: LinkCounts) -> None:
    """Make these the counts of this graph, which never changes."""
    _counted[graph] = counts


def count_links(graph: Graph) -> LinkCounts:
    """The counts of a graph, computed once."""
    known = find_counts(graph)
    if known is None:
        known = _count(graph)
        keep_counts(graph, known)
    return known


def _count(graph: Graph) -> LinkCounts:
    from core.algorithms.triangles import compute_triangles  # compiled loops: when asked for

    degrees = graph.degrees
    triangles = compute_triangles(graph.edges, graph.num_nodes)
    possible = degrees * (degrees - 1) / 2
    clustering = divide_or_zero(triangles, possible)
    # Links are sorted by their lower end: a matrix of one direction without another sort.
    lower, upper = graph.edges.T
    starts = np.append(0, np.cumsum(np.bincount(lower, minlength=graph.num_nodes)))
    parts = (np.ones(graph.num_edges), upper.astype(np.int32), starts)
    matrix = sparse.csr_array(parts, shape=(graph.num_nodes, graph.num_nodes))
    num_components, members = csgraph.connected_components(matrix, directed=False)
    return LinkCounts(
        num_components=int(num_components),
        largest_component=int(np.bincount(members).max()),
        num_triangles=int(triangles.sum()) // 3,
        average_clustering=float(clustering.mean()),
    )
