"""Value join where everybody has the same values, and only who has them with whom differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.attacks.identity import value_evidence, value_join
from core.attacks.identity.value_join import ValueJoin
from core.context import Context
from core.data.second_graph import draw_identity_threat
from core.graph import Graph
from core.link_table import LinkColumn, LinkTable
from core.release import Release
from core.seeding import Seed

DAY, HOUR = 1_700_006_400, 3600


def play_round_robin(values, seed=0):
    """(n, n) values in which each of `values` (n − 1,) is once in every row: each day everybody
    meets one other, and the day has one value."""
    n = len(values) + 1
    found = np.full((n, n), -1)
    for day, value in enumerate(np.random.default_rng(seed).permutation(values).tolist()):
        pairs = [
            (n - 1, day),
            *(((day + k) % (n - 1), (day - k) % (n - 1)) for k in range(1, n // 2)),
        ]
        for i, j in pairs:
            found[i, j] = found[j, i] = value
    return found


def play_tournament(n, seed=0):
    """(n, n) who beats whom, everybody as often: cycles of three are turned at random."""
    rng, wins = np.random.default_rng(seed), np.zeros((n, n), np.int64)
    for k in range(1, n // 2 + 1):
        wins[np.arange(n), (np.arange(n) + k) % n] = 1
    for i, j, k in rng.integers(n, size=(20 * n * n, 3)):
        if wins[i, j] and wins[j, k] and wins[k, i]:
            wins[i, j] = wins[j, k] = wins[k, i] = 0
            wins[j, i] = wins[k, j] = wins[i, k] = 1
    return wins


def make_complete(kind):
    """A complete graph of 51 or 52 people whose bags of values are equal, and the values (n, n) as
    the person of the row sees them."""
    half = np.arange(51) % 2
    values = {
        "direction": lambda: play_tournament(51),
        "category": lambda: play_round_robin(half),
        "sign": lambda: 2 * play_round_robin(half) - 1,
        "rating": lambda: play_round_robin(np.arange(51) % 5 + 1),
        "weight": lambda: play_round_robin(np.arange(51) % 17 + 1),
        "time": lambda: DAY + HOUR * play_round_robin(np.arange(51) % 24),
    }[kind]()
    n = len(values)
    graph = Graph.from_pairs(np.argwhere(np.triu(np.ones((n, n)), 1)), n)
    cells = values[tuple(graph.edges.T)]
    if kind == "weight":
        return replace(graph, weights=cells.astype(float)), values
    column = {
        "direction": lambda: LinkColumn("direction", 1 - cells),
        "category": lambda: LinkColumn.of_texts(np.array(["ally", "rival"])[cells]),
        "time": lambda: LinkColumn("time", cells, unit="unix s"),
    }.get(kind, lambda: LinkColumn("number", cells))()
    return replace(graph, link_table=LinkTable(np.arange(graph.num_edges), {"c": column})), values


def find(graph, threat, seed=0):
    return ValueJoin().find(Release(graph), threat, Context(Seed(seed)))


def count_right(graph, threat):
    found = find(graph, threat).candidates[:, 0] == threat.people
    return int(found[threat.wanted].sum())


def compare_with_seeds(values, threat):
    """People found by the number of seeds with whom a node has the same value, by a loop; the
    attacker knows the links of its own graph only."""
    known, right = threat.known, 0
    links = {tuple(ends) for ends in known.edges.tolist()}
    links |= {ends[::-1] for ends in links}
    taken = set(threat.seeds[:, 1].tolist())
    for u in np.flatnonzero(threat.wanted).tolist():
        agreed = np.full(len(values), -1)
        for i in {*range(len(values))} - taken:
            agreed[i] = sum(
                values[threat.people[u], image] == values[i, image]
                for s, image in threat.seeds.tolist()
                if (u, s) in links
            )
        right += int(agreed.argmax()) == threat.people[u]
    return right


@pytest.mark.parametrize("kind", ["direction", "category", "sign", "rating", "weight", "time"])
def test_equal_bags_are_told_apart_by_who_has_each_value(kind):
    graph, values = make_complete(kind)
    bags = np.sort(np.where(np.eye(len(values)), values.min() - 1, values), axis=1)
    assert (bags == bags[0]).all()
    for seed in range(3):
        threat = draw_identity_threat(graph, Seed(seed), num_seeds=20)
        plain = compare_with_seeds(values, threat)
        assert plain > 0.6 * threat.wanted.sum()
        assert count_right(graph, threat) >= max(plain, 0.95 * threat.wanted.sum())
    alone = draw_identity_threat(graph, Seed(0), num_seeds=0)
    assert count_right(graph, alone) < 6


def test_values_drawn_without_the_data_stay_at_chance():
    graph, _ = make_complete("category")
    other, values = graph, play_round_robin(np.arange(51) % 2, seed=9)
    kinds = np.array(["ally", "rival"])[values[tuple(graph.edges.T)]]
    table = LinkTable(graph.link_table.links, {"c": LinkColumn.of_texts(kinds)})
    other = replace(graph, link_table=table)
    threats = [draw_identity_threat(graph, Seed(seed), num_seeds=20) for seed in range(5)]
    assert np.mean([count_right(other, threat) for threat in threats]) < 4


def test_whoever_is_found_helps_to_find_others(monkeypatch):
    graph, _ = make_complete("rating")
    threat = draw_identity_threat(graph, Seed(1), num_seeds=4)
    whole = count_right(graph, threat)
    monkeypatch.setattr(value_join, "MAX_ROUNDS", 1)
    once = find(graph, threat)
    right = once.candidates[:, 0] == threat.people
    assert 0 < right[threat.wanted].sum() < 0.9 * whole
    monkeypatch.setattr(value_join, "MAX_ROUNDS", 2)
    twice = find(graph, threat)
    sure = np.flatnonzero(once.confidence > value_join.CONFIDENT)
    helped = replace(threat, seeds=np.column_stack([sure, once.candidates[sure, 0]]))
    monkeypatch.setattr(value_join, "MAX_ROUNDS", 1)
    told = find(graph, helped)
    others = np.setdiff1d(np.arange(len(right)), sure)
    open_ = others[told.confidence[others] > 0.99]
    assert len(open_)
    assert (twice.candidates[open_, 0] == told.candidates[open_, 0]).all()


def test_the_same_seed_finds_the_same():
    graph, _ = make_complete("direction")
    threat = draw_identity_threat(graph, Seed(1), num_seeds=5)
    first, second = find(graph, threat), find(graph, threat)
    assert (first.candidates == second.candidates).all()
    assert (first.confidence == second.confidence).all()


def test_of_two_people_with_one_first_candidate_the_likelier_counts_as_found():
    candidates = np.array([[3], [3], [4], [4], [5], [-1], [0]])
    found = value_join.Matches(candidates, np.array([0.9, 0.8, 0.9, 0.9, 0.5, 0.0, 0.6]))
    strength = np.array([5.0, 4.0, 2.0, 2.0, 9.0, -np.inf, 1.0])
    assert value_join._accept(found, strength).tolist() == [3, -1, -1, -1, -1, -1, 0]
    found = value_join.Matches(candidates, np.array([0.4, 0.8, 0.9, 0.9, 0.5, 0.0, 0.6]))
    assert value_join._accept(found, strength).tolist() == [-1, -1, -1, -1, -1, -1, 0]


def test_equal_lists_of_common_values_are_ordered_by_who_has_them(monkeypatch):
    """All know all, and every plain value is left out."""
    graph, _ = make_complete("category")
    threat = draw_identity_threat(graph, Seed(2), num_seeds=20, known=graph)
    whole = value_evidence._list_telling

    def leave_out(bags):
        return whole(bags) if (bags.ours.sum(axis=0) < 50).all() else np.zeros(0, np.int64)

    monkeypatch.setattr(value_evidence, "_list_telling", leave_out)
    assert count_right(graph, threat) == threat.wanted.sum()
