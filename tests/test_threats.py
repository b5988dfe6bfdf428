"""Threats: what an adversary is given, and what is kept for judging it."""

from __future__ import annotations

import numpy as np
import pytest

from core.graph import Graph
from core.node_column import MISSING, NodeColumn
from core.threats import AttributeThreat, IdentityThreat, LinkThreat


def test_pairs_are_hidden_links_then_non_links():
    threat = LinkThreat(np.array([[0, 1], [1, 2]]), np.array([[0, 3]]), 0.5)
    assert threat.pairs.tolist() == [[0, 1], [1, 2], [0, 3]]
    assert threat.truth.tolist() == [True, True, False]


def test_only_known_values_are_observed():
    attribute = NodeColumn("z", np.array([0, 1, 1, MISSING]), ("a", "b", "c"))
    known = np.array([True, False, True, False])
    threat = AttributeThreat(attribute, known, np.array([False, True, False, False]))
    assert threat.observed.tolist() == [0, MISSING, 1, MISSING]
    assert threat.num_classes == 3
    # (1 + 1, 1 + 1, 0 + 1) over 2 known nodes and 3 pseudo-counts
    assert threat.observed_shares.tolist() == pytest.approx([2 / 5, 2 / 5, 1 / 5])


def test_only_people_whom_finding_is_news_of_are_wanted():
    original = Graph.from_pairs(np.array([[0, 1], [1, 2]]), 4)
    # known nodes 0…4: the original's 0, nobody, the isolated 3, 1, and 2 as a seed
    people = np.array([0, -1, 3, 1, 2])
    ring = Graph.from_pairs([[0, 1], [1, 2], [2, 3], [3, 4]], 5)
    threat = IdentityThreat(original, ring, people, np.array([[4, 2]]))
    assert threat.wanted.tolist() == [True, False, False, True, False]
    assert people.tolist() == [0, -1, 3, 1, 2]


def test_people_without_links_in_the_second_graph_are_not_wanted():
    """Whom the attacker knows no link of, it cannot find by links: 60 of 1,000 are at stake."""
    original = Graph.from_pairs(np.stack([np.arange(1000), np.roll(np.arange(1000), 1)], 1), 1000)
    few = Graph.from_pairs(np.stack([np.arange(60), np.roll(np.arange(60), 1)], 1), 1000)
    threat = IdentityThreat(original, few, np.arange(1000), np.empty((0, 2), np.int64))
    assert np.flatnonzero(threat.wanted).tolist() == list(range(60))
