"""Splits of links: what is withheld, the prior, and the three ways of judging attacks."""

from __future__ import annotations

import numpy as np
import pytest

from core.arrays import pair_codes
from core.data.splits import NUM_NON_LINKS, draw_threats
from core.errors import InputError
from core.graph import Graph
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, two_communities


def as_set(pairs):
    return {tuple(sorted(p)) for p in pairs.tolist()}


@pytest.mark.parametrize("name", sorted(GRAPHS))
@pytest.mark.parametrize("seed", [0, 1])
def test_hidden_and_test_links_are_out_of_the_visible_graph_and_apart(name, seed):
    graph = GRAPHS[name]()
    threats = draw_threats(graph, Seed(seed), hide_links=0.2, test_links=0.2)
    hidden, test = as_set(threats.link.hidden), as_set(threats.test_links)
    visible, every = as_set(threats.visible.edges), as_set(graph.edges)
    assert hidden
    assert test
    assert not hidden & test
    assert not visible & (hidden | test)
    assert visible | hidden | test == every


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_non_links_are_none_of_the_original_and_apart(name):
    graph = GRAPHS[name]()
    threats = draw_threats(graph, Seed(3), hide_links=0.2, test_links=0.2)
    parts = [as_set(p) for p in (threats.link.absent, threats.test_non_links)]
    parts.append(as_set(threats.link.more_absent))
    every = as_set(graph.edges)
    for part in parts:
        assert not part & every
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert len(parts[0]) == len(threats.link.hidden)


def test_the_prior_is_that_of_pairs_which_the_visible_graph_does_not_link():
    graph = two_communities(60)
    threats = draw_threats(graph, Seed(0), hide_links=0.1, test_links=0.3)
    pairs = np.stack(np.triu_indices(60, 1), 1)
    candidates = pairs[~threats.visible.contains_pairs(pairs)]
    hidden = np.isin(pair_codes(candidates, 60), pair_codes(threats.link.hidden, 60))
    assert threats.link.prior == pytest.approx(hidden.mean())
    assert threats.link.prior > len(threats.link.hidden) / graph.num_pairs * 1.05


def test_twenty_thousand_non_links_where_the_graph_has_them():
    rng = np.random.default_rng(0)
    large = Graph.from_pairs(rng.integers(0, 400, (900, 2)), 400)
    threat = draw_threats(large, Seed(0), hide_links=0.1).link
    assert len(threat.absent) + len(threat.more_absent) == NUM_NON_LINKS
    small = draw_threats(two_communities(40), Seed(0), hide_links=0.1).link
    graph = two_communities(40)
    assert len(small.absent) + len(small.more_absent) == graph.num_pairs - graph.num_edges


def test_further_non_links_leave_the_usual_draw_as_it_is():
    graph = two_communities(60)
    uniform = draw_threats(graph, Seed(5), hide_links=0.1)
    matched = draw_threats(graph, Seed(5), hide_links=0.1, evaluation="degree_matched")
    np.testing.assert_array_equal(uniform.link.hidden, matched.link.hidden)
    np.testing.assert_array_equal(uniform.test_links, matched.test_links)
    assert uniform.visible.content_hash == matched.visible.content_hash


def test_at_distance_two_both_sides_share_a_neighbour():
    graph = two_communities(120, seed=3)
    threats = draw_threats(graph, Seed(0), hide_links=0.2, evaluation="distance_2")
    link, dense = threats.link, threats.visible.adjacency.toarray() > 0
    for pairs in (link.targets, link.absent, link.more_absent):
        assert all((dense[i] & dense[j]).any() for i, j in pairs)
        assert not any(dense[i, j] for i, j in pairs)
    shared = np.array([(dense[i] & dense[j]).any() for i, j in link.hidden])
    np.testing.assert_array_equal(link.judged, shared)
    assert len(link.targets) == len(link.absent) == shared.sum() < len(link.hidden)
    assert link.truth.sum() == len(link.targets)
    assert not graph.contains_pairs(link.absent).any()


def test_matched_non_links_have_ends_with_as_many_links():
    """A graph of hubs and leaves: uniform non-links join leaves, matched ones do not."""
    rng = np.random.default_rng(1)
    ends = np.stack([rng.integers(0, 20, 600), rng.integers(20, 400, 600)], 1)
    graph = Graph.from_pairs(ends, 400)
    degrees = {}
    for evaluation in ("uniform", "degree_matched"):
        link = draw_threats(graph, Seed(0), hide_links=0.3, evaluation=evaluation).link
        degrees[evaluation] = graph.degrees[link.absent].mean()
    real = graph.degrees[link.hidden].mean()
    assert degrees["degree_matched"] == pytest.approx(real, rel=0.15)
    assert degrees["uniform"] < 0.5 * real


def test_an_evaluation_without_cases_says_so():
    star = Graph.from_pairs([[2 * i, 2 * i + 1] for i in range(30)], 60)
    with pytest.raises(InputError, match="distance_2"):
        draw_threats(star, Seed(0), hide_links=0.2, evaluation="distance_2")


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5])
def test_a_share_of_all_or_nothing_is_refused(share):
    with pytest.raises(InputError, match="between 0 and 1"):
        draw_threats(two_communities(), Seed(0), hide_links=share)
