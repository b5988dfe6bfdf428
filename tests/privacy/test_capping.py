"""What is counted under a cap for each node: its sensitivity by brute force, triangles by a
linear program of one variable each."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from core.context import Context
from core.defenses.privdpr import estimate_num_links
from core.graph import Graph
from core.privacy.budget import Account
from core.privacy.capping import count_capped_triangles, select_capped_links
from core.privacy.guarantees import NODE
from core.seeding import Seed
from tests.oracles.graphs import star, two_communities


def draw_neighbors(data, n):
    """Two graphs in which one node has any other links, and that node."""
    i, j = np.triu_indices(n, 1)
    density = data.draw(st.sampled_from([0.2, 0.5, 0.9]))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    first, other = rng.random((2, len(i))) < np.array([[density], [data.draw(st.floats(0, 1))]])
    node = data.draw(st.integers(0, n - 1))
    second = np.where((i == node) | (j == node), other, first)
    pairs = np.stack([i, j], 1)
    return [Graph.from_pairs(pairs[keep], n) for keep in (first, second)], node


@settings(max_examples=300)
@given(st.data())
def test_any_other_links_of_one_node_change_capped_links_by_at_most_the_cap(data):
    cap = data.draw(st.integers(1, 6))
    graphs, node = draw_neighbors(data, 9)
    kept = [g.edges[select_capped_links(g.edges, 9, cap)] for g in graphs]
    assert abs(len(kept[0]) - len(kept[1])) <= cap
    degrees = np.stack([np.bincount(links.ravel(), minlength=9) for links in kept])
    assert degrees.max() <= cap
    assert np.abs(np.delete(degrees[1] - degrees[0], node)).sum() <= 2 * cap


def test_cap_cuts_hubs_only():
    assert select_capped_links(two_communities().edges, 40, 40).all()
    assert select_capped_links(star().edges, star().num_nodes, 3).sum() == 3


def compute_plainly(graph, cap):
    """The packing program with a variable for each triangle that a naive loop finds."""
    networks = graph.to_networkx()
    triangles = [c for c in nx.enumerate_all_cliques(networks) if len(c) == 3]
    if not triangles:
        return 0.0
    place = {node: k for k, node in enumerate(networks)}
    bears = np.zeros((graph.num_nodes, len(triangles)))
    for column, nodes in enumerate(triangles):
        bears[[place[node] for node in nodes], column] = 1
    limits = np.full(graph.num_nodes, float(cap))
    return -linprog(-np.ones(len(triangles)), bears, limits, bounds=(0, 1)).fun


@settings(max_examples=60)
@given(st.data())
def test_capped_triangles_are_the_packing_program_and_change_by_at_most_the_cap(data):
    cap = data.draw(st.integers(1, 12))
    graphs, _ = draw_neighbors(data, 9)
    counts = [count_capped_triangles(graph, cap) for graph in graphs]
    assert counts == pytest.approx([compute_plainly(graph, cap) for graph in graphs], abs=1e-6)
    assert abs(counts[0] - counts[1]) <= cap + 1e-6


def test_noise_has_the_scale_of_cap_over_epsilon():
    graph = two_communities()
    draws = [
        estimate_num_links(graph, Account(NODE, 4.0, Context(Seed(r))), 0.5, 10)
        for r in range(3000)
    ]
    count = select_capped_links(graph.edges, 40, 10).sum()
    # Clipping at 0 and at all pairs is far off: two-sided geometric noise of scale 5.
    assert np.mean(draws) == pytest.approx(count, abs=0.6)
    assert np.mean(np.abs(np.array(draws) - count)) == pytest.approx(5.0, rel=0.1)
