"""Splits: what is hidden is withheld, what is held back is shown to nobody, nothing overlaps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.arrays import pair_codes
from core.data.splits import draw_attribute_threat, draw_threats
from core.errors import InputError
from core.graph import Graph
from core.node_column import MISSING, NodeColumn
from core.seeding import Seed
from tests.oracles.graphs import clique, two_communities


def codes(pairs, graph):
    return set(pair_codes(pairs, graph.num_nodes).tolist())


@settings(max_examples=30)
@given(st.integers(0, 1000), st.floats(0.05, 0.6), st.floats(0, 0.4))
def test_hidden_test_and_visible_links_share_nothing_and_are_all(number, share, test_share):
    graph = two_communities()
    threats = draw_threats(graph, Seed(number), hide_links=share, test_links=test_share)
    hidden, test = codes(threats.link.hidden, graph), codes(threats.test_links, graph)
    visible = set(threats.visible.edge_codes.tolist())
    assert len(hidden) == len(threats.link.hidden) == round(share * graph.num_edges)
    rest = graph.num_edges - len(hidden)
    assert len(test) == min(round(test_share * graph.num_edges), rest)
    assert not hidden & test
    assert not visible & (hidden | test)
    assert visible | hidden | test == set(graph.edge_codes.tolist())


@settings(max_examples=30)
@given(st.integers(0, 1000))
def test_non_links_are_distinct_pairs_that_the_original_does_not_link(number):
    graph = clique()
    threats = draw_threats(graph, Seed(number), hide_links=0.3, test_links=0.2)
    absent, test = codes(threats.link.absent, graph), codes(threats.test_non_links, graph)
    assert len(absent) == len(threats.link.hidden)
    assert len(test) == len(threats.test_links)
    assert not absent & test
    assert not (absent | test) & set(graph.edge_codes.tolist())
    for pairs in (threats.link.absent, threats.test_non_links):
        assert (pairs[:, 0] != pairs[:, 1]).all()


def test_the_prior_is_the_share_of_links_among_pairs_that_could_be_named():
    graph = two_communities()
    threats = draw_threats(graph, Seed(0), hide_links=0.2, test_links=0.1)
    nameable = 40 * 39 // 2 - threats.visible.num_edges
    assert threats.link.prior == pytest.approx(len(threats.link.hidden) / nameable)


def test_chosen_links_are_hidden_whatever_their_direction_and_others_ignored():
    graph = two_communities()
    chosen = np.concatenate([graph.edges[3:6, ::-1], graph.edges[4:5], [[0, 0]]])
    threats = draw_threats(graph, Seed(0), sensitive_links=chosen, test_links=0.5)
    assert threats.link.hidden.tolist() == graph.edges[3:6].tolist()
    assert not codes(threats.test_links, graph) & codes(graph.edges[3:6], graph)


def test_without_a_link_threat_the_whole_graph_is_visible():
    graph = two_communities()
    threats = draw_threats(graph, Seed(0), private="private")
    assert threats.link is threats.test_links is threats.test_non_links is None
    assert threats.visible.content_hash == graph.content_hash


@settings(max_examples=30)
@given(st.integers(0, 1000), st.floats(0.01, 0.99))
def test_each_class_is_known_and_hidden_in_its_share(number, share):
    sizes = (17, 6, 2, 1)
    values = np.concatenate([np.full(size, code) for code, size in enumerate(sizes)])
    values = np.append(values, [MISSING, MISSING])
    graph = Graph.from_pairs(
        [[0, 1]], len(values), attributes={"z": NodeColumn("z", values, tuple("abcde"))}
    )
    threat = draw_attribute_threat(graph, "z", share, Seed(number))
    assert not (threat.known & threat.hidden).any()
    assert ((threat.known | threat.hidden) == (values != MISSING)).all()
    for code, size in enumerate(sizes):
        expected = min(max(round(share * size), 1), max(size - 1, 1))
        assert threat.known[values == code].sum() == expected


def test_a_column_in_which_nobody_is_alike_hides_nobody():
    one_each = NodeColumn.from_values("pay", [1000 + 7 * i for i in range(9)])
    graph = Graph.from_pairs([[0, 1]], 9, attributes={"pay": one_each})
    said = "column 'pay' must have a value that at least two nodes share; got 9 values of as many"
    with pytest.raises(InputError, match=said):
        draw_attribute_threat(graph, "pay", 0.1, Seed(0))


def test_a_private_feature_is_taken_out_of_the_visible_features():
    graph = two_communities()
    features = (graph.features > 0).astype(float)
    graph = Graph.from_pairs(graph.edges, 40, features=features, attributes=graph.attributes)
    threats = draw_threats(graph, Seed(0), private="0", utility="label")
    assert "0" not in threats.visible.feature_names
    assert threats.attribute.attribute.name == "0"
    assert threats.utility.attribute.name == "label"


def test_equal_seeds_draw_equal_splits_and_others_others():
    graph = two_communities()
    draws = [
        draw_threats(graph, Seed(number), private="private", hide_links=0.2) for number in (1, 1, 2)
    ]
    hidden = [threats.link.hidden.tolist() for threats in draws]
    known = [threats.attribute.known.tolist() for threats in draws]
    assert hidden[0] == hidden[1] != hidden[2]
    assert known[0] == known[1] != known[2]


def test_what_hides_links_moves_no_known_value():
    graph = two_communities()
    alone = draw_threats(graph, Seed(4), private="private")
    both = draw_threats(graph, Seed(4), private="private", hide_links=0.3, utility="label")
    assert (alone.attribute.known == both.attribute.known).all()


ONE_CLASS = {"z": NodeColumn("z", np.zeros(3, int), ("a", "b"))}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"hide_links": 0.0}, "share of withheld links must lie between 0 and 1; got 0.0"),
        ({"hide_links": 1.0}, "share of withheld links must lie between 0 and 1; got 1.0"),
        (
            {"hide_links": 0.1},
            "graph must have enough links to withhold some; got 2; raise the share or use a larger "
            "graph",
        ),
        (
            {"sensitive_links": np.array([[0, 2]])},
            "sensitive links must include links of the graph; got 1",
        ),
        (
            {"private": "z"},
            "column 'z' must have at least two classes with nodes; got 1; choose another column",
        ),
        ({"private": "y", "known": 1.0}, "known share must lie between 0 and 1; got 1.0"),
        ({"private": "y", "known": 0.0}, "known share must lie between 0 and 1; got 0.0"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(fields, message):
    two = {**ONE_CLASS, "y": NodeColumn("y", np.array([0, 1, 1]), ("a", "b"))}
    graph = Graph.from_pairs(np.array([[0, 1], [1, 2]]), 3, attributes=two)
    with pytest.raises(InputError) as error:
        draw_threats(graph, Seed(0), **fields)
    assert str(error.value) == message
