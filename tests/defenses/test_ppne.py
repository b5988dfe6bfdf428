"""PPNE: its incremental effects against recomputing everything, and what greed achieves."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.defenses.ppne import Ppne, _Neighborhoods, compute_effect
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import GRAPHS, make_threats, two_communities


def compute_similarities(adjacency):
    """Cosine of the rows of A + I, all pairs."""
    closed = adjacency + np.eye(len(adjacency))
    norms = np.sqrt(closed.sum(axis=1))
    return closed @ closed / np.outer(norms, norms)


@pytest.mark.parametrize("name", ["two_communities", "star", "clique", "isolated_node"])
def test_effects_equal_those_of_recomputing_all_similarities(name):
    threats = make_threats(GRAPHS[name]())
    graph, hidden = threats.visible, threats.link.hidden
    state = _Neighborhoods(graph, hidden)
    rows = state._starts, state._sizes, state._columns, *state._secrets
    mark = np.zeros(graph.num_nodes, bool)
    adjacency = (graph.adjacency.toarray() > 0).astype(float)
    before = compute_similarities(adjacency)
    blocked = {tuple(pair) for pair in hidden.tolist()}
    for u in range(graph.num_nodes):
        for v in range(u + 1, graph.num_nodes, 3):
            if (u, v) in blocked:
                continue
            changed = adjacency.copy()
            changed[u, v] = changed[v, u] = 1 - changed[u, v]
            delta = compute_similarities(changed) - before
            others = [(i, j) for i, j in graph.edges.tolist() if (i, j) != (u, v)]
            gain, loss = compute_effect(*rows, u, v, mark)
            assert gain == pytest.approx(-sum(delta[i, j] for i, j in hidden))
            assert loss == pytest.approx(sum(abs(delta[i, j]) for i, j in others))


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_similarity_of_sensitive_links_falls_within_the_budget(name):
    threats = make_threats(GRAPHS[name]())
    graph, hidden = threats.visible, threats.link.hidden
    release = Ppne(strength=0.5).publish(graph, threats, Context(Seed(0)))
    total = []
    for candidate in (graph, release.graph):
        similarity = compute_similarities((candidate.adjacency.toarray() > 0).astype(float))
        total.append(sum(similarity[i, j] for i, j in hidden))
    assert total[1] <= total[0]
    changed = np.setxor1d(graph.edge_codes, release.graph.edge_codes)
    assert len(changed) <= round(0.5 * graph.num_edges)
    assert not release.graph.contains_pairs(hidden).any()


def test_needs_withheld_links():
    graph = two_communities()
    assert "withheld links" in Ppne().supports(graph, Threats(graph))
    assert np.array_equal(
        Ppne(strength=0.0).publish(graph, make_threats(graph), Context(Seed(0))).graph.edges,
        graph.edges,
    )
