"""Enclosing subgraphs and their labels against NetworkX, and batches against their parts."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from core.context import Context
from core.graph import Graph
from core.models.enclosing import MAX_LABEL, extract_subgraphs
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS


def extract(graph, pairs, seed=0, **settings):
    return extract_subgraphs(graph.adjacency, np.asarray(pairs), Context(Seed(seed)), **settings)


def naive_subgraph(graph, i, j, hops):
    """Sorted nodes within `hops` of i or j, and their subgraph without the link i–j."""
    whole = graph.to_networkx()
    near = set()
    for end in (i, j):
        near |= set(nx.single_source_shortest_path_length(whole, end, cutoff=hops))
    nodes = sorted(near)
    inside = nx.Graph(whole.subgraph(nodes))
    if inside.has_edge(i, j):
        inside.remove_edge(i, j)
    return nodes, inside


def naive_label(inside, node, i, j):
    """SEAL, Eq. 4, with each distance taken while the other end is removed."""
    if node in (i, j):
        return 1
    distances = []
    for end, other in ((i, j), (j, i)):
        rest = inside.subgraph(set(inside) - {other})
        try:
            distances.append(nx.shortest_path_length(rest, node, end))
        except nx.NetworkXNoPath:
            return 0
    total = sum(distances)
    half, odd = divmod(total, 2)
    return min(1 + min(distances) + half * (half + odd - 1), MAX_LABEL)


@pytest.mark.parametrize("name", ["two_components", "isolated_node", "clique", "star"])
@pytest.mark.parametrize("hops", [1, 2])
def test_nodes_links_and_labels_equal_networkx(name, hops):
    graph = GRAPHS[name]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)[::3]
    found = extract(graph, pairs, hops=hops)
    for at, (i, j) in enumerate(pairs.tolist()):
        nodes, inside = naive_subgraph(graph, i, j, hops)
        matrix, labels, sizes = found.join(np.array([at]))
        assert sizes == [len(nodes)]
        expected = nx.to_numpy_array(inside, nodelist=nodes)
        np.testing.assert_array_equal(matrix.toarray(), expected)
        assert labels.tolist() == [naive_label(inside, node, i, j) for node in nodes]


def test_labels_of_a_worked_example():
    """Pair 0–1; 2 next to both: 2; 3 behind 2, two hops from both: 5; 4 next to 0 only: 0."""
    graph = Graph.from_pairs([[0, 2], [1, 2], [2, 3], [0, 4]], 5)
    found = extract(graph, np.array([[0, 1]]), hops=3)
    assert found.labels.tolist() == [1, 1, 2, 5, 0]


def test_the_target_link_is_left_out_whichever_way_the_pair_is_written():
    graph = GRAPHS["two_communities"]()
    link = graph.edges[:1]
    without = graph.without_edges(link)
    for pair in (link, link[:, ::-1]):
        left, right = extract(graph, pair), extract(without, pair)
        np.testing.assert_array_equal(left.labels, right.labels)
        np.testing.assert_array_equal(left.columns, right.columns)


def test_a_capped_subgraph_depends_on_the_pair_and_seed_only():
    graph = GRAPHS["two_communities"](n=120)
    pairs = np.array([[0, 5], [3, 9], [7, 100]])
    one = extract(graph, pairs, max_nodes=5)
    other = extract(graph, pairs[::-1, ::-1], max_nodes=5)
    assert (one.sizes == 2 + 5).all()
    for at in range(3):
        left, right = one.join(np.array([at])), other.join(np.array([2 - at]))
        np.testing.assert_array_equal(left[0].toarray(), right[0].toarray())
        np.testing.assert_array_equal(left[1], right[1])
    seeded = extract(graph, pairs, seed=1, max_nodes=5)
    assert len(seeded.columns) != len(one.columns) or (seeded.columns != one.columns).any()


def test_near_nodes_come_before_those_behind_them():
    """A star's pair of leaves: the hub first, then as many of the other leaves as there is room."""
    graph = GRAPHS["star"]()
    found = extract(graph, [[1, 2]], max_nodes=4)
    assert sorted(found.labels.tolist()) == [1, 1, 2, 5, 5, 5]


def test_a_batch_is_block_diagonal():
    graph = GRAPHS["weighted"]()
    found = extract(graph, [[0, 1], [2, 3], [4, 20]])
    chosen = np.array([2, 0])
    matrix, labels, sizes = found.join(chosen)
    dense, start = matrix.toarray(), 0
    for at, size in zip(chosen, sizes, strict=True):
        alone, own_labels, _ = found.join(np.array([at]))
        block = slice(start, start + size)
        np.testing.assert_array_equal(dense[block, block], alone.toarray())
        np.testing.assert_array_equal(labels[block], own_labels)
        dense[block, block] = 0
        start += size
    assert not dense.any()


def test_links_of_weight_zero_are_no_links():
    graph = Graph.from_pairs([[0, 1], [1, 2], [2, 3]], 4, weights=np.array([1.0, 0.0, 1.0]))
    assert extract(graph, [[0, 1]]).sizes == [2]
