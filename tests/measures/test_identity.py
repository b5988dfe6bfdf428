"""What is found is counted as a guess within the set would find it, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.data.second_graph import draw_identity_threat
from core.graph import Graph
from core.measures.identity import (
    compute_anonymity_risk,
    compute_match_risk,
    measure_anonymity,
    measure_matches,
)
from core.measures.intervals import combine_measurements
from core.results import AnonymitySets, Matches
from core.seeding import Seed
from tests.oracles.graphs import isolated_node, two_communities


def by_name(measurements):
    return {item.metric: item for item in measurements}


def test_sets_by_hand():
    """Ring of 15 and one without links, who does not count."""
    threat = draw_identity_threat(isolated_node(), Seed(0), num_seeds=0)
    sizes = np.array([1] * 3 + [1] * 2 + [4] * 4 + [10] * 6 + [1])
    contains = np.array([True] * 3 + [False] * 2 + [True] * 10 + [True])
    found = by_name(measure_anonymity(AnonymitySets(sizes, contains), threat))
    assert found["share_unique"].value == pytest.approx(3 / 15)
    assert found["share_below_5"].value == pytest.approx(7 / 15)
    assert found["expected_found"].value == pytest.approx((3 + 4 / 4 + 6 / 10) / 15)
    risk = compute_anonymity_risk(AnonymitySets(sizes, contains), threat)
    assert risk.nodes.tolist() == list(range(15))
    assert risk.risk.mean() == pytest.approx(found["expected_found"].value)
    assert risk.base == pytest.approx(1 / 16)


def test_columns_find_people_without_links():
    """The same, by columns: the sixteenth, alone with its values, counts as well."""
    threat = draw_identity_threat(isolated_node(), Seed(0), num_seeds=0)
    sizes = np.array([15] * 15 + [1])
    sets = AnonymitySets(sizes, np.ones(16, bool))
    found = by_name(measure_anonymity(sets, threat, by_links=False))
    assert found["share_unique"].value == pytest.approx(1 / 16)
    assert found["expected_found"].value == pytest.approx(2 / 16)  # one in each set
    assert (found["k_anonymity"].value, found["k_anonymity"].n) == (1, 16)
    risk = compute_anonymity_risk(sets, threat, by_links=False)
    assert risk.nodes.tolist() == list(range(16))
    assert risk.risk[15] == 1
    assert by_name(measure_anonymity(sets, threat))["k_anonymity"].value == 15


def test_sets_that_lack_their_node_do_not_count_for_k():
    threat = draw_identity_threat(isolated_node(), Seed(0), num_seeds=0)
    sizes, contains = np.full(16, 7), np.ones(16, bool)
    sizes[0], contains[0] = 2, False
    found = by_name(measure_anonymity(AnonymitySets(sizes, contains), threat))
    assert found["k_anonymity"].value == 7


@given(data=st.data())
@settings(max_examples=20)
def test_expected_found_is_what_guessing_finds(data):
    """Classes of equal people: a guess in one's own class is right once in its size."""
    classes = np.array(data.draw(st.lists(st.integers(0, 5), min_size=20, max_size=20)))
    ring = Graph.from_pairs(np.stack([np.arange(20), np.roll(np.arange(20), 1)], 1), 20)
    threat = draw_identity_threat(ring, Seed(0), num_seeds=0)
    sizes = np.bincount(classes)[classes]
    found = by_name(measure_anonymity(AnonymitySets(sizes, np.ones(20, bool)), threat))
    assert found["expected_found"].value == pytest.approx(len(set(classes.tolist())) / 20)


def test_matches_by_hand():
    graph = two_communities(40)
    threat = draw_identity_threat(graph, Seed(5), 1.0, 0.0, 4)
    people = threat.people
    wrong = (people + 1) % 40
    candidates = np.stack([wrong, (people + 2) % 40, (people + 3) % 40], 1)
    wanted = np.flatnonzero(threat.wanted)
    first, second = wanted[:9], wanted[9:27]
    candidates[first, 0], candidates[second, 1] = people[first], people[second]
    confidence = np.full(40, 0.2)
    confidence[wanted[6:12]] = 0.95  # three right, three wrong
    confidence[wanted[6]] = 0.9  # one of them at the limit
    found = by_name(measure_matches(Matches(candidates, confidence), threat))
    assert found["hits_at_1"].value == pytest.approx(9 / 36)
    assert found["hits_at_10"].value == pytest.approx(27 / 36)
    assert found["mrr"].value == pytest.approx((9 + 18 / 2) / 36)
    assert found["precision_at_0.9_confidence"].value == pytest.approx(0.5)
    assert found["precision_at_0.9_confidence"].n == 6
    assert found["named_at_0.9_confidence"].value == pytest.approx(6 / 36)
    risk = compute_match_risk(Matches(candidates, confidence), threat, 40)
    assert sorted(risk.nodes[risk.risk > 0]) == sorted(people[first])


def test_nobody_found_among_three_may_still_be_chance():
    ring = Graph.from_pairs(np.stack([np.arange(3), np.roll(np.arange(3), 1)], 1), 3)
    threat = draw_identity_threat(ring, Seed(0), num_seeds=0, known=ring)
    wrong = Matches(np.full((3, 1), -1), np.full(3, 0.95))
    found = by_name(measure_matches(wrong, threat))
    names = ["expected_found", "hits_at_1", "hits_at_10", "mrr", "precision_at_0.9_confidence"]
    for name in names:
        interval = combine_measurements([found[name]] * 3)
        assert (interval.value, interval.n) == (0, 3)
        assert interval.high == pytest.approx(1 - 0.025 ** (1 / 3))


def test_seeds_do_not_count():
    graph = two_communities(40)
    threat = draw_identity_threat(graph, Seed(5), 1.0, 0.0, 4)
    candidates = np.full((40, 1), -1)
    candidates[threat.seeds[:, 0], 0] = threat.seeds[:, 1]
    found = by_name(measure_matches(Matches(candidates, np.ones(40)), threat))
    assert found["hits_at_1"].value == 0


def test_nobody_sure_is_said_not_counted_as_right():
    threat = draw_identity_threat(two_communities(40), Seed(5), 1.0, 0.0, 4)
    matches = Matches(threat.people[:, None], np.full(40, 0.5))
    found = by_name(measure_matches(matches, threat))["precision_at_0.9_confidence"]
    assert found.value is None
    assert "0.9" in found.reason


def test_sets_of_five_are_not_below_five():
    threat = draw_identity_threat(isolated_node(), Seed(0), num_seeds=0)
    sizes = np.array([4] * 4 + [5] * 5 + [6] * 6 + [1])
    found = by_name(measure_anonymity(AnonymitySets(sizes, np.ones(16, bool)), threat))
    assert found["share_below_5"].value == pytest.approx(4 / 15)
