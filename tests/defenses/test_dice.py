"""DICE: where links go and where they come from."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.defenses.dice import Dice
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import GRAPHS, make_threats, two_communities


@pytest.mark.parametrize("strength", [0.1, 1.0])
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_links_leave_sensitive_nodes_and_join_the_others(name, strength):
    threats = make_threats(GRAPHS[name]())
    graph = threats.visible
    release = Dice(strength=strength).publish(graph, threats, Context(Seed(1)))
    sensitive = np.zeros(graph.num_nodes, bool)
    sensitive[threats.link.hidden] = True
    removed = graph.edges[~release.graph.contains_pairs(graph.edges)]
    added = release.graph.edges[~graph.contains_pairs(release.graph.edges)]
    exposed = sensitive[graph.edges].any(axis=1).sum()
    assert len(removed) == min(round(strength * graph.num_edges), exposed)
    assert sensitive[removed].any(axis=1).all()
    assert not sensitive[added].any()
    assert len(added) <= len(removed)


def test_needs_withheld_links():
    graph = two_communities()
    assert "withheld links" in Dice().supports(graph, Threats(graph))
