"""The second graph that an attacker holds: its people are told by their ids, never by order."""

from __future__ import annotations

import numpy as np
import pytest

from core.data.second_graph import draw_identity_threat
from core.errors import InputError
from core.graph import Graph
from core.seeding import Seed
from tests.oracles.graphs import isolated_node, two_communities


def test_people_are_those_of_the_same_name():
    graph = two_communities(60)
    threat = draw_identity_threat(graph, Seed(1), overlap=0.8, num_seeds=5)
    for node, person in enumerate(threat.people):
        assert threat.known.node_ids[node] == graph.node_ids[person]
    assert (threat.people != np.arange(60)).mean() > 0.8
    np.testing.assert_array_equal(threat.people[threat.seeds[:, 0]], threat.seeds[:, 1])
    assert not threat.wanted[threat.seeds[:, 0]].any()
    assert threat.wanted.sum() == 55


@pytest.mark.parametrize(("overlap", "noise"), [(1.0, 0.0), (0.5, 0.0), (0.7, 0.3)])
def test_overlap_and_noise_are_as_stated(overlap, noise):
    graph = two_communities(200)
    known = draw_identity_threat(graph, Seed(2), overlap, noise, 0).known
    names = np.array([int(node) for node in known.node_ids])
    kept = graph.contains_pairs(names[known.edges]).sum()
    spread = 4 * np.sqrt(graph.num_edges * overlap * (1 - overlap))
    assert abs(kept - overlap * graph.num_edges) <= spread
    assert known.num_edges - kept == round(noise * graph.num_edges)


def test_those_without_links_are_neither_seeds_nor_wanted():
    graph = isolated_node()
    lonely = int(np.flatnonzero(graph.degrees == 0)[0])
    threat = draw_identity_threat(graph, Seed(0), 1.0, 0.0, 15)
    assert lonely not in threat.seeds[:, 1]
    assert not threat.wanted.any()


def test_a_given_graph_may_hold_others_too():
    graph = two_communities(40)
    second = Graph.from_pairs(
        np.array([[0, 1], [1, 2], [2, 3]]), node_ids=("7", "stranger", "9", "11")
    )
    threat = draw_identity_threat(graph, Seed(3), num_seeds=1, known=second)
    assert sorted(threat.people) == [-1, 7, 9, 11]
    assert threat.source == second.name


def test_the_order_of_a_given_graph_tells_nothing():
    graph = two_communities(40)
    threat = draw_identity_threat(graph, Seed(3), num_seeds=1, known=graph)
    assert sorted(threat.people) == list(range(40))
    assert (threat.people == np.arange(40)).sum() < 6


def test_nobody_in_common_is_one_line():
    second = Graph.from_pairs(np.array([[0, 1]]), node_ids=("anna", "ben"))
    with pytest.raises(InputError, match="people in common") as error:
        draw_identity_threat(two_communities(40), Seed(0), known=second)
    assert "\n" not in str(error.value)


def test_more_seeds_than_people_is_one_line():
    with pytest.raises(InputError, match="known seeds must be at most the 15 people") as error:
        draw_identity_threat(isolated_node(), Seed(0), 1.0, num_seeds=16)
    assert "\n" not in str(error.value)


def test_who_has_links_in_the_second_graph_only_is_no_seed():
    """Alone in the release: of the 16 people of both graphs, 15 can be seeds."""
    graph = isolated_node()
    lonely = int(np.flatnonzero(graph.degrees == 0)[0])
    known = graph.with_edges(np.concatenate([graph.edges, [[(lonely + 1) % 16, lonely]]]))
    assert known.degrees[lonely] == 1
    threat = draw_identity_threat(graph, Seed(0), num_seeds=15, known=known)
    assert lonely not in threat.seeds[:, 1]
    with pytest.raises(InputError, match="at most the 15 people"):
        draw_identity_threat(graph, Seed(0), num_seeds=16, known=known)
