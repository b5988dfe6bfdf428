"""The table behind the map: who is where, what changed, and whether the exposed sit together."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from core.audit.results.node_risks import NODE_COLUMNS
from core.findings.people import Secret
from core.findings.people_map import (
    NodeFilter,
    compute_communities,
    compute_people,
    compute_places,
    compute_tail,
    find_changes,
    find_gathering,
    join_communities,
    label_communities,
    list_colors,
    list_degrees,
    list_people,
    match_people,
    number_gathering,
    summarize_map,
)
from core.graph import Graph
from tests.figures.conftest import make_view
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks

SIZE = 40


def make_nodes(exposed: np.ndarray) -> pd.DataFrame:
    """One link attack that gains 0.4 on some and nothing on the others."""
    risk = np.where(exposed, 0.9, 0.5)
    return pd.DataFrame(
        {
            "node": [str(i) for i in range(len(exposed))],
            "release": "original",
            "attack": "common_neighbors",
            "risk": risk,
            "advantage": risk - 0.5,
            "low": risk,
            "high": risk,
            "seeds": 3,
        }
    )[list(NODE_COLUMNS)]


def make_people(exposed: np.ndarray, communities: np.ndarray) -> pd.DataFrame:
    graph = Graph.from_pairs(np.array([[0, 1]]), len(exposed))
    return compute_people(graph, communities, build_risks(make_nodes(exposed)))


def test_a_row_a_person_in_the_graphs_order():
    graph = two_communities()
    side = graph.column("private")
    view = make_view(graph)
    table = compute_people(graph, side.codes, view.nodes, side)
    assert list(table.node) == list(graph.node_ids)
    assert np.array_equal(table.links, graph.degrees)
    assert list(table["class"]) == [side.classes[c] for c in side.codes]
    for row in table.itertuples():
        assert row.advantage == pytest.approx(row.risk - 0.5, nan_ok=True)
        assert (row.attack is not None) == (row.risk == row.risk)
        assert row.attack is None or row.attack.id in {"common_neighbors", "degree_product"}
    written = pd.read_csv(StringIO(table.to_csv(index=False)))
    assert set(written.attack.dropna()) <= {"common_neighbors", "degree_product"}
    assert written.attack.notna().any()
    assert table.change.sum() == 0
    assert list_colors(table) == ["advantage", "risk", "class", "community", "links"]


def test_without_an_audit_only_the_graph_is_told():
    graph = two_communities()
    table = compute_people(graph, np.arange(SIZE) % 3)
    assert table.advantage.isna().all()
    assert list_colors(table) == ["community", "links"]
    assert summarize_map(table).sentence == "The graph falls into 3 communities."
    assert list(list_people(table, "advantage").links) == sorted(graph.degrees, reverse=True)


def test_changes_are_counted_at_both_ends():
    graph = Graph.from_pairs(np.array([[0, 1], [0, 2], [1, 2]]), 4)
    released = graph.with_edges(np.array([[0, 1], [2, 3]]))
    lost, gained = find_changes(graph, released)
    assert lost.tolist() == [[0, 2], [1, 2]]
    assert gained.tolist() == [[2, 3]]
    table = compute_people(graph, np.zeros(4, int), released=released)
    assert table.lost.tolist() == [1, 1, 2, 0]
    assert table.gained.tolist() == [0, 0, 1, 1]
    assert table.links.tolist() == [1, 1, 1, 1]
    assert table.change.tolist()[:3] == [0.5, 0.5, 1.5]
    assert np.isnan(table.change.iloc[3])  # nothing to hold the change against


def test_people_who_were_left_out_keep_their_place():
    graph = Graph.from_pairs(np.array([[0, 1], [1, 2]]), node_ids=("a", "b", "c"))
    fewer = Graph.from_pairs(np.array([[0, 1]]), node_ids=("c", "b"))
    matched = match_people(graph, fewer)
    assert matched.node_ids == graph.node_ids
    assert matched.edges.tolist() == [[1, 2]]


def test_communities_are_counted():
    exposed = np.array([True, True, False, False, False])
    table = compute_communities(make_people(exposed, np.array([0, 0, 0, 1, 1])))
    assert table.community.tolist() == [1, 2]
    assert table.people.tolist() == [3, 2]
    assert table.exposed.tolist() == [2, 0]
    assert table["mean"].tolist() == pytest.approx([0.8 / 3, 0])


def test_a_gathering_is_named_only_beyond_chance():
    communities = np.repeat(np.arange(4), 50)
    together = np.arange(200) < 30
    told = summarize_map(make_people(together, communities))
    assert told.sentence == (
        "Exposed people concentrate in community 1: 60 of 100, against 0 of 100 elsewhere."
    )
    assert told.exact[0].endswith("; 30 of them most on withheld links.")
    assert "30 of 50; elsewhere 0 of 150" in told.exact[1]
    scattered = summarize_map(make_people(np.arange(200) % 7 == 0, communities))
    assert scattered.sentence == (
        "29 of 200 people at stake are exposed, in no community more than by chance."
    )
    assert number_gathering(make_people(together, communities)) == 1
    assert number_gathering(make_people(np.arange(200) % 7 == 0, communities)) is None
    assert summarize_map(make_people(np.zeros(200, bool), communities)).sentence == (
        "No person is exposed to any attack."
    )


def test_the_gathering_is_a_hypergeometric_tail():
    rng = np.random.default_rng(0)
    false_alarms = 0
    communities = rng.integers(0, 10, 400)
    for _ in range(60):
        people = make_people(rng.random(400) < 0.1, communities)
        false_alarms += find_gathering(compute_communities(people)) is not None
    assert false_alarms <= 3  # at 1 % a time


def test_people_are_listed_by_what_is_shown():
    people = make_people(np.arange(6) >= 4, np.zeros(6, int))
    assert set(list_people(people, "advantage").node.head(2)) == {"4", "5"}
    assert set(list_people(people, "community").node.head(2)) == {"4", "5"}


def test_places_and_joins_of_communities():
    positions = np.array([[0, 0], [2, 0], [5, 5.0]])
    assert compute_places(positions, np.array([0, 0, 1])).tolist() == [[1, 0], [5, 5]]
    graph = Graph.from_pairs(np.array([[0, 1], [0, 2], [1, 2], [1, 3], [3, 4]]), 5)
    communities = np.array([0, 0, 1, 2, 3])
    assert join_communities(graph, communities, 3).tolist() == [[0, 1], [0, 2]]


def test_tail_is_hypergeometric():
    for total in (20, 50, 200, 1000):
        for exposed in range(1, total, max(total // 8, 3)):
            for size in range(1, total, max(total // 9, 4)):
                hits = np.arange(min(exposed, size) + 1)
                shown = compute_tail(hits, total, exposed, np.full(len(hits), size))
                exact = hypergeom.sf(hits - 1, total, exposed, size)
                np.testing.assert_allclose(shown, exact, rtol=1e-9, atol=1e-290)


def test_the_map_counts_of_those_at_stake_who_is_exposed_beyond_noise():
    """Its card counted of all nodes, the Risk page of those at stake."""
    people = make_people(np.arange(20) < 6, np.zeros(20, int))
    people.loc[:1, "sure"] = 0.1, np.nan
    people.loc[10:, ["advantage", "sure", "risk"]] = np.nan
    summary = summarize_map(people)
    assert summary.sentence == (
        "At least 4 of 10 people at stake are exposed, likely 6, in no community more than by "
        "chance."
    )
    card = summary.cards[0]
    assert (card.value, card.compared_with) == ("at least 4 of 10", "likely 6, of those at stake")
    assert "at least 4, likely 6 of 10 at stake" in summary.exact[0]
    assert list_people(people, "advantage").node.tolist()[:6] == ["2", "3", "4", "5", "0", "6"]
    ranked = list_people(people, "risk").node.tolist()
    assert ranked[:5] == ["2", "3", "4", "5", "0"]
    assert ranked[9] == "1"
    people["sure"] = np.nan
    assert summarize_map(people).sentence.startswith(
        "No person is surely exposed, but 6 of 10 at stake likely are, in"
    )
    assert list_people(people, "advantage").node.tolist()[:2] == ["0", "1"]


def test_likely_exposed_people_are_called_so_where_they_gather():
    people = make_people(np.arange(200) < 30, np.repeat(np.arange(4), 50))
    people.loc[:3, "sure"] = 0.1
    summary = summarize_map(people)
    assert summary.sentence.startswith("Likely exposed people concentrate in community 1: 60 of")
    assert summary.cards[-1].title == "Likely exposed in community 1"


def test_a_community_is_labelled_by_who_is_exposed_beyond_noise():
    """The share stood nowhere on the picture."""
    people = make_people(np.arange(100) % 5 == 0, np.repeat([0, 1, 2], [60, 39, 1]))
    table = compute_communities(people)
    assert table.surely.tolist() == table.exposed.tolist() == [12, 8, 0]
    assert label_communities(table) == [
        (1, "community 1", "20 % exposed"),
        (2, "community 2", "21 % exposed"),
    ]
    assert [label[0] for label in label_communities(table, also=3)] == [1, 2, 3]
    people.loc[0, "sure"] = 0.1
    people.loc[60:, "sure"] = np.nan
    texts = [text for *_, text in label_communities(compute_communities(people))]
    assert texts == ["at least 18 % exposed", "21 % likely exposed"]
    people[["advantage", "sure"]] = np.nan
    assert {text for *_, text in label_communities(compute_communities(people))} == {""}


def test_each_filter_lets_pass_what_it_says():
    people = make_people(np.arange(6) >= 4, np.array([0, 0, 1, 1, 2, 2]))
    people["class"], people["links"] = list("aabbab"), [1, 2, 3, 4, 5, 6]

    def pass_(**fields) -> list[str]:
        return people.node[NodeFilter(**fields).find(people)].tolist()

    assert pass_() == list("012345")
    assert pass_(classes=("a",)) == list("014")
    assert pass_(communities=(1, 3)) == list("0145")
    assert pass_(links=(2, 5)) == list("1234")
    assert pass_(is_exposed=True) == list("45")
    assert pass_(is_exposed=True, classes=("b",), communities=(3,), links=(6, 6)) == ["5"]
    people.loc[4, "sure"] = 0.1
    assert pass_(is_exposed=True) == ["5"]
    people["sure"] = np.nan
    assert pass_(is_exposed=True) == list("45")
    people["advantage"] = np.nan
    assert pass_(is_exposed=True) == []


def test_degrees_to_choose_between_are_few_and_cover_all():
    people = make_people(np.zeros(6, bool), np.zeros(6, int))
    assert list_degrees(people.assign(links=[0, 3, 4, 216, 7, 1])) == [
        *(0, 1, 2, 5, 10, 20, 50, 100, 200, 216)
    ]
    assert list_degrees(people.assign(links=[5, 5, 7, 8, 5, 50])) == [5, 10, 20, 50]
    assert list_degrees(people.assign(links=4)) == [4]


def test_the_map_of_one_secret_shows_its_attacker_alone():
    """Where re-identification finds everybody, all others were hidden behind it."""
    links = make_nodes(np.arange(8) < 3)
    values = make_nodes(np.arange(8) >= 2).assign(attack="gcn")
    nodes, secret = build_risks(pd.concat([links, values])), Secret("link")
    graph, one = Graph.from_pairs(np.array([[0, 1]]), 8), np.zeros(8, int)
    assert (compute_people(graph, one, nodes).advantage > 0.2).all()
    table = compute_people(graph, one, nodes, secret=secret)
    assert table.node[table.advantage > 0.2].tolist() == ["0", "1", "2"]
    assert {attack.threat for attack in table.attack} == {"link"}
    first = summarize_map(table, secret=secret).cards[0]
    assert first.title == "People exposed to link inference"
    assert first.detail.startswith("advantage above 0.2 under link inference")
    table.loc[:, ["advantage", "sure"]] = 0.0
    assert summarize_map(table, secret=secret).sentence == (
        "No person is exposed to link inference."
    )
