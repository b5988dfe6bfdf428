"""PrivHRG: the chain's bookkeeping and its law by enumeration, sensitivity, and the guarantee."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.context import Context
from core.defenses.priv_hrg import PrivHrg, compute_sensitivity
from core.graph import Graph
from core.privacy.budget import Account
from core.privacy.claim_check import check_claim
from core.privacy.dendrogram import Dendrogram, draw_dendrogram
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities


def publish(graph, seed=0, **fields):
    return PrivHrg(**fields).publish(graph, Threats(graph), Context(Seed(seed)))


def to_network(tree):
    network = nx.DiGraph()
    for place, children in enumerate(tree.children.tolist()):
        network.add_edges_from((place, child) for child in children)
    return network


def score_plainly(tree, graph):
    """Links and pairs of each ancestor by NetworkX's lowest common ancestors, and the score."""
    n, network = graph.num_nodes, to_network(tree)
    place = {node: n - 1 + k for k, node in enumerate(tree.nodes.tolist())}
    pairs = [(place[i], place[j]) for i, j in combinations(range(n), 2)]
    lowest = dict(nx.tree_all_pairs_lowest_common_ancestor(network, 0, pairs))
    lowest |= {pair[::-1]: top for pair, top in lowest.items()}
    count = Counter(lowest[pair] for pair in pairs)
    linked = Counter(lowest[place[i], place[j]] for i, j in graph.edges.tolist())
    score = 0.0
    for top, total in count.items():
        share = linked[top] / total
        if 0 < share < 1:
            score += linked[top] * math.log(share) + (total - linked[top]) * math.log(1 - share)
    return linked, count, score


@settings(max_examples=25)
@given(st.integers(3, 14), st.integers(0, 99), st.integers(0, 200))
def test_the_chain_keeps_a_tree_and_its_counts(n, seed, steps):
    graph = Graph.from_pairs(np.random.default_rng(seed).integers(0, n, (2 * n, 2)), n)
    tree = draw_dendrogram(graph, 0.3, steps, Context(Seed(seed)))
    network = to_network(tree)
    assert nx.is_arborescence(network)
    assert all(tree.parent[b] == a for a, b in network.edges)
    linked, count, _ = score_plainly(tree, graph)
    assert tree.links.tolist() == [linked[k] for k in range(n - 1)]
    assert tree.count_pairs().tolist() == [count[k] for k in range(n - 1)]


def describe_shape(tree):
    """The sets of nodes below each ancestor: the same for the same dendrogram."""
    network, n = to_network(tree), len(tree.nodes)
    below = [nx.descendants(network, k) for k in range(n - 1)]
    return frozenset(frozenset(int(tree.nodes[x - n + 1]) for x in s if x >= n - 1) for s in below)


def test_the_chain_draws_trees_in_proportion_to_their_likelihood():
    """All 15 dendrograms of four nodes, scored by NetworkX, at a factor that tells them apart."""
    graph, factor = Graph.from_pairs(np.array([[0, 1], [0, 2], [1, 2]]), 4), 1.5
    found, scores = Counter(), {}
    for seed in range(4000):
        tree = draw_dendrogram(graph, factor, 40, Context(Seed(seed)))
        shape = describe_shape(tree)
        found[shape] += 1
        if shape not in scores:
            scores[shape] = score_plainly(tree, graph)[2]
    assert len(scores) == 15
    weights = np.exp(factor * np.array([scores[shape] for shape in found]))
    expected = weights / weights.sum() * 4000
    assert stats.chisquare(list(found.values()), expected).pvalue > 1e-3
    assert weights.max() > 5 * weights.min()


@settings(max_examples=40)
@given(st.integers(3, 12), st.integers(0, 999))
def test_one_link_changes_one_count_by_one_and_the_score_by_the_sensitivity(n, seed):
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(rng.integers(0, n, (2 * n, 2)), n)
    if not graph.num_edges:
        return
    less = graph.without_edges(graph.edges[seed % graph.num_edges][None])
    nodes = rng.permutation(n)
    trees = [Dendrogram.build(g, nodes) for g in (graph, less)]
    assert np.abs(trees[0].links - trees[1].links).sum() == 1
    scores = [score_plainly(trees[0], g)[2] for g in (graph, less)]
    assert abs(scores[0] - scores[1]) <= compute_sensitivity(n) + 1e-9


