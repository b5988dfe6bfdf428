"""Value join against a naive loop, at chance where values tell nothing, and on whole graphs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core.algorithms.matching import NO_MATCH
from core.attacks.identity import value_evidence, value_join
from core.attacks.identity.value_alignment import align_values
from core.attacks.identity.value_evidence import MAX_FOUND
from core.attacks.identity.value_join import ValueJoin
from core.audit.asked.spec_parts import DisclosureSpec
from core.audit.computing.threat_sampling import know_coarser
from core.context import Context
from core.data.link_release import choose_link_columns, shift_link_times
from core.data.second_graph import draw_identity_threat
from core.graph import Graph
from core.link_table import NO_TIME, LinkColumn, LinkTable
from core.measures.identity import measure_matches
from core.release import Release
from core.seeding import Seed
from tests.oracles.events import make_events
from tests.oracles.graphs import two_communities

NUMBERS = ("bin=50", "round=1", "round=0", "digits=2", "cap=5000")


def make_graph(values, n=40, seed=0):
    """A random graph whose links have values from `values`."""
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(rng.integers(0, n, (4 * n, 2)), n)
    return replace(graph, weights=rng.choice(values, graph.num_edges).astype(float))


def draw_threat(graph, seed=0, num_seeds=0, **knowledge):
    return draw_identity_threat(graph, Seed(seed), num_seeds=num_seeds, **knowledge)


def find(graph, threat, seed=0):
    return ValueJoin().find(Release(graph), threat, Context(Seed(seed)))


def count_right(graph, threat, seed=0):
    return int((find(graph, threat, seed).candidates[:, 0] == threat.people)[threat.wanted].sum())


def list_values(graph):
    found = [Counter() for _ in range(graph.num_nodes)]
    for (i, j), value in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True):
        found[i][value] += 1
        found[j][value] += 1
    return [{(v, k) for v, times in own.items() for k in range(times)} for own in found]


def compute_naive(known, published):
    """Log of the likelihood ratio (k, n) of each node's values, and the posterior."""
    ours, theirs = list_values(known), list_values(published)
    everything = set().union(*ours)
    flat = [value for own in theirs for value in own]
    share = min(np.mean([value in everything for value in flat]), MAX_FOUND)
    evidence = np.zeros((len(ours), len(theirs)))
    for u, i in np.ndindex(*evidence.shape):
        for value in theirs[i]:
            if value in ours[u]:
                holders = sum(value in own for own in ours)
                evidence[u, i] += np.log(share * len(ours) / holders)
            else:
                evidence[u, i] += np.log(1 - share)
    return evidence, normalize(evidence)


def normalize(evidence):
    odds = np.exp(evidence)
    return odds / odds.sum(axis=1, keepdims=True)


def list_met(graph, people):
    """As `list_values`, of values of links to `people`, each with its place there."""
    found = [Counter() for _ in range(graph.num_nodes)]
    marks = {node: place for place, node in enumerate(people.tolist())}
    for ends, value in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True):
        for node, other in (ends, ends[::-1]):
            if other in marks:
                found[node][value, marks[other]] += 1
    return [{(v, s, k) for (v, s), times in own.items() for k in range(times)} for own in found]


