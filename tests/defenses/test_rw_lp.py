"""RW-LP: substitutes are where walks can end, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.defenses.rw_lp import RwLp
from core.graph import Graph
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import GRAPHS, make_threats


@pytest.mark.parametrize("name", sorted(GRAPHS))
@pytest.mark.parametrize("length", [2, 3])
def test_every_new_link_joins_the_ends_of_a_walk(name, length):
    threats = make_threats(GRAPHS[name]())
    graph = threats.visible
    release = RwLp(strength=0.6, walk_length=length).publish(graph, threats, Context(Seed(4)))
    adjacency = (graph.adjacency.toarray() > 0).astype(int)
    reachable = np.linalg.matrix_power(adjacency, length)
    added = release.graph.edges[~graph.contains_pairs(release.graph.edges)]
    assert (reachable[added[:, 0], added[:, 1]] > 0).all()
    removed = graph.num_edges - graph.contains_pairs(release.graph.edges).sum()
    assert removed <= round(0.6 * graph.num_edges)
    assert not release.graph.contains_pairs(threats.link.hidden).any()


def test_walks_are_uniform_over_neighbours():
    """On a path 0-1-2-3-4, the only 2-step substitutes of (1, 2) are (1, 3) and (2, 0)."""
    graph = Graph.from_pairs(np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), 5)
    ends = [
        RwLp(walk_length=2)._walk(graph, np.array([2]), np.random.default_rng(r))[0]
        for r in range(2000)
    ]
    share = np.bincount(ends, minlength=5) / 2000
    np.testing.assert_allclose(share, [0, 0.5, 0, 0.5, 0], atol=0.05)


def test_star_has_no_substitute_of_odd_length_but_its_own_links():
    graph = GRAPHS["star"]()
    release = RwLp(strength=1.0, walk_length=3).publish(graph, Threats(graph), Context(Seed(0)))
    assert graph.contains_pairs(release.graph.edges).all()
