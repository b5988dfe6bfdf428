"""The graph network for pairs: its counts, its sums, and that no link describes itself."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from core.attacks.link import ncn
from core.attacks.link.ncn import compute_distance_counts, find_strong_links
from core.context import Context
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.models.common_neighbors import PairBatch, PairNetwork
from core.models.encoders import Block, make_inputs, num_columns
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS, two_communities

NONE = np.zeros((0, 2), int)


@pytest.mark.parametrize("name", sorted(GRAPHS))
@pytest.mark.parametrize("tile", [ncn.TILE, 40])
def test_counts_by_distance_equal_shortest_paths(name, tile, monkeypatch):
    monkeypatch.setattr(ncn, "TILE", tile)
    graph = GRAPHS[name]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)[::3]
    reference = nx.Graph()
    reference.add_nodes_from(range(graph.num_nodes))
    reference.add_edges_from(graph.edges[find_strong_links(graph)])
    away = dict(nx.all_pairs_shortest_path_length(reference, cutoff=2))
    found = compute_distance_counts(graph, pairs, Context(Seed(0)))
    for row, (i, j) in zip(found, pairs, strict=True):
        others = set(reference) - {i, j}
        seen = [sorted((away[i].get(u, 9), away[j].get(u, 9))) for u in others]
        pairs_of = [[1, 1], [1, 2], [2, 2], [1, 9], [2, 9]]
        assert row.tolist() == [seen.count(kind) for kind in pairs_of]


def test_a_release_that_weighs_all_pairs_counts_the_likely_ones():
    rng = np.random.default_rng(0)
    pairs = np.stack(np.triu_indices(30, 1), 1)
    is_link = rng.random(len(pairs)) < 0.1
    weights = np.where(is_link, 0.9, 0.01) + 0.001 * rng.random(len(pairs))
    graph = Graph(edges=pairs, node_ids=tuple(map(str, range(30))), weights=weights)
    np.testing.assert_array_equal(find_strong_links(graph), is_link)


def test_the_network_reads_common_neighbours_and_is_symmetric():
    graph = GRAPHS["two_communities"]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)
    columns = np.random.default_rng(0).normal(size=(len(pairs), 3))
    block = Block.of_graph(graph, "gcn")
    batch, inverted = (
        PairBatch.of_pairs(graph, asked, columns, "cpu", block) for asked in (pairs, pairs[:, ::-1])
    )
    inputs = make_inputs(graph, "cpu", "standard")
    network = PairNetwork(num_columns(inputs), 3, Seed(0)).eval()
    with torch.no_grad():
        embedded = network.embed(inputs, block)
        sums = batch.common(embedded[0]).numpy()
        logits, mirrored = network(embedded, batch), network(embedded, inverted)
    neighbours = [set(graph.adjacency[[node]].indices) for node in range(graph.num_nodes)]
    for (i, j), found in zip(pairs[::7], sums[::7], strict=True):
        shared = sorted(neighbours[i] & neighbours[j])
        expected = embedded[0].numpy()[shared].sum(axis=0)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(logits.numpy(), mirrored.numpy(), atol=1e-5)


def test_it_finds_hidden_links_of_a_planted_graph_and_no_others_matter():
    graph = two_communities(120, seed=5)
    rng = np.random.default_rng(0)
    hidden = graph.edges[rng.permutation(graph.num_edges)[:150]]
    pairs = np.stack(np.triu_indices(120, 1), 1)
    absent = pairs[~graph.contains_pairs(pairs)]
    threat = LinkThreat(hidden, absent[rng.permutation(len(absent))[:150]], 0.1)
    release = Release(graph.without_edges(hidden))
    attack = make_method("ncn", {"folds": 4, "epochs": 10, "members": 1})
    scores = attack.score(release, threat, Context(Seed(0))).scores
    assert compute_auc(scores, threat.truth)[0] > 0.68
    alone = LinkThreat(hidden[:7], NONE, 0.5)
    asked_alone = attack.score(release, alone, Context(Seed(0))).scores
    np.testing.assert_allclose(asked_alone, scores[:7], atol=1e-4)


@pytest.mark.parametrize(("max_links", "groups"), [(12_000, 3), (20, 1)])
def test_no_link_is_in_the_graph_in_which_it_is_described(max_links, groups, monkeypatch):
    """What is learned of a link must hold for links that are not there; few links of many are taken
    out together."""
    seen = []
    describe = ncn.describe_columns
    monkeypatch.setattr(
        ncn,
        "describe_columns",
        lambda graph, pairs, context: (
            seen.append((graph, pairs)) or describe(graph, pairs, context)
        ),
    )
    graph = two_communities(60, seed=2)
    settings = {"folds": 3, "epochs": 1, "members": 1, "max_links": max_links}
    attack = make_method("ncn", settings)
    attack.score(Release(graph), LinkThreat(NONE, graph.edges[:1], 0.1), Context(Seed(3)))
    *folds, _ = seen
    learned = [pairs[graph.contains_pairs(pairs)] for _, pairs in folds]
    assert len(folds) == groups
    assert sum(map(len, learned)) == min(max_links, graph.num_edges)
    for rest, pairs in folds:
        assert not rest.contains_pairs(pairs).any()
        assert rest.num_edges < graph.num_edges


def test_its_description_joins_the_logit_with_the_columns():
    graph = two_communities(60, seed=2)
    attack = make_method("ncn", {"folds": 3, "epochs": 1, "members": 1})
    threat, context = LinkThreat(graph.edges[:5], graph.edges[5:9], 0.1), Context(Seed(3))
    table = attack.describe(Release(graph), threat, context)
    scores = attack.score(Release(graph), threat, Context(Seed(3))).scores
    np.testing.assert_array_equal(table[:, 0], scores)
    assert table.shape[1] > 5