def compute_naive_met(known, published, seeds, most):
    """As `compute_naive`, with what values of links to people found add, and without values that
    more than `most` pairs have: everybody is taken to have plain ones. Last, which have any in
    common (k, n)."""
    ours, theirs = list_values(known), list_values(published)
    mine, shown = (list_met(g, own) for g, own in zip((known, published), seeds.T, strict=True))
    everything = set().union(*ours)
    share = min(np.mean([value in everything for own in theirs for value in own]), MAX_FOUND)
    between = [(met, mine[s]) for s, image in seeds.tolist() for met in shown[image]]
    share_met = (sum(met in own for met, own in between) + share) / (len(between) + 1)
    share_met = min(share_met, MAX_FOUND)
    holders, other = (Counter(v for own in lists for v in own) for lists in (ours, theirs))
    holders_met, other_met = (Counter(v for own in lists for v in own) for lists in (mine, shown))
    cut = {v for v in other if holders[v] * other[v] > most}
    cut_met = {v for v in other_met if holders_met[v] * other_met[v] > most}
    here, there = list(zip(ours, mine, strict=True)), list(zip(theirs, shown, strict=True))
    evidence = np.zeros((len(ours), len(theirs)))
    for u, i in np.ndindex(*evidence.shape):
        for value in theirs[i] - cut:
            told = share * len(ours) / holders[value] if value in ours[u] else 1 - share
            evidence[u, i] += np.log(told)
        for v, s, k in shown[i] - cut_met:
            if (v, k) in cut or (v, k) in ours[u]:
                above = len(ours) if (v, k) in cut else holders[v, k]
                has = (v, s, k) in mine[u]
                told = share_met * above / holders_met[v, s, k] if has else 1 - share_met
                evidence[u, i] += np.log(told)
    evidence[:, seeds[:, 1]] = -np.inf  # nobody else's
    compared = [[bool((a & b) - cut or (c & d) - cut_met) for b, d in there] for a, c in here]
    return evidence, normalize(evidence), compared


@pytest.mark.parametrize("most", [10**9, 300])
@pytest.mark.parametrize("values", [2, 12, 1000])
def test_values_at_people_found_are_those_of_a_naive_loop(monkeypatch, values, most):
    def list_telling(bags):
        return np.flatnonzero(bags.ours.sum(axis=0) * bags.theirs.sum(axis=0) <= most)

    monkeypatch.setattr(value_join, "MAX_ROUNDS", 1)
    monkeypatch.setattr(value_join, "put_equal_first", lambda *found: found[:2])
    monkeypatch.setattr(value_evidence, "_list_telling", list_telling)
    graph = make_graph(np.arange(values))
    threat = draw_threat(graph, num_seeds=8, noise=0.2)
    found = find(graph, threat)
    evidence, posterior, compared = compute_naive_met(threat.known, graph, threat.seeds, most)
    others = np.setdiff1d(np.arange(40), threat.seeds[:, 0])
    named = found.candidates[others]
    assert (named[:, 0] != NO_MATCH).mean() > 0.9
    for u, own in zip(others, named, strict=True):
        own = own[own != NO_MATCH]
        assert not np.isin(own, threat.seeds[:, 1]).any()
        allowed = np.sort(evidence[u, compared[u]])[::-1]
        best = allowed[allowed > -np.inf][:10]
        assert evidence[u, own] == pytest.approx(best)
        if len(own):
            assert found.confidence[u] == pytest.approx(posterior[u, own[0]])


@pytest.mark.parametrize("values", [np.arange(12), np.arange(10**6)], ids=["common", "rare"])
@pytest.mark.parametrize("tile", [1, 10**6])
def test_candidates_and_confidence_are_those_of_a_naive_loop(monkeypatch, values, tile):
    monkeypatch.setattr(value_join, "_TILE", tile)
    monkeypatch.setattr(value_join, "MAX_ROUNDS", 1)
    graph = make_graph(values)
    published = graph.select_edges(np.random.default_rng(2).random(graph.num_edges) < 0.6)
    threat = draw_threat(graph, noise=0.2)
    found = find(published, threat)
    evidence, posterior = compute_naive(threat.known, published)
    shares = [[bool(a & b) for b in list_values(published)] for a in list_values(threat.known)]
    for u in range(graph.num_nodes):
        named = found.candidates[u][found.candidates[u] >= 0]
        allowed = np.flatnonzero(shares[u])
        assert len(named) == min(len(allowed), 10)
        best = np.sort(evidence[u, allowed])[::-1][: len(named)]
        assert evidence[u, named] == pytest.approx(best)
        if len(named):
            assert found.confidence[u] == pytest.approx(posterior[u, named[0]])


