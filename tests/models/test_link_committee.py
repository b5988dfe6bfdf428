"""The attackers beside PPGSL's surrogate: their columns against dense sums, their gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.attacks.link.feature_neighbourhood import compute_neighbourhood_cosines, weigh_features
from core.context import Context
from core.models.link_committee import Committee, PairTriangles
from core.models.pair_matrix import PairMatrix
from core.seeding import Seed
from tests.oracles.graphs import two_communities


def make(weights_seed=0):
    graph = two_communities(40, seed=3)
    rng = np.random.default_rng(weights_seed)
    pairs = np.stack(np.triu_indices(40, 1), 1)[::2]
    matrix = PairMatrix(40, pairs)
    weights = torch.from_numpy(rng.random(len(pairs)).astype(np.float32))
    dense = np.zeros((40, 40))
    dense[tuple(pairs.T)] = weights.numpy()
    return graph, matrix, weights, dense + dense.T


def test_sums_over_common_neighbours_equal_dense_products():
    _, matrix, weights, dense = make()
    asked = np.stack(np.triu_indices(40, 1), 1)[::5]
    degrees = dense.sum(axis=1)
    found = PairTriangles(matrix, asked).sum(weights, torch.from_numpy(degrees).float()).numpy()
    i, j = asked.T
    np.testing.assert_allclose(found[:, 0], (dense @ dense)[i, j], rtol=1e-4)
    scale = 1 / np.log(np.maximum(degrees, 2))
    np.testing.assert_allclose(found[:, 1], ((dense * scale) @ dense)[i, j], rtol=1e-4)


def test_features_are_compared_as_the_attack_compares_them():
    graph = two_communities(40, seed=3)
    matrix = PairMatrix(40, graph.edges)
    asked = np.stack(np.triu_indices(40, 1), 1)
    asked = asked[~graph.contains_pairs(asked)][::7]
    committee = Committee(matrix, asked, weigh_features(graph), np.random.default_rng(0))
    tables = committee._describe(torch.ones(graph.num_edges), asked, PairTriangles(matrix, asked))
    expected = compute_neighbourhood_cosines(graph, asked, Context(Seed(0)))
    columns = np.stack([expected.ends, expected.across, expected.neighbourhoods], axis=1)
    np.testing.assert_allclose(tables[0].numpy(), columns, atol=1e-4)


def test_the_losses_fall_along_their_gradient_and_cover_both_attackers():
    graph, matrix, weights, _ = make()
    targets = graph.edges[:30]
    committee = Committee(matrix, targets, weigh_features(graph), np.random.default_rng(0))
    assert committee.compute_losses(weights) == []  # nothing is known before a training
    committee.fit(weights)
    weights = weights.clone().requires_grad_()
    losses = committee.compute_losses(weights)
    assert len(losses) == 2
    for place, loss in enumerate(losses):
        (slope,) = torch.autograd.grad(loss, weights, retain_graph=True)
        step = 1e-3 / slope.norm()
        with torch.no_grad():
            after = committee.compute_losses(weights - step * slope)[place]
        assert float((loss - after).detach()) == pytest.approx(
            float(step * slope.square().sum()), rel=0.1
        )
