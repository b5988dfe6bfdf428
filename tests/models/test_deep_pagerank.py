"""Deep PageRank: the paper's worked example, its loss by hand, its bound against gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.context import Context
from core.models.synthesis.deep_pagerank import (
    NoNoise,
    Plan,
    RankNetwork,
    compute_num_layers,
    compute_pair_bound,
    compute_pair_losses,
    train_vectors,
)
from core.privacy.budget import GaussianNoise
from core.seeding import Seed
from tests.oracles.graphs import star, two_communities

PLAN = Plan(
    num_nodes=40,
    epochs=2,
    batch=8,
    walks=2,
    walk_length=4,
    damping=0.85,
    sensitivity=5.0,
    scale=8.0,
    dimensions=6,
    hidden=5,
)


def test_example_4_5_of_the_paper():
    assert compute_pair_bound(3327, 0.85) == pytest.approx(10_464, abs=1)
    assert compute_num_layers(3327, 0.85, pairs=128, steps=1, sensitivity=5.0, scale=5.0) == 7


def test_layers_are_the_least_that_keep_the_presets():
    for scale in (1.5, 2.0, 8.0):
        for steps in (1, 845):
            layers = compute_num_layers(2708, 0.85, 512, steps, 5.0, scale)
            bound = 512 * compute_pair_bound(2708, 0.85) * steps
            assert bound * scale ** -(layers + 1) <= 5.0 * (1 + 1e-9)
            assert bound * scale**-layers > 5.0


def test_loss_of_a_pair_is_equation_5():
    ranks, degrees = torch.tensor([0.3, 0.6]), torch.tensor([2.0, 5.0])
    loss = compute_pair_losses(ranks, torch.tensor([[0, 1]]), degrees, PLAN)
    gap = 0.3 / 2 - 0.6 / (5 * 0.85)
    expected = 5 * 0.85**2 * gap**2 + gap * 2 * 0.85 * 0.15 / 40 + 0.15**2 / (5 * 40**2)
    assert float(loss) == pytest.approx(expected, rel=1e-5)


def test_the_losses_of_the_links_into_a_node_bound_its_pagerank_residual():
    """Lemma 4.1 on a node j: Σ_i loss(i, j) ≥ (γ Σ_i f_i/d_i + (1−γ)/N − f_j)²."""
    graph = two_communities()
    ranks = torch.rand(40, generator=torch.Generator().manual_seed(0))
    degrees = torch.from_numpy(graph.degrees.astype(np.float32))
    for j in np.flatnonzero(graph.degrees):
        into = graph.adjacency.indices[graph.adjacency.indptr[j] : graph.adjacency.indptr[j + 1]]
        ends = torch.from_numpy(np.stack([into, np.full(len(into), j)], 1).astype(np.int64))
        total = float(compute_pair_losses(ranks, ends, degrees, PLAN).sum())
        flow = float((ranks[into] / degrees[into]).sum())
        residual = (0.85 * flow + 0.15 / 40 - float(ranks[j])) ** 2
        assert total >= residual * (1 - 1e-4)


@pytest.mark.parametrize("scale", [1.2, 8.0])
def test_no_batch_s_gradient_exceeds_its_bound(scale):
    """Whatever the weights: normalised first, then pairs with the most unequal degrees."""
    graph = star()
    plan = replace(PLAN, num_nodes=21, scale=scale, sensitivity=1e6 if scale < 2 else 5.0)
    degrees = torch.from_numpy(graph.degrees.astype(np.float32))
    ends = torch.tensor([[0, 1], [1, 0]]).repeat(plan.pairs // 2, 1)
    for seed in range(20):
        network = RankNetwork(plan, torch.Generator().manual_seed(seed))
        network.normalize()
        for weight in (network.first, network.last, *network.middle):
            assert torch.linalg.matrix_norm(weight.double(), 2) <= 1 / scale
        vectors = torch.randn(21, 6, generator=torch.Generator().manual_seed(seed))
        vectors.requires_grad_()
        compute_pair_losses(network(vectors), ends, degrees, plan).sum().backward()
        assert 0 < float(vectors.grad.double().norm()) <= plan.gradient_bound


def make_noise():
    return GaussianNoise(10.0, Context(Seed(0)))


def test_vectors_of_a_graph_without_links_owe_it_nothing():
    empty = two_communities().with_edges(np.empty((0, 2)))
    vectors, facts = train_vectors(empty, PLAN, make_noise(), Context(Seed(0)))
    assert facts["gradient_norm"] == 0.0
    other, _ = train_vectors(two_communities(), PLAN, make_noise(), Context(Seed(0)))
    # The same noise and a gradient far below it: the same vectors but for a trace.
    np.testing.assert_allclose(vectors, other, atol=1e-2)


def test_without_noise_the_vectors_follow_the_gradient():
    graph = two_communities()
    still, _ = train_vectors(graph, replace(PLAN, lr=0.0), NoNoise(), Context(Seed(0)))
    moved, facts = train_vectors(graph, PLAN, NoNoise(), Context(Seed(0)))
    assert facts["noise_norm"] == 0.0
    assert facts["gradient_norm"] > 0.0
    assert np.abs(moved - still).max() > 1e-3
