"""RABV: one perturbed bit a pair, at the promised rate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.context import Context
from core.defenses.rabv import Rabv
from core.errors import ResourceError
from core.graph import Graph
from core.seeding import Seed
from core.threats import Threats


def test_flip_rates_fit_epsilon_and_the_guarantee_is_one_report_a_link():
    pairs = np.random.default_rng(0).integers(0, 400, (20_000, 2))
    graph = Graph.from_pairs(pairs, 400)
    release = Rabv(epsilon=1.5).publish(graph, Threats(graph), Context(Seed(3)))
    kept = graph.contains_pairs(release.graph.edges).sum()
    flip = 1 / (1 + math.exp(1.5))
    assert stats.binomtest(int(kept), graph.num_edges, 1 - flip).pvalue > 1e-4
    added, non_links = release.graph.num_edges - kept, graph.num_pairs - graph.num_edges
    assert stats.binomtest(int(added), non_links, flip).pvalue > 1e-4
    assert release.guarantee.epsilon == 1.5
    assert release.guarantee.epsilon_transcript is None


def test_a_release_that_cannot_fit_is_refused_before_it_is_drawn():
    graph = Graph.from_pairs(np.array([[0, 1]]), 200_000)
    with pytest.raises(ResourceError):
        Rabv(epsilon=1.0).publish(graph, Threats(graph), Context(Seed(0)))
