"""Whether node i of a release is node i of the graph: what a defense says is what it does."""

from __future__ import annotations

import numpy as np
import pytest

from core.audit.computing import making
from core.audit.computing.making import make_release
from core.context import Context
from core.defenses import DEFENSES
from core.defenses.node_private import NodePrivate
from core.defenses.without_columns import WithoutColumns
from core.graph import Graph
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities

DROWNED = {"node_private", "privdpr", "dpggan", "dpgvae"}
"""Whose noise hides every degree of a graph of this size. The learned ones draw the links of a node
from a vector of its own."""

PRIVATE = [
    method
    for method in DEFENSES
    if method.info.group.endswith("DP") and method.info.key not in DROWNED
]


def draw_uneven_graph(num_nodes: int = 200, num_links: int = 900) -> Graph:
    """Links drawn in proportion to heavy-tailed weights of their ends."""
    rng = np.random.default_rng(0)
    weights = rng.pareto(1.5, num_nodes) + 1
    shares = weights / weights.sum()
    return Graph.from_pairs(rng.choice(num_nodes, (num_links, 2), p=shares), num_nodes)


@pytest.mark.parametrize("method", PRIVATE, ids=lambda method: method.info.key)
def test_degrees_stay_with_their_nodes_where_a_defense_says_so(method):
    """At ε = 100, as a stable pseudonym or a rehearsed attack on identities assumes."""
    graph, defense = draw_uneven_graph(), method.model_validate({"epsilon": 100.0})
    found = []
    for seed in range(3):
        release = defense.publish(graph, Threats(graph), Context(Seed(seed)))
        found.append(np.corrcoef(graph.degrees, release.graph.degrees)[0, 1])
    assert (np.mean(found) > 0.2) == defense.keeps_nodes


def test_a_defense_around_another_says_what_that_does():
    for key, member in NodePrivate.members.items():
        assert NodePrivate(mechanism=key).keeps_nodes == member.model_validate({}).keeps_nodes
    assert not NodePrivate().keeps_nodes
    assert WithoutColumns().keeps_nodes
    assert not WithoutColumns(defense="dp_1k").keeps_nodes
    assert not WithoutColumns(defense="node_private").keeps_nodes
    assert WithoutColumns(defense="edge_rand").keeps_nodes


def test_columns_of_links_that_do_not_leave_refuse_no_release(monkeypatch):
    asked = []
    monkeypatch.setattr(making, "refuse_link_columns", lambda *facts: asked.append(facts))
    graph = two_communities(40)
    make_release(WithoutColumns(defense="dp_1k"), Threats(graph), Context(Seed(0)))
    assert not asked