def test_the_sensitivity_is_attained_by_the_first_link_of_two_halves():
    one = Graph.from_pairs(np.array([[0, 7]]), 8)
    tree = Dendrogram.build(one, np.arange(8))
    assert score_plainly(tree, one)[2] == pytest.approx(-compute_sensitivity(8))


def test_the_factor_is_that_of_scores_that_rise_and_fall(monkeypatch):
    seen = []
    draw = "core.defenses.priv_hrg.draw_dendrogram"
    monkeypatch.setattr(draw, lambda *args: seen.append(args[1]) or draw_dendrogram(*args))
    publish(two_communities(), epsilon=3.0, steps=1, tree_share=0.4)
    assert seen == [pytest.approx(3.0 * 0.4 / (2 * (400 * math.log(400) - 399 * math.log(399))))]


def test_links_are_drawn_uniformly_among_the_pairs_of_each_ancestor():
    tree = Dendrogram.build(two_communities(9), np.random.default_rng(0).permutation(9))
    wanted = np.minimum([3, 5, 1, 2, 0, 1, 1, 1], tree.count_pairs())
    found = Counter()
    for seed in range(4000):
        pairs = np.sort(tree.draw_links(wanted, np.random.default_rng(seed)), axis=1)
        assert len({tuple(p) for p in pairs.tolist()}) == wanted.sum()
        found.update(map(tuple, pairs.tolist()))
    drawn = Graph.from_pairs(np.array(list(found)), 9)
    linked, count, _ = score_plainly(tree, drawn)
    assert [linked[k] for k in range(8)] == [count[k] if wanted[k] else 0 for k in range(8)]
    network = to_network(tree)
    place = {node: 8 + k for k, node in enumerate(tree.nodes.tolist())}
    for (i, j), times in found.items():
        top = nx.lowest_common_ancestor(network, place[i], place[j])
        share = wanted[top] / count[top]
        assert times == pytest.approx(4000 * share, abs=5 * math.sqrt(4000 * share) + 1)


def test_communities_are_found_at_a_large_budget():
    graph = two_communities()
    side = graph.column("private").codes

    def measure(**fields):
        release = publish(graph, epsilon=20.0, tree_share=0.8, **fields).graph
        return (side[release.edges[:, 0]] == side[release.edges[:, 1]]).mean()

    assert measure(steps=8000) > 0.7
    assert measure(steps=8000, data_free=True) < 0.6
    note = publish(graph).guarantee.note
    assert "Markov chain" in note


def test_links_are_as_many_as_the_noisy_numbers_say(monkeypatch):
    ring = np.stack([np.arange(400), np.roll(np.arange(400), 1)], axis=1)
    graph, noisy, add = Graph.from_pairs(ring, 400), [], Account.add_count_noise

    def record(*arguments):
        noisy.append(add(*arguments))
        return noisy[-1]

    monkeypatch.setattr(Account, "add_count_noise", record)
    found = [publish(graph, seed, epsilon=0.5, steps=1).graph.num_edges for seed in range(20)]
    assert np.mean(found) == pytest.approx(np.sum(noisy) / 20, rel=0.05)


def test_the_claim_is_not_refuted_and_an_eighth_of_the_noise_is(monkeypatch):
    context = Context(Seed(3))
    defense = PrivHrg(epsilon=1.0, steps=2, tree_share=0.1)
    pairs = np.array([[0, 1], [2, 3]])
    neighbors = tuple(Graph.from_pairs(pairs[first:], 4) for first in (0, 1))
    game = {"neighbors": neighbors, "trials": 1600}
    assert not check_claim(defense, context, **game | {"trials": 400}).is_refuted
    take = Account._take
    monkeypatch.setattr(Account, "_take", lambda *arguments: 8 * take(*arguments))
    assert check_claim(defense, context, **game).is_refuted
