"""MixHop and H2GCN against dense formulas."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from core.errors import ResourceError
from core.models.encoders import make_inputs
from core.models.hops import H2Gcn, MixHop, compute_two_hops, make_two_hop_propagation
from core.models.propagation import Propagation
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_two_hops_are_the_pairs_at_distance_two(name):
    graph = GRAPHS[name]()
    lengths = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    n = graph.num_nodes
    expected = [[lengths[i].get(j) == 2 for j in range(n)] for i in range(n)]
    np.testing.assert_array_equal(compute_two_hops(graph, 1 << 30).toarray() > 0, expected)


def test_two_hops_decline_what_does_not_fit():
    with pytest.raises(ResourceError, match="distance two"):
        compute_two_hops(GRAPHS["star"](), 1000)


def test_mixhop_equals_the_dense_formula():
    graph = GRAPHS["two_communities"]()
    x, propagation = make_inputs(graph), Propagation.of_graph(graph)
    a = propagation.matrix.to_dense()
    model = MixHop(x, propagation, 6, 2, Seed(0), dropout=0.0)
    h = x
    for maps in model.layers:
        parts = [torch.linalg.matrix_power(a, p) @ maps[p](h * 1.0) for p in range(3)]
        bias = [maps[p].bias for p in range(3)]
        assert all((b == 0).all() for b in bias)
        h = torch.relu(torch.cat(parts, dim=1))
    torch.testing.assert_close(model(), model.out(h), atol=1e-5, rtol=1e-4)
    check_rows(model, graph.num_nodes)


def test_h2gcn_equals_the_dense_formula():
    graph = GRAPHS["two_communities"]()
    x = make_inputs(graph)
    one = Propagation.of_graph(graph, self_loops=False)
    two = make_two_hop_propagation(graph, 1 << 30, "cpu")
    model = H2Gcn(x, one, two, 5, 2, Seed(0), dropout=0.0)
    r0 = torch.relu(x @ model.embed.weight)
    a1, a2 = one.matrix.to_dense(), two.matrix.to_dense()
    r1 = torch.cat([a1 @ r0, a2 @ r0], 1)
    r2 = torch.cat([a1 @ r1, a2 @ r1], 1)
    expected = model.out(torch.cat([r0, r1, r2], 1))
    torch.testing.assert_close(model(), expected, atol=1e-5, rtol=1e-4)
    check_rows(model, graph.num_nodes)


def check_rows(model, n):
    """Some nodes' scores and gradients are those of all nodes, whichever are asked for."""
    for nodes in (torch.tensor([3, 0, 7]), torch.arange(n), torch.tensor([3, 0, 7])):
        torch.testing.assert_close(model(nodes), model()[nodes], atol=1e-5, rtol=1e-4)
        gradients = []
        for scores in (model(nodes), model()[nodes]):
            model.zero_grad()
            scores.square().sum().backward()
            gradients.append([weight.grad.clone() for weight in model.parameters()])
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)
