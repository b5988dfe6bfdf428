"""People behind pseudonyms that nobody can resolve, scored by their links alone."""

from __future__ import annotations

import numpy as np
import pytest

from core.attacks.identity.structural_alignment import StructuralAlignment
from core.attacks.identity.supervised_matcher import SupervisedMatcher
from core.attacks.network_alignment import align_networks, assign_people
from core.context import Context
from core.data.synthetic import generate_social
from core.errors import InputError
from core.graph import Graph
from core.results import Matches
from core.seeding import Seed
from tests.oracles.graphs import two_communities

QUICK = (StructuralAlignment(), SupervisedMatcher(rounds=3, trees=5))


@pytest.fixture(scope="module")
def original() -> Graph:
    return generate_social(200, seed=1)


def test_shuffled_people_are_found_and_their_links_say_so(original):
    order = np.random.default_rng(0).permutation(original.num_nodes)
    release = original.with_edges(original.edges[20:]).subgraph(order)
    best, other = align_networks(original, release, Context(Seed(0)), QUICK)
    assert best.correct >= other.correct
    assert sorted(best.nodes) == list(range(original.num_nodes))
    agree = original.contains_pairs(best.nodes[release.edges]).mean()
    assert best.correct == agree
    assert best.low < best.correct < best.high or best.correct == 1
    assert best.correct > 0.9 > 3 * best.baseline
    assert "random:" not in best.describe()
    assert (best.nodes == order).mean() > 0.8


def test_links_that_are_nobodys_agree_no_more_than_random_ones(original):
    rng = np.random.default_rng(3)
    i, j = np.triu_indices(original.num_nodes, 1)
    drawn = rng.choice(len(i), original.num_edges, replace=False)
    release = original.with_edges(np.stack([i[drawn], j[drawn]], axis=1))
    for alignment in align_networks(original, release, Context(Seed(1)), QUICK):
        assert alignment.correct == pytest.approx(alignment.baseline, abs=0.04)
        is_told = "no better than random" in alignment.describe()
        assert is_told == (alignment.low <= alignment.baseline)
    assert is_told


def test_each_person_is_given_once_the_surest_claim_first():
    original, release = two_communities(6), two_communities(4)
    candidates = np.array([[2], [2], [-1], [0], [0], [-1]])
    confidence = np.array([0.4, 0.9, 0.0, 0.7, 0.7, 0.0])
    nodes = assign_people(Matches(candidates, confidence), original, release)
    assert nodes[2] == 1
    assert nodes[0] == 3
    assert len(set(nodes.tolist())) == 4
    left = [0, 2, 4, 5]
    expected = sorted(left, key=lambda node: -original.degrees[node])[:2]
    assert set(nodes[[1, 3]].tolist()) == set(expected)


def test_what_cannot_be_found_is_one_line(original):
    with pytest.raises(InputError, match="at most as many nodes as the original"):
        align_networks(two_communities(20), original, Context(Seed(0)))
