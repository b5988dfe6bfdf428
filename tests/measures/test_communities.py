import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.community import louvain_communities, modularity

from core.algorithms.communities import find_communities
from core.graph import Graph
from tests.oracles.graphs import GRAPHS


def as_sets(labels):
    return [set(np.flatnonzero(labels == c)) for c in np.unique(labels)]


def find(graph, seed=0):
    return find_communities(graph, np.random.default_rng(seed))


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_as_modular_as_networkx(name):
    graph = GRAPHS[name]()
    g = graph.to_networkx()
    theirs = modularity(g, louvain_communities(g, seed=0))
    best = max(modularity(g, as_sets(find(graph, seed))) for seed in range(3))
    assert best >= theirs - 0.02


def test_planted_groups_are_found_and_sorted_by_size():
    g = nx.random_partition_graph([60, 40, 30], 0.4, 0.01, seed=3)
    labels = find(Graph.from_pairs(np.array(g.edges), 130))
    assert list(np.bincount(labels)) == [60, 40, 30]
    assert len(set(labels[:60])) == 1


def test_same_generator_same_communities_and_isolated_nodes_stay_alone():
    graph = GRAPHS["isolated_node"]()
    labels = find(graph)
    np.testing.assert_array_equal(labels, find(graph))
    assert (labels == labels[15]).sum() == 1
    empty = Graph.from_pairs(np.zeros((0, 2), int), 4)
    np.testing.assert_array_equal(find(empty), np.arange(4))