def test_one_known_value_each_finds_everybody_and_equal_values_nobody():
    graph = two_communities(60, seed=3)
    own = replace(graph, weights=1e9 + np.arange(graph.num_edges))
    assert count_right(own, draw_threat(own)) == (own.degrees > 0).sum()
    same = replace(graph, weights=np.ones(graph.num_edges))
    regular = Graph.from_pairs(np.stack([np.arange(60), (np.arange(60) + 1) % 60], 1), 60)
    same = replace(regular, weights=np.ones(60))
    assert np.mean([count_right(same, draw_threat(same), seed) for seed in range(20)]) < 3


def test_data_independent_values_give_chance():
    graph = make_graph(np.arange(10**6), n=100)
    rng = np.random.default_rng(5)
    threat = draw_threat(graph)
    drawn = replace(graph, weights=rng.integers(0, 10**6, graph.num_edges).astype(float))
    assert count_right(drawn, threat) <= 3
    shuffled = replace(graph, weights=rng.permutation(graph.weights))
    assert np.mean([count_right(shuffled, threat, seed) for seed in range(10)]) <= 4


def test_the_order_of_the_nodes_tells_nothing():
    graph = make_graph(np.arange(200))
    threat = draw_threat(graph)
    order = np.random.default_rng(1).permutation(graph.num_nodes)
    moved = graph.with_edges(order[graph.edges], graph.weights)
    reordered = replace(threat, people=order[threat.people], original=moved)
    before, after = find(graph, threat), find(moved, reordered)
    assert after.confidence == pytest.approx(before.confidence)


def test_seeds_are_certain_and_too_common_values_are_left_out(monkeypatch):
    graph = make_graph(np.arange(10**6))
    threat = draw_threat(graph, num_seeds=5)
    found = find(graph, threat)
    assert (found.candidates[threat.seeds[:, 0], 0] == threat.seeds[:, 1]).all()
    assert (found.confidence[threat.seeds[:, 0]] == 1).all()
    mixed = replace(graph, weights=np.where(np.arange(graph.num_edges) < 100, 7, graph.weights))
    threat = draw_threat(mixed)
    whole = count_right(mixed, threat)
    monkeypatch.setattr(value_evidence, "MAX_PAIRS", 4 * (graph.num_edges - 100))
    assert 0 < count_right(mixed, threat) <= whole + 1  # ties of equal lists fall anew


def test_it_declines_without_values_on_either_side():
    graph = make_graph(np.arange(9))
    bare = replace(graph, weights=None)
    threat = draw_threat(graph)
    assert ValueJoin().supports(Release(graph), threat) is None
    assert "no values" in ValueJoin().supports(Release(bare), threat)
    without = replace(threat, known=replace(threat.known, weights=None))
    assert "second graph" in ValueJoin().supports(Release(graph), without)


def test_a_simulated_second_graph_keeps_the_values_of_its_links():
    graph = make_graph(np.arange(10**6))
    threat = draw_threat(graph, noise=0.3)
    known, ids = threat.known, {node: i for i, node in enumerate(graph.node_ids)}
    value = {tuple(pair): w for pair, w in zip(graph.edges.tolist(), graph.weights, strict=True)}
    is_added = []
    for (i, j), w in zip(known.edges.tolist(), known.weights, strict=True):
        pair = tuple(sorted((ids[known.node_ids[i]], ids[known.node_ids[j]])))
        is_added.append(pair not in value)
        assert w == value.get(pair, w)
        assert w in graph.weights
    assert 0 < sum(is_added) < len(is_added)
    bare = replace(graph, weights=None)
    assert draw_threat(bare, noise=0.3).known.edges.tolist() == known.edges.tolist()


