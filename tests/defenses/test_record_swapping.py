"""Record swapping: the release is the graph under other names, and no sensitive link is near."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.algorithms.communities import find_communities
from core.context import Context
from core.defenses.record_swapping import RecordSwapping, find_cover
from core.node_column import NodeColumn
from core.seeding import Seed
from core.threats import LinkThreat, Threats
from tests.oracles.graphs import GRAPHS, make_threats, two_communities


def find_places(graph, release):
    """The node of the graph whose features each node of the release has, which are distinct."""
    same = (graph.dense_features()[None] == release.graph.dense_features()[:, None]).all(axis=2)
    assert (same.sum(axis=1) == 1).all()
    return same.argmax(axis=1)


def number(graph):
    """The graph with weights, a column and features that tell every node and link."""
    nodes = np.arange(graph.num_nodes)
    side = NodeColumn("side", nodes % 3, ("a", "b", "c"))
    weighted = replace(graph, weights=1.0 + np.arange(graph.num_edges))
    weighted = weighted.with_attributes({"side": side})
    return weighted.update_columns(
        features=nodes[:, None].astype(np.float32), feature_names=("number",)
    )


@pytest.mark.parametrize("near", [0.0, 0.5, 1.0])
def test_the_release_is_the_graph_under_other_names(near):
    threats = make_threats(two_communities(60))
    graph = number(threats.visible)
    release = RecordSwapping(near=near).publish(graph, threats, Context(Seed(3)))
    places = find_places(graph, release)
    assert release.graph.node_ids == graph.node_ids
    assert sorted(places) == list(range(graph.num_nodes))
    expected = graph.adjacency.toarray()[np.ix_(places, places)]
    expected[tuple(threats.link.hidden.T)] = expected[tuple(threats.link.hidden[:, ::-1].T)] = 0
    np.testing.assert_array_equal(release.graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(
        release.graph.attributes["side"].codes, graph.attributes["side"].codes[places]
    )
    is_moved = places != np.arange(graph.num_nodes)
    assert is_moved[threats.link.hidden].any(axis=1).all()
    assert release.facts["people_moved"] == is_moved.sum()
    assert release.facts["links_moved"] == is_moved[graph.edges].any(axis=1).sum()
    assert not release.guarantee.is_private


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_no_sensitive_link_is_released_by_chance(name):
    threats = make_threats(GRAPHS[name]())
    for seed in range(20):
        release = RecordSwapping().publish(threats.visible, threats, Context(Seed(seed)))
        assert not release.graph.contains_pairs(threats.link.hidden).any()


def test_the_cover_is_that_of_a_naive_search():
    graph = two_communities(80)
    links = graph.edges[np.random.default_rng(0).choice(graph.num_edges, 40, replace=False)]
    found = find_cover(graph.without_edges(links), links, np.random.default_rng(1))
    prices = np.sqrt(graph.without_edges(links).degrees + 1.0)
    ties, left, expected = np.random.default_rng(1).random(80), links, []
    while len(left):
        counts = np.bincount(left.ravel(), minlength=80)
        order = [(prices[i] / counts[i], ties[i], i) for i in range(80) if counts[i]]
        expected.append(min(order)[2])
        left = left[(left != expected[-1]).all(axis=1)]
    assert found.tolist() == expected


def test_bystanders_are_people_with_few_links():
    threats = make_threats(two_communities(200))
    graph = number(threats.visible)
    moved = {}
    for share in (0.0, 0.2):
        release = RecordSwapping(bystanders=share).publish(graph, threats, Context(Seed(5)))
        moved[share] = set(np.flatnonzero(find_places(graph, release) != np.arange(200)))
    others = sorted(moved[0.2] - moved[0.0])
    assert moved[0.0] < moved[0.2]
    assert len(others) == np.ceil(0.2 * len(moved[0.0]))
    assert (graph.degrees[others] > 0).all()
    assert graph.degrees[others].max() <= np.median(graph.degrees)


def test_who_moves_within_a_community_stays_there():
    threats = make_threats(two_communities(200))
    graph = number(threats.visible)
    release = RecordSwapping(near=1.0).publish(graph, threats, Context(Seed(5)))
    communities = find_communities(graph, np.random.default_rng(0))
    places = find_places(graph, release)
    is_moved = places != np.arange(200)
    assert is_moved.sum() > 20
    assert (communities[places] == communities)[is_moved].mean() > 0.9


def test_places_are_exchanged_within_a_mode():
    rng = np.random.default_rng(0)
    pairs = np.column_stack([rng.integers(0, 30, 90), rng.integers(30, 50, 90)])
    modes = NodeColumn("mode", (np.arange(50) >= 30).astype(np.int64), ("people", "events"))
    full = number(two_communities(50).with_edges(pairs))
    graph = replace(full, modes=modes).select_edges(np.arange(full.num_edges) >= 40)
    link = LinkThreat(full.edges[:40], np.empty((0, 2), np.int64), 0.01)
    release = RecordSwapping().publish(graph, Threats(graph, link), Context(Seed(2)))
    places = find_places(graph, release)
    assert (places != np.arange(50)).any()
    np.testing.assert_array_equal(modes.codes[places], modes.codes)
