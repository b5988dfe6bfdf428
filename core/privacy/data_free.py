"""What a data-independent baseline is told, and a graph for methods that need one."""

from __future__ import annotations

import numpy as np

from core.algorithms.pairs import sample_non_links
from core.context import Context
from core.graph import Graph

DESCRIPTION = (
    "Run the same method without the links, on none or on as many drawn at random: what it shows "
    "owes the data nothing but their number."
)


def draw_uniform_graph(graph: Graph, context: Context) -> Graph:
    """The nodes of `graph` with as many links, each pair equally likely (Erdős and Rényi, 1959)."""
    empty = graph.with_edges(np.empty((0, 2), np.int64))
    return graph.with_edges(sample_non_links(empty, graph.num_edges, context.rng("data_free")))
