"""Solitude: post-processing of randomised response that only removes or lightens links."""

from __future__ import annotations

import numpy as np

from core.context import Context
from core.defenses.randomized_response import RandomizedResponse
from core.defenses.solitude import Solitude
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import make_threats, two_communities

GRAPH = two_communities(30)


def publish(threats, **settings):
    return Solitude(epsilon=3.0, **settings).publish(GRAPH, threats, Context(Seed(4))).graph


def test_links_are_a_lighter_subset_of_the_received_ones():
    received = (
        RandomizedResponse(epsilon=3.0)
        .publish(GRAPH, Threats(GRAPH), Context(Seed(4)).child("reports"))
        .graph
    )
    published = publish(make_threats(GRAPH), rounds=20)
    assert received.contains_pairs(published.edges).all()
    assert published.weights.min() > 0
    assert published.weights.max() <= 1.0


def test_more_sparsity_keeps_less():
    threats = make_threats(GRAPH)
    totals = [publish(threats, rounds=20, sparsity=s).weights.sum() for s in (0.0, 0.01, 0.03)]
    assert totals[0] > totals[1] > totals[2]


def test_hidden_labels_do_not_matter():
    threats = make_threats(GRAPH)
    left = publish(threats, rounds=10)
    threats.utility.attribute.codes.flags.writeable = True
    threats.utility.attribute.codes[threats.utility.hidden] = 0
    right = publish(threats, rounds=10)
    np.testing.assert_array_equal(left.edges, right.edges)
    np.testing.assert_array_equal(left.weights, right.weights)
