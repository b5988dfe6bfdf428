"""GCN scores under flips: against dense algebra, and against the trained network's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.context import Context
from core.models.encoders import Block, Encoder
from core.models.flips.fitting import _read_gcn, fit_gcns
from core.models.flips.perturbation import fit_surrogates
from core.models.flips.selection import FlippedGcn, GcnWeights
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats, two_communities


def compute_dense_scores(adjacency, features, weights):
    loops = adjacency + np.eye(len(adjacency))
    scale = 1 / np.sqrt(loops.sum(axis=1))
    matrix = scale[:, None] * loops * scale
    hidden = np.maximum(matrix @ features @ weights.first + weights.first_bias, 0)
    return matrix @ hidden @ weights.second + weights.second_bias


def make_weights(num_features, rng):
    return GcnWeights(
        rng.normal(size=(num_features, 5)),
        rng.normal(size=5),
        rng.normal(size=(5, 3)),
        rng.normal(size=3),
    )


@pytest.mark.parametrize("num_flips", [0, 30])
def test_scores_of_every_flip_equal_the_dense_network(num_flips):
    rng = np.random.default_rng(1)
    graph = two_communities(24)
    values = rng.integers(0, 2, (24, 6)).astype(float)
    weights = make_weights(6, rng)
    state = FlippedGcn(graph, values.astype(np.float32), weights)
    dense = graph.adjacency.toarray().astype(float)
    for _ in range(num_flips):
        u, v = rng.choice(24, 2, replace=False)
        state.flip_link(int(v), int(u))
        dense[u, v] = dense[v, u] = 1 - dense[u, v]
        column = int(rng.integers(6))
        state.flip_feature(int(v), column)
        values[v, column] = 1 - values[v, column]
    expected = compute_dense_scores(dense, values, weights)
    np.testing.assert_allclose(state.compute_all_scores(), expected)
    for v in (0, 5, 23):
        np.testing.assert_allclose(state.compute_scores(v), expected[v])
        found = state.score_link_flips(v)
        for u in range(24):
            changed = dense.copy()
            if u != v:
                changed[u, v] = changed[v, u] = 1 - changed[u, v]
            np.testing.assert_allclose(found[u], compute_dense_scores(changed, values, weights)[v])
        found = state.score_feature_flips(v)
        for column in range(6):
            changed = values.copy()
            changed[v, column] = 1 - changed[v, column]
            np.testing.assert_allclose(
                found[column], compute_dense_scores(dense, changed, weights)[v]
            )


def test_weights_read_from_a_network_give_its_logits():
    graph = two_communities(30)
    features = graph.dense_features().astype(np.float32)
    model = Encoder("gcn", [features.shape[1], 16, 3], Seed(4), 0.5).eval()
    state = FlippedGcn(graph, features, _read_gcn(model))
    with torch.no_grad():
        logits = model(torch.from_numpy(features), Block.of_graph(graph, "gcn")).numpy()
    np.testing.assert_allclose(state.compute_all_scores(), logits, atol=1e-4)


def test_members_side_by_side_answer_as_each_alone():
    threats = make_threats(GRAPHS["two_communities"]())
    surrogates = fit_surrogates(threats.visible, threats, Context(Seed(0)), 2)
    state = surrogates.open_graph(threats.visible)
    private, label = surrogates.split(state.compute_all_scores())
    weights = fit_gcns(
        threats.visible,
        surrogates.features,
        threats.attribute.observed,
        threats.attribute.num_classes,
        2,
        Context(Seed(0)).child("private"),
        "training",
    )
    parts = []
    for one in weights:
        scores = FlippedGcn(threats.visible, surrogates.features, one).compute_all_scores()
        parts.append(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(private, np.mean(parts, axis=0))
    np.testing.assert_allclose(private.sum(axis=1), 1.0)
    assert len({float(part[0, 0]) for part in parts}) == len(parts)
    assert label.shape[1] == (threats.utility.num_classes if threats.utility else 0)
