"""The same data is known again in another order, lightly edited or renamed; other data is not."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from core.data.catalogue import load_dataset
from core.data.lineage import SIZE, GraphSketch, Sketch, sketch_graph
from core.graph import Graph


def make_graph(num_nodes: int, num_links: int, seed: int = 0, prefix: str = "p") -> Graph:
    pairs = np.random.default_rng(seed).integers(0, num_nodes, (num_links, 2))
    ids = tuple(f"{prefix}{i}" for i in range(num_nodes))
    return Graph.from_pairs(pairs, num_nodes, node_ids=ids)


def named_links(graph: Graph) -> set[frozenset[str]]:
    return {frozenset(graph.node_ids[end] for end in edge) for edge in graph.edges.tolist()}


@pytest.mark.parametrize("kept", [1.0, 0.9, 0.5, 0.1, 0.0])
def test_the_estimated_overlap_of_links_is_that_of_the_sets(kept):
    first = make_graph(3000, 20_000)
    rng = np.random.default_rng(1)
    mine = first.edges[rng.random(first.num_edges) < kept]
    second = first.with_edges(np.concatenate([mine, rng.integers(0, 3000, (15_000, 2))]))
    a, b = named_links(first), named_links(second)
    found = sketch_graph(first).links, sketch_graph(second).links
    # four standard errors of a share of SIZE
    assert found[0].estimate_jaccard(found[1]) == pytest.approx(len(a & b) / len(a | b), abs=0.06)
    overlap = len(a & b) / min(len(a), len(b))
    assert found[0].estimate_overlap(found[1]) == pytest.approx(overlap, abs=0.1)
    assert (found[0].count, found[1].count) == (len(a), len(b))


def test_small_sets_are_compared_exactly():
    first = make_graph(80, 200)
    second = first.without_edges(first.edges[:50])
    a, b = named_links(first), named_links(second)
    assert max(len(a), len(b)) <= SIZE
    found = sketch_graph(first).links, sketch_graph(second).links
    assert found[0].estimate_jaccard(found[1]) == len(b) / len(a)
    assert found[0].estimate_overlap(found[1]) == 1.0
    empty = Sketch.of(np.empty(0, np.uint64))
    assert empty.estimate_overlap(empty) == empty.estimate_overlap(found[0]) == 0.0


def test_another_order_is_the_same_and_a_part_is_within_the_whole():
    graph = make_graph(4000, 30_000)
    whole = sketch_graph(graph)
    inverted = sketch_graph(graph.subgraph(np.random.default_rng(3).permutation(4000)))
    assert json.dumps(inverted.to_json()) == json.dumps(whole.to_json())
    part = sketch_graph(graph.subgraph(np.arange(1000)))
    assert part.nodes.count == 1000
    assert whole.estimate_overlaps(part)["nodes"] > 0.8
    assert whole.estimate_overlaps(part)["links"] > 0.6


def test_renamed_nodes_are_seen_through_by_shape():
    graph = load_dataset("karate").graph
    pairs = make_graph(4000, 30_000)
    for one in (graph, pairs):
        renamed = replace(one, node_ids=tuple(f"x{i}" for i in range(one.num_nodes)))
        overlaps = sketch_graph(one).estimate_overlaps(sketch_graph(renamed))
        assert overlaps == {"nodes": 0.0, "links": 0.0, "shape": 1.0}
    edited = replace(pairs.without_edges(pairs.edges[:3]), node_ids=renamed.node_ids)
    assert sketch_graph(pairs).estimate_overlaps(sketch_graph(edited))["shape"] > 0.9


def test_other_graphs_of_the_same_kind_are_strangers():
    first, second = (sketch_graph(make_graph(4000, 30_000, s, f"{s}-")) for s in (0, 1))
    assert max(first.estimate_overlaps(second).values()) < 0.05


def test_a_sketch_survives_json():
    sketch = sketch_graph(make_graph(2000, 5000))
    stored = GraphSketch.from_json(json.loads(json.dumps(sketch.to_json())))
    assert stored.to_json() == sketch.to_json()
    assert set(stored.estimate_overlaps(sketch).values()) == {1.0}


def test_a_million_links_take_seconds():
    graph = make_graph(1_000_000, 1_000_000)
    start = time.process_time()
    sketch_graph(graph)
    assert time.process_time() - start < 10  # 2 on a quiet machine
