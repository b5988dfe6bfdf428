"""The ledger's sketch of a graph in partitions: the same hashes, from one partition at a time."""

from __future__ import annotations

import numpy as np

from core.data.lineage import (
    MAX_EXACT,
    SIZE,
    GraphSketch,
    Sketch,
    hash_columns,
    hash_texts,
    join_ends,
    select_unique,
)
from core.partitioned.graph import PartitionedGraph
from core.seeding import mix_bits


def sketch_partitions(graph: PartitionedGraph) -> GraphSketch:
    """As `core.data.lineage.sketch_graph`, but without `degrees`: which links are the only ones
    with their degrees is known when all are."""
    links = graph.links
    nodes = hash_texts(graph.node_ids)  # numbers are in normal form as they are written
    degrees = mix_bits(links.degrees.astype(np.uint64))
    around = np.zeros(links.num_nodes, np.uint64)
    smallest = np.empty(0, np.uint64)
    for number in range(links.num_partitions):
        partition = links.load_partition(number)
        np.add.at(around, partition.sources, degrees[partition.indices])
        own = np.unique(join_ends(nodes, partition.owned))
        smallest = np.unique(np.concatenate([smallest, own]))[:MAX_EXACT]
    count = links.num_links
    return GraphSketch(
        people=Sketch.of(nodes, MAX_EXACT),
        pairs=Sketch(smallest, count),
        nodes=Sketch.of(nodes),
        links=Sketch(smallest[:SIZE], count),
        values=Sketch.of(select_unique(hash_columns(graph))),
        neighbourhoods=Sketch.of(select_unique(mix_bits(degrees ^ around)[links.degrees > 0])),
        degrees=Sketch.of(np.empty(0, np.uint64)),
    )
