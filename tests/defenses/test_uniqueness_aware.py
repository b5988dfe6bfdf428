"""The budget is kept, and fewer people stand out than by chance changes."""

from __future__ import annotations

import numpy as np
import pytest

from core.algorithms.fingerprints import compute_class_sizes, compute_fingerprints
from core.algorithms.pairs import count_shared_neighbors
from core.context import Context
from core.defenses.pseudonyms import Pseudonyms
from core.defenses.random_deletion import RandomDeletion
from core.defenses.uniqueness_aware import UniquenessAware
from core.seeding import Seed
from core.threats import LinkThreat, Threats
from tests.attacks.identity.test_identity_attacks import draw_clustered
from tests.oracles.graphs import two_communities


def count_unique(graph):
    return int((compute_class_sizes(compute_fingerprints(graph, "degree_triangles")) == 1).sum())


def publish(defense, graph, seed=0, link=None):
    return defense.publish(graph, Threats(graph, link), Context(Seed(seed)))


@pytest.mark.parametrize("additions", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("strength", [0.0, 0.05, 0.3])
def test_the_budget_is_kept_and_nobody_else_made_to_stand_out(strength, additions):
    graph = draw_clustered(200)
    release = publish(UniquenessAware(strength=strength, additions=additions), graph)
    changed = release.facts["links_removed"] + release.facts["links_added"]
    assert changed <= round(strength * graph.num_edges)
    assert count_unique(release.graph) <= count_unique(graph)
    if additions == 0:
        assert release.facts["links_added"] == 0


def test_fewer_stand_out_than_after_as_many_chance_deletions():
    graph = draw_clustered(600)
    adaptive = [publish(UniquenessAware(strength=0.1), graph, s).graph for s in range(3)]
    chance = [publish(RandomDeletion(strength=0.1), graph, s).graph for s in range(3)]
    assert max(map(count_unique, adaptive)) < min(map(count_unique, chance))
    assert max(map(count_unique, adaptive)) < 0.8 * count_unique(graph)


def test_withheld_links_are_never_added():
    graph = two_communities(30)
    i, j = np.triu_indices(30, 1)
    pairs = np.stack([i, j], 1)
    free = pairs[~graph.contains_pairs(pairs)]
    hidden = free[::2]
    link = LinkThreat(hidden, hidden[:0], 0.1)
    released = publish(UniquenessAware(strength=0.5, additions=1.0), graph, link=link).graph
    assert not released.contains_pairs(hidden).any()


def test_marked_common_neighbours_as_networkx_counts_them():
    import networkx as nx

    graph = two_communities(30)
    marked = np.random.default_rng(0).random(30) < 0.4
    found = count_shared_neighbors(graph, graph.edges, marked)
    by_hand = graph.to_networkx()
    expected = [
        sum(marked[w] for w in nx.common_neighbors(by_hand, i, j)) for i, j in graph.edges.tolist()
    ]
    assert found.tolist() == expected


def test_pseudonyms_change_no_link():
    graph = two_communities(30)
    release = publish(Pseudonyms(), graph)
    np.testing.assert_array_equal(release.graph.edges, graph.edges)
    assert not release.guarantee.is_private