def test_measures_of_the_case_of_deleted_links():
    """A release of a fifth of the links with exact values: a plain join on shared values, ties at
    random, is the floor."""
    graph = make_graph(np.arange(10**6), n=120, seed=4)
    graph = graph.select_edges(np.random.default_rng(1).permutation(graph.num_edges) < 360)
    published = graph.select_edges(np.random.default_rng(0).permutation(360) < 72)
    threat = draw_threat(graph, known=graph)
    ours, theirs = list_values(threat.known), list_values(published)
    plain = 0.0
    for u in range(120):
        shared = np.array([len(ours[u] & own) for own in theirs])
        if shared.max():
            best = np.flatnonzero(shared == shared.max())
            plain += (threat.people[u] in best) / len(best)
    rows = {m.metric: m.value for m in measure_matches(find(published, threat), threat)}
    assert rows["expected_found"] * 120 >= plain > 50
    assert rows["precision_at_0.9_confidence"] >= 0.9


def list_event_values(graph, names):
    """As `list_values`, of columns of links: text of each event's value as its end sees it."""
    found = [Counter() for _ in range(graph.num_nodes)]
    table, opposite = graph.link_table, {"→": "←", "←": "→"}
    for name in names:
        cells = table.columns[name].format_values().tolist()
        for link, cell in zip(table.links.tolist(), cells, strict=True):
            if cell == cell and cell != "":
                i, j = graph.edges[link].tolist()
                found[i][name, cell] += 1
                found[j][name, opposite.get(cell, cell)] += 1
    if graph.weights is not None:
        for (i, j), weight in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True):
            found[i]["weight", weight] += 1
            found[j]["weight", weight] += 1
    return [{(v, k) for v, times in own.items() for k in range(times)} for own in found]


@pytest.mark.parametrize("has_weights", [False, True])
def test_all_columns_that_both_graphs_have_are_joined(monkeypatch, has_weights):
    monkeypatch.setattr(value_join, "MAX_ROUNDS", 1)
    graph = make_events(24)
    if has_weights:
        graph = replace(graph, weights=np.arange(graph.num_edges) % 7 + 1.0)
    threat = draw_threat(graph, noise=0.2)
    known = replace(threat.known, link_table=threat.known.link_table.with_columns(["at", "way"]))
    threat = replace(threat, known=known)
    published = graph.select_edges(np.random.default_rng(2).random(graph.num_edges) < 0.6)
    monkeypatch.setitem(globals(), "list_values", lambda g: list_event_values(g, ["at", "way"]))
    found = find(published, threat)
    evidence, posterior = compute_naive(threat.known, published)
    shares = [[bool(a & b) for b in list_values(published)] for a in list_values(threat.known)]
    for u in range(graph.num_nodes):
        named = found.candidates[u][found.candidates[u] >= 0]
        assert len(named)
        assert evidence[u, named[0]] == pytest.approx(evidence[u, shares[u]].max())
        assert found.confidence[u] == pytest.approx(posterior[u, named[0]])


def test_exact_times_find_people_and_other_columns_are_not_joined():
    graph = make_events(40)
    threat = draw_threat(graph)
    assert count_right(graph, threat) > 30
    other = replace(threat.known, link_table=threat.known.link_table.with_columns(["kind"]))
    bare = replace(graph, link_table=graph.link_table.with_columns(["at"]))
    reason = ValueJoin().supports(Release(bare), replace(threat, known=other))
    assert reason.startswith("no values of people's links are known")
    assert ValueJoin().supports(Release(bare), threat) is None
    gone = Release(replace(graph, link_table=None))
    assert ValueJoin().supports(gone, threat) == "the links of the release have no values"


def test_who_knows_exact_times_knows_their_days():
    graph = make_events(40)
    rules = {"publish_columns": ("link.at",), "generalize": ("link.at:day",)}
    second = know_coarser(graph, DisclosureSpec(**rules))
    assert second.link_table.columns["at"].unit == "D"
    published = choose_link_columns(graph, ("link.at",), ("link.at:day",))
    assert count_right(published, draw_threat(published, known=second)) > 10
    assert know_coarser(graph, DisclosureSpec()) is graph


