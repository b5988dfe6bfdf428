"""Learned-weight propagation and the surrogate attacker against dense oracles."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.models import pair_matrix
from core.models.pair_matrix import PairMatrix, compute_pair_dots
from core.models.surrogate import NodeInputs, Surrogate
from tests.oracles.graphs import two_communities, two_components

PAIRS = np.array([[0, 1], [0, 4], [1, 2], [2, 3], [3, 4], [4, 5]])


@pytest.fixture(params=["cpu kernels", "gathered tiles"])
def kernels(request, monkeypatch):
    """Both code paths on the CPU; the second is the one that GPUs take, in tiles of 4 pairs."""
    if request.param == "gathered tiles":
        monkeypatch.setattr(pair_matrix, "TILE", 4)
        monkeypatch.setattr(pair_matrix, "_has_kernels", lambda tensor: False)


def dense_normalized(weights, n=7):
    i, j = torch.from_numpy(PAIRS.T.copy())
    matrix = torch.zeros(n, n).index_put((i, j), weights).index_put((j, i), weights)
    matrix = matrix + torch.eye(n)
    scale = matrix.sum(1).rsqrt()
    return scale[:, None] * matrix * scale


def test_products_and_their_gradients_equal_dense_ones(kernels):
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(len(PAIRS), generator=generator)
    weights[2] = 0.0
    x, target = torch.randn(2, 7, 5, generator=generator)
    pattern = PairMatrix(7, PAIRS)
    results = []
    for dense in (False, True):
        w, y = weights.clone().requires_grad_(), x.clone().requires_grad_()
        out = dense_normalized(w) @ y if dense else pattern.matmul(pattern.normalize(w), y)
        (out * target).sum().backward()
        results.append((out.detach(), w.grad, y.grad))
    for ours, oracle in zip(*results, strict=True):
        torch.testing.assert_close(ours, oracle, atol=1e-5, rtol=1e-4)


def test_the_pattern_holds_each_pair_twice_and_the_diagonal_in_order():
    pattern, count = PairMatrix(7, PAIRS), len(PAIRS)
    rows = np.repeat(np.arange(7), np.diff(pattern.indptr.numpy()))
    entries = list(zip(rows.tolist(), pattern.indices.tolist(), strict=True))
    slots = {
        (i, j): slot for slot, pair in enumerate(PAIRS.tolist()) for i, j in (pair, pair[::-1])
    }
    slots |= {(i, i): count + i for i in range(7)}
    assert entries == sorted(slots)
    assert pattern.slots.tolist() == [slots[entry] for entry in entries]
    with pytest.raises(AssertionError):
        PairMatrix(7, PAIRS[::-1])


def test_pair_dots_and_their_gradients_equal_dense_ones(kernels):
    z = torch.randn(7, 3, generator=torch.Generator().manual_seed(1))
    left, right = torch.tensor([0, 0, 6, 2, 2]), torch.tensor([1, 6, 0, 2, 5])
    factor = torch.arange(1.0, 6.0)
    ours, oracle = z.clone().requires_grad_(), z.clone().requires_grad_()
    (compute_pair_dots(ours, left, right) * factor).sum().backward()
    ((oracle[left] * oracle[right]).sum(1) * factor).sum().backward()
    torch.testing.assert_close(ours.grad, oracle.grad)


def test_weights_are_found_by_pair_in_either_direction():
    pattern, weights = PairMatrix(7, PAIRS), torch.arange(1.0, 7.0)
    left, right = torch.tensor([1, 4, 5, 0, 6]), torch.tensor([0, 3, 4, 2, 5])
    found = pattern.look_up(weights, left, right)
    assert found.tolist() == [1.0, 5.0, 6.0, 0.0, 0.0]


def make_surrogate(graph, head="cosine"):
    matrix = PairMatrix(graph.num_nodes, graph.edges)
    generator = torch.Generator().manual_seed(0)
    return Surrogate(NodeInputs(graph), matrix, head, generator)


@pytest.mark.parametrize("head", ["cosine", "inner", "mlp"])
@pytest.mark.parametrize("make", [two_communities, two_components])
def test_training_ranks_links_above_other_pairs(head, make):
    graph = make()
    surrogate = make_surrogate(graph, head)
    weights = torch.ones(graph.num_edges)
    losses = []
    surrogate.fit(weights, 80, losses.append)
    surrogate.freeze()
    assert np.mean(losses[-10:]) < np.mean(losses[:3])
    i, j = np.triu_indices(graph.num_nodes, 1)
    with torch.no_grad():
        scores = surrogate.compute_logits(weights, torch.from_numpy(i), torch.from_numpy(j))
    is_link = graph.contains_pairs(np.stack([i, j], 1))
    assert scores[is_link].mean() > scores[~is_link].mean() + 0.1
    swapped = surrogate.compute_logits(weights, torch.from_numpy(j), torch.from_numpy(i))
    torch.testing.assert_close(scores, swapped)


def test_gradient_in_the_graph_equals_finite_differences():
    graph = two_communities(16)
    surrogate = make_surrogate(graph)
    surrogate.fit(torch.ones(graph.num_edges), 20, lambda value: None)
    surrogate.freeze()
    left, right = torch.tensor([0, 3]), torch.tensor([9, 12])
    weights = torch.full((graph.num_edges,), 0.6, requires_grad=True)
    surrogate.compute_logits(weights, left, right).sum().backward()
    for edge in range(0, graph.num_edges, 5):
        values = []
        for step in (1e-2, -1e-2):
            moved = weights.detach().clone()
            moved[edge] += step
            values.append(float(surrogate.compute_logits(moved, left, right).sum()))
        slope = (values[0] - values[1]) / 2e-2
        assert weights.grad[edge] == pytest.approx(slope, abs=2e-3, rel=2e-2)
