"""Katz against dense matrix powers and the closed form."""

from __future__ import annotations

import numpy as np
import pytest

from core.attacks.link.katz import compute_katz, compute_largest_eigenvalue
from core.context import Context
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS
from tests.oracles.progress import RecordingProgress


@pytest.mark.parametrize("name", sorted(GRAPHS))
@pytest.mark.parametrize("max_length", [2, 3, 4, 5, 6])
def test_equals_dense_matrix_powers(name, max_length):
    graph = GRAPHS[name]()
    dense = graph.adjacency.toarray().astype(float)
    beta = 0.5 / np.linalg.eigvalsh(dense)[-1]
    expected = sum(np.linalg.matrix_power(beta * dense, k) for k in range(1, max_length + 1))
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)
    scores = compute_katz(graph, pairs, 0.5, max_length, Context(Seed(0)))
    np.testing.assert_allclose(scores, expected[tuple(pairs.T)], rtol=1e-3, atol=1e-12)


def test_the_cut_off_tail_of_the_closed_form_is_geometric():
    """Σ_{l > L} (βλ)^l bounds each entry of what is left out of (I − βA)⁻¹ − I."""
    graph = GRAPHS["two_communities"]()
    dense = graph.adjacency.toarray().astype(float)
    beta = 0.3 / np.linalg.eigvalsh(dense)[-1]
    closed = np.linalg.inv(np.eye(40) - beta * dense) - np.eye(40)
    pairs = np.stack(np.triu_indices(40, 1), 1)
    rest = closed[tuple(pairs.T)] - compute_katz(graph, pairs, 0.3, 6, Context(Seed(0)))
    assert (rest > 0).all()
    assert rest.max() < 0.3**7 / 0.7 * 1.01


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_largest_eigenvalue_equals_lapack(name):
    adjacency = GRAPHS[name]().adjacency
    expected = np.linalg.eigvalsh(adjacency.toarray().astype(float))[-1]
    assert compute_largest_eigenvalue(adjacency, Context(Seed(0))) == pytest.approx(
        expected, rel=1e-3
    )


def test_tiles_do_not_change_scores_and_report_progress():
    graph = GRAPHS["two_communities"]()
    pairs = np.stack(np.triu_indices(40, 1), 1)
    progress = RecordingProgress()
    tiled = compute_katz(
        graph, pairs, 0.5, 4, Context(Seed(0), progress=progress, memory_budget=64_000)
    )
    assert len(progress.updates) > 10
    np.testing.assert_allclose(tiled, compute_katz(graph, pairs, 0.5, 4, Context(Seed(0))))
