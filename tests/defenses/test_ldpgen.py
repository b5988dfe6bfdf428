"""LDPGen: what is reported comes back in expectation; the budget drives the noise."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.defenses.ldpgen import LdpGen, draw_chung_lu
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities


def test_synthetic_degrees_match_the_reported_vectors_on_average():
    groups = np.array([0, 0, 0, 1, 1, 1])
    vectors = np.array([[1, 2], [1, 1], [2, 0], [1, 1], [1, 0], [1, 3]], dtype=float)
    degrees = np.zeros(6)
    for seed in range(2000):
        pairs = draw_chung_lu(vectors, groups, np.random.default_rng(seed))
        degrees += np.bincount(pairs.ravel(), minlength=6)
    # Loops and repeats count here; both sides report three links between the groups.
    np.testing.assert_allclose(degrees / 2000, vectors.sum(axis=1), rtol=0.06)


def test_without_noise_the_number_of_links_is_kept():
    graph = two_communities(60)
    counts = [
        LdpGen(epsilon=100.0, groups=4)
        .publish(graph, Threats(graph), Context(Seed(seed)))
        .graph.num_edges
        for seed in range(10)
    ]
    # Repeated pairs and loops are merged, so a little below.
    assert 0.75 < np.mean(counts) / graph.num_edges < 1.05


def test_guarantee_is_local_with_two_reports():
    graph = two_communities(20)
    release = LdpGen(epsilon=3.0).publish(graph, Threats(graph), Context(Seed(0)))
    assert release.guarantee.epsilon_transcript == pytest.approx(6.0)