@pytest.mark.parametrize("share", [1.0, 0.7])
def test_nodes_with_all_values_of_a_person_come_first_where_values_are_too_common(
    monkeypatch, share
):
    """Ten thousand people were found at 1 % by the days of their calls, since each day was common:
    the lists of days are unique."""
    rng = np.random.default_rng(0)
    graph = two_communities(80, seed=3)
    graph = replace(graph, weights=rng.integers(3, size=graph.num_edges).astype(float))
    kept = np.flatnonzero(rng.random(graph.num_edges) < share)
    published = graph.with_edges(graph.edges[kept], graph.weights[kept])
    threat = draw_identity_threat(graph, Seed(1), num_seeds=0, known=graph)
    monkeypatch.setattr(value_evidence, "MAX_PAIRS", 0)
    found = ValueJoin().find(Release(published), threat, Context(Seed(2)))
    lists = [
        [
            tuple(sorted(g.weights[(g.edges == node).any(axis=1)].tolist()))
            for node in range(g.num_nodes)
        ]
        for g in (threat.known, published)
    ]
    for person, own in enumerate(lists[0]):
        equal = {node for node, values in enumerate(lists[1]) if values == own and own}
        named = set(found.candidates[person].tolist()) - {NO_MATCH}
        assert named <= equal
        assert len(named) == min(len(equal), found.candidates.shape[1])
        assert found.confidence[person] == (1 / len(equal) if equal else 0)
    unique = sum(Counter(lists[1])[own] == 1 for own in lists[0])
    right = (found.candidates[:, 0] == threat.people).sum()
    assert right >= unique if share == 1 else right > 0


@pytest.mark.parametrize(
    "rule", ["at:day", "at:year", "at:shift", *map("amount:{}".format, NUMBERS)]
)
def test_known_values_are_brought_to_the_form_of_the_published_ones(rule):
    graph, name = make_events(60), rule.partition(":")[0]
    names, rules = (f"link.{name}",), (f"link.{rule}",)
    exact = choose_link_columns(graph, names, ())
    published = choose_link_columns(graph, names, rules)
    published = shift_link_times(published, rules, np.random.default_rng(4))
    aligned = align_values(exact, published).link_table.columns[name]
    assert aligned.values.tolist() == published.link_table.columns[name].values.tolist()
    assert aligned.unit == published.link_table.columns[name].unit
    threat = draw_threat(published, known=exact)
    told = draw_threat(published, known=published)
    assert count_right(published, threat) == count_right(published, told)


@pytest.mark.parametrize("width", [10, 1, 0.25])
def test_weights_cut_to_multiples_are_joined(width):
    graph = make_graph(np.arange(80) * 0.37)
    published = replace(graph, weights=np.floor(graph.weights / width) * width)
    assert (align_values(graph, published).weights == published.weights).all()
    assert (align_values(graph, graph).weights == graph.weights).all()


def test_unknown_values_stay_unknown():
    graph = make_events(30)
    table = graph.link_table
    times = np.where(np.arange(len(table.links)) % 2, table.columns["at"].values, NO_TIME)
    amounts = np.where(np.arange(len(table.links)) % 3, table.columns["amount"].values, np.nan)
    columns = {
        "at": LinkColumn("time", times, unit="unix s"),
        "amount": LinkColumn("number", amounts),
    }
    known = replace(graph, link_table=LinkTable(table.links, columns))
    published = shift_link_times(known, ("link.at:shift",), np.random.default_rng(0))
    published = choose_link_columns(published, ("link.at", "link.amount"), ("link.amount:bin=50",))
    moved = align_values(known, published).link_table
    for name in columns:
        assert moved.columns[name].known.sum() == known.link_table.columns[name].known.sum()
        shown = published.link_table.columns[name]
        values = moved.columns[name].take(moved.columns[name].known).values
        assert np.isin(values, shown.take(shown.known).values).all()
