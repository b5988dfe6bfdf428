"""Encoders against dense formulas and against PyG's layers with the same weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import sparse

from core.graph import Graph
from core.models.encoders import LAYERS, Block, Dropout, Encoder, Linear, make_inputs, num_columns
from core.models.propagation import Propagation
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS


@pytest.fixture(name="graph")
def make_graph() -> Graph:
    return GRAPHS["two_communities"]()


def edge_index(graph: Graph) -> torch.Tensor:
    return torch.from_numpy(np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.copy())


def test_gcn_layer_equals_the_dense_formula(graph):
    layer = LAYERS["gcn"](8, 3, Seed(0).torch("w"))
    x = make_inputs(graph)
    a = torch.from_numpy(graph.adjacency.toarray()) + torch.eye(graph.num_nodes)
    scale = a.sum(1).rsqrt()
    expected = (scale[:, None] * a * scale) @ x @ layer.linear.weight + layer.bias
    torch.testing.assert_close(layer(x, Block.of_graph(graph, "gcn")), expected)


def test_gin_layer_equals_pyg(graph):
    from torch_geometric.nn import GINConv

    layer = LAYERS["gin"](8, 4, Seed(0).torch("w"))
    mlp = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))
    conv = GINConv(mlp)
    with torch.no_grad():
        mlp[0].weight.copy_(layer.first.weight.T)
        mlp[0].bias.copy_(layer.bias)
        mlp[2].weight.copy_(layer.second.weight.T)
        mlp[2].bias.copy_(layer.second.bias)
    x = make_inputs(graph)
    expected = conv(x, edge_index(graph))
    found = layer(x, Block.of_graph(graph, "gin"))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_sage_layer_equals_pyg(graph):
    from torch_geometric.nn import SAGEConv

    layer = LAYERS["sage"](8, 4, Seed(0).torch("w"))
    conv = SAGEConv(8, 4)
    with torch.no_grad():
        bias = layer.own.bias.normal_(generator=Seed(1).torch("b"))
        conv.lin_l.weight.copy_(layer.others.weight.T)
        conv.lin_l.bias.copy_(bias)
        conv.lin_r.weight.copy_(layer.own.weight.T)
    x = make_inputs(graph)
    found = layer(x, Block.of_graph(graph, "sage"))
    torch.testing.assert_close(found, conv(x, edge_index(graph)), atol=1e-5, rtol=1e-4)


def test_gat_layer_equals_pyg(graph):
    from torch_geometric.nn import GATConv

    layer = LAYERS["gat"](8, 8, Seed(0).torch("w"))
    conv = GATConv(8, 2, heads=4)
    with torch.no_grad():
        conv.lin.weight.copy_(layer.linear.weight.T)
        conv.att_src.copy_(layer.attention[0][None])
        conv.att_dst.copy_(layer.attention[1][None])
    x = make_inputs(graph)
    found = layer(x, Block.of_graph(graph, "gat"))
    torch.testing.assert_close(found, conv(x, edge_index(graph)), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("backbone", sorted(LAYERS))
def test_sparse_inputs_give_the_same_values_and_gradients(graph, backbone):
    dense = make_inputs(graph)
    thin = Propagation(sparse.csr_array(dense.numpy()), is_symmetric=False)
    block = Block.of_graph(graph, backbone)
    results = []
    for x in (dense, thin):
        model = Encoder(backbone, [num_columns(x), 8, 2], Seed(3))
        y = model(x, block)
        y.square().sum().backward()
        results.append((y.detach(), next(model.parameters()).grad))
    torch.testing.assert_close(results[0], results[1], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("backbone", sorted(LAYERS))
def test_renumbering_the_nodes_renumbers_the_output(graph, backbone):
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    place = np.argsort(order)
    moved = Graph.from_pairs(place[graph.edges], graph.num_nodes, features=graph.features[order])
    model = Encoder(backbone, [8, 8, 2], Seed(1))
    before = model(make_inputs(graph), Block.of_graph(graph, backbone))
    after = model(make_inputs(moved), Block.of_graph(moved, backbone))
    torch.testing.assert_close(after, before[torch.from_numpy(order)], atol=1e-5, rtol=1e-4)


def test_a_weight_of_zero_is_no_link_for_attention(graph):
    extra = np.array([[0, 39]])
    pairs = np.concatenate([graph.edges, extra])
    weights = np.r_[np.ones(graph.num_edges), 0.0]
    padded = graph.with_edges(pairs, weights)
    model = Encoder("gat", [8, 8, 2], Seed(1))
    x = make_inputs(graph)
    torch.testing.assert_close(
        model(x, Block.of_graph(padded, "gat")), model(x, Block.of_graph(graph, "gat"))
    )


def test_weights_and_dropout_depend_on_the_given_seed_only(graph):
    x, block = make_inputs(graph), Block.of_graph(graph, "gcn")

    def run(seed: int, noise: int) -> torch.Tensor:
        torch.manual_seed(noise)
        return Encoder("gcn", [8, 16, 2], Seed(seed), dropout=0.5)(x, block)

    torch.testing.assert_close(run(1, 5), run(1, 6), rtol=0, atol=0)
    assert not torch.allclose(run(1, 5), run(2, 5))


@pytest.mark.parametrize("rate", [0.01, 0.25, 0.5, 0.9])
def test_dropout_keeps_the_mean_and_rests_in_evaluation(rate):
    layer, x = Dropout(rate, Seed(0)), torch.ones(401, 403)
    dropped, again = layer(x), layer(x)
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / (1 - rate)], rel=1e-3)
    error = 4 * math.sqrt(rate / (1 - rate) / x.numel())
    assert dropped.mean() == pytest.approx(1.0, abs=error)
    # a further mask is independent, and so are neighbours in a row, which share random words
    kept = [(part > 0).float() - (1 - rate) for part in (dropped, again)]
    for left, right in ((kept[0], kept[1]), (kept[0][:, 1:], kept[0][:, :-1])):
        assert abs((left * right).mean()) < 4 * rate * (1 - rate) / math.sqrt(left.numel())
    assert layer.eval()(x) is x


def test_dropout_leaves_sparse_inputs_alone():
    sparse_inputs = Propagation(sparse.csr_array(np.eye(3, dtype=np.float32)), True)
    assert Dropout(0.5, Seed(0)).train()(sparse_inputs) is sparse_inputs


def test_inputs_lie_between_minus_one_and_one():
    features = np.array([[0.0, 5.0, 1.0], [10.0, 5.0, 2.0], [5.0, 5.0, 3.0]], np.float32)
    graph = Graph.from_pairs(np.array([[0, 1]]), 3, features=features)
    np.testing.assert_allclose(make_inputs(graph), [[-1, 0, -1], [1, 0, 0], [0, 0, 1]])
    thin = Graph.from_pairs(np.array([[0, 1]]), 3, features=sparse.csr_array(features))
    found = make_inputs(thin).matrix.to_dense()
    np.testing.assert_allclose(found, features / features.max(axis=0), rtol=1e-6)


def test_standard_inputs_have_mean_zero_and_deviation_one_and_a_column_of_ones():
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.exponential(3.0, 40) + 7, np.full(40, 2.5), rng.random(40)])
    graph = Graph.from_pairs(np.array([[0, 1]]), num_nodes=40, features=features)
    found = make_inputs(graph, scaling="standard").numpy()
    assert found.shape == (40, 4)
    for column in (0, 2):
        mean = sum(features[:, column]) / 40
        spread = (sum((v - mean) ** 2 for v in features[:, column]) / 40) ** 0.5
        np.testing.assert_allclose(
            found[:, column], (features[:, column] - mean) / spread, atol=1e-5
        )
    np.testing.assert_array_equal(found[:, 1], 0)
    np.testing.assert_array_equal(found[:, 3], 1)


def test_a_graph_without_features_gets_the_identity():
    inputs = make_inputs(GRAPHS["star"]())
    np.testing.assert_array_equal(inputs.matrix.to_dense(), np.eye(21))


def test_linear_draws_within_the_glorot_bound():
    weight = Linear(30, 70, Seed(0).torch("w")).weight.detach()
    bound = (6 / 100) ** 0.5
    assert weight.abs().max() <= bound
    assert weight.std() == pytest.approx(bound / 3**0.5, rel=0.05)
