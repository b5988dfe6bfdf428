"""Label propagation against a plain loop over nodes."""

from __future__ import annotations

import numpy as np
import pytest

from core.algorithms.class_propagation import propagate_labels
from tests.oracles.graphs import GRAPHS, make_threats


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_equals_a_loop_over_nodes(name):
    graph = GRAPHS[name]()
    threat = make_threats(graph).attribute
    observed, prior = threat.observed, threat.observed_shares
    dense = graph.adjacency.toarray().astype(float)
    values = [np.eye(len(prior))[code] if code >= 0 else prior.copy() for code in observed]
    for _ in range(7):
        updated = []
        for i, code in enumerate(observed):
            if code >= 0 or not dense[i].any():
                updated.append(values[i])
                continue
            mean = sum(dense[i, j] * values[j] for j in range(len(dense))) / dense[i].sum()
            updated.append(0.9 * mean + 0.1 * prior)
        values = updated
    (found,) = propagate_labels(graph, [observed], prior, neighbor_share=0.9, rounds=7)
    np.testing.assert_allclose(found, values, atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_side_by_side_is_one_by_one_to_the_last_bit(name):
    graph = GRAPHS[name]()
    threat = make_threats(graph).attribute
    codes, prior = threat.observed, threat.observed_shares
    fewer = np.where(np.arange(len(codes)) % 2, codes, -1)
    sets = [codes, fewer, np.full_like(codes, -1)]
    found = propagate_labels(graph, sets, prior, rounds=9)
    for values, each in zip(found, sets, strict=True):
        np.testing.assert_array_equal(values, propagate_labels(graph, [each], prior, rounds=9)[0])
