"""Ego networks against PyG's subgraphs, one node at a time, and against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.utils import k_hop_subgraph

from core.graph import Graph
from core.models.encoders import LAYERS, Block, make_inputs
from core.models.gps.attacker import EgoBlocks, RoleEncoder
from core.models.gps.ego import (
    build_ego_batch,
    compute_ego_costs,
    compute_role_features,
    split_centers,
)
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_each_network_holds_the_node_its_neighbours_and_their_links(name):
    graph = GRAPHS[name]()
    edge_index = graph.to_pyg().edge_index
    batch = build_ego_batch(graph, np.arange(graph.num_nodes))
    for k in range(graph.num_nodes):
        rows = slice(batch.offsets[k], batch.offsets[k + 1])
        nodes, links, center, _ = k_hop_subgraph(
            k, 1, edge_index, relabel_nodes=True, num_nodes=graph.num_nodes
        )
        np.testing.assert_array_equal(batch.members[rows], nodes)
        assert batch.centers[k] == batch.offsets[k] + int(center)
        inner = batch.adjacency[rows, rows].toarray()
        expected = np.zeros_like(inner)
        expected[links[0], links[1]] = 1
        np.testing.assert_array_equal(inner > 0, expected > 0)
    assert batch.adjacency.nnz == compute_ego_costs(graph)[:, 1].sum()
    assert len(batch.members) == compute_ego_costs(graph)[:, 0].sum()


def test_links_keep_their_weights():
    graph = GRAPHS["weighted"]()
    batch = build_ego_batch(graph, np.array([4]))
    dense = graph.adjacency.toarray()
    np.testing.assert_array_equal(
        batch.adjacency.toarray(), dense[np.ix_(batch.members, batch.members)]
    )


@pytest.mark.parametrize("backbone", ["gin", "gcn", "sage", "gat"])
def test_the_batch_encodes_each_network_as_if_it_were_alone(backbone):
    graph = GRAPHS["two_communities"]()
    x = make_inputs(graph)
    role = torch.from_numpy(compute_role_features(graph))
    encoder = RoleEncoder(backbone, 8, 4, Seed(0), dropout=0.0)
    nodes = np.array([3, 0, 17, 39])
    found = encoder(x, role, EgoBlocks.of(graph, nodes, backbone, "cpu"))
    dense = graph.adjacency.toarray()
    for row, node in enumerate(nodes):
        members = np.union1d([node], np.flatnonzero(dense[node]))
        block = Block.of_graph(graph.subgraph(members), backbone)
        h1 = torch.relu(encoder.first((x[members], encoder.embed(role[members])), block))
        h2 = torch.relu(encoder.second(h1, block))
        at = int(np.flatnonzero(members == node)[0])
        expected = torch.cat([h1.sum(0), h1[at], h2.sum(0), h2[at]])
        torch.testing.assert_close(found[row], expected, atol=1e-4, rtol=1e-4)
    assert set(LAYERS) >= {backbone}


@pytest.mark.parametrize("name", ["two_communities", "clique", "star", "isolated_node"])
def test_role_features_equal_networkx(name):
    graph = GRAPHS[name]()
    g = graph.to_networkx()
    overlap = {(i, j): value for i, j, value in nx.jaccard_coefficient(g, g.edges)}
    for node, (degree, mean) in enumerate(compute_role_features(graph)):
        values = [overlap.get((node, j), overlap.get((j, node))) for j in g[node]]
        assert degree == g.degree(node)
        assert mean == pytest.approx(np.mean(values) if values else 0.0, rel=1e-6)


def test_parts_cover_all_centres_within_the_budget():
    costs = np.array([5, 1, 1, 9, 2, 2])
    parts = [part.tolist() for part in split_centers(np.arange(6), costs, 6)]
    assert parts == [[0, 1], [2], [3], [4, 5]]
    assert list(split_centers(np.arange(0), costs, 6)) == []


def test_a_hub_of_many_thousands_takes_no_more_than_its_links():
    leaves = np.arange(1, 60_001)
    pairs = np.stack([np.zeros_like(leaves), leaves], axis=1)
    graph = Graph.from_pairs(np.concatenate([pairs, [[1, 2]]]), 60_001)
    costs = compute_ego_costs(graph)
    assert costs[0].tolist() == [60_001, 2 * 60_001]
    assert costs[1].tolist() == [3, 6]
    batch = build_ego_batch(graph, np.arange(1, 20_001))
    assert batch.adjacency.nnz == costs[1:20_001, 1].sum()
    assert (batch.adjacency.data == 1).all()
