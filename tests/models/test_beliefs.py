"""Belief propagation against the sum over all configurations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from core.attacks.attribute.attri_infer import BeliefPropagation
from core.graph import Graph


def enumerate_marginals(graph: Graph, log_prior: np.ndarray, coupling: float) -> np.ndarray:
    n, num_classes = log_prior.shape
    weights = np.ones(graph.num_edges) if graph.weights is None else graph.weights
    marginals = np.zeros((n, num_classes))
    for values in product(range(num_classes), repeat=n):
        energy = sum(log_prior[i, z] for i, z in enumerate(values))
        for (i, j), w in zip(graph.edges, weights, strict=True):
            energy += coupling * w * (values[i] == values[j])
        for i, z in enumerate(values):
            marginals[i, z] += np.exp(energy)
    return marginals / marginals.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("coupling", [-0.8, 0.0, 0.3, 1.5])
@pytest.mark.parametrize("num_classes", [2, 3])
def test_beliefs_are_exact_on_a_weighted_forest(coupling, num_classes):
    pairs = np.array([[0, 1], [1, 2], [1, 3], [3, 4], [5, 6]])
    graph = Graph.from_pairs(pairs, 8, weights=np.array([1.0, 0.5, 2.0, 1.0, 0.2]))
    log_prior = np.random.default_rng(0).normal(size=(8, num_classes))
    found = BeliefPropagation(graph).compute(
        log_prior, coupling, rounds=60, damping=0.0, tolerance=0
    )
    expected = enumerate_marginals(graph, log_prior, coupling)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_damping_reaches_the_same_fixed_point_on_a_cycle():
    pairs = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]])
    graph = Graph.from_pairs(pairs, 4)
    log_prior = np.random.default_rng(1).normal(size=(4, 2))
    values = [
        BeliefPropagation(graph).compute(log_prior, 0.3, rounds=200, damping=d, tolerance=0)
        for d in (0.0, 0.5)
    ]
    np.testing.assert_allclose(values[0], values[1], atol=1e-8)
    np.testing.assert_allclose(values[0], enumerate_marginals(graph, log_prior, 0.3), atol=0.05)


def test_classes_can_be_swapped():
    graph = Graph.from_pairs(np.array([[0, 1], [1, 2], [0, 2], [2, 3]]), 4)
    log_prior = np.random.default_rng(2).normal(size=(4, 3))
    found = BeliefPropagation(graph).compute(log_prior, 0.4)
    swapped = BeliefPropagation(graph).compute(log_prior[:, ::-1], 0.4)
    np.testing.assert_allclose(swapped[:, ::-1], found)
