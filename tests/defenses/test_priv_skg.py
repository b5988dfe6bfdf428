"""PrivSKG: expected counts by enumeration, the fit, the draw, its noise, and the guarantee."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.context import Context
from core.defenses.priv_skg import (
    PrivSkg,
    count_stars,
    draw_kronecker,
    expect_counts,
    find_most_shared,
    fit_initiator,
    keep_busiest,
)
from core.graph import Graph
from core.privacy.budget import Account
from core.privacy.claim_check import check_claim
from core.privacy.guarantees import EDGE
from core.seeding import Seed
from core.threats import Threats


def publish(graph, seed=0, **fields):
    return PrivSkg(**fields).publish(graph, Threats(graph), Context(Seed(seed)))


def make_chances(a, b, c, power):
    chances = np.ones((1, 1))
    for _ in range(power):
        chances = np.kron(chances, [[a, b], [b, c]])
    return chances


def expect_plainly(chances):
    """Sums over all pairs, and over all pairs, triples of other ends at each node."""
    nodes = range(len(chances))
    links = sum(chances[i, j] for i, j in combinations(nodes, 2))
    pairs = triples = 0.0
    for i in nodes:
        others = [chances[i, j] for j in nodes if j != i]
        pairs += sum(x * y for x, y in combinations(others, 2))
        triples += sum(x * y * z for x, y, z in combinations(others, 3))
    corners = combinations(nodes, 3)
    triangles = sum(chances[i, j] * chances[j, k] * chances[i, k] for i, j, k in corners)
    return links, pairs, triples, triangles


@pytest.mark.parametrize("power", [2, 3, 4])
@pytest.mark.parametrize("initiator", [(0.9, 0.5, 0.2), (0.99, 0.3, 0.7)])
def test_expected_counts_are_those_of_a_plain_sum(initiator, power):
    expected = expect_plainly(make_chances(*initiator, power))
    np.testing.assert_allclose(expect_counts(*initiator, power), expected, rtol=1e-9)


@pytest.mark.parametrize("initiator", [(0.95, 0.5, 0.2), (0.8, 0.6, 0.4)])
def test_the_fit_finds_the_initiator_that_expects_the_counts(initiator):
    found = fit_initiator(expect_counts(*initiator, 12), 12)
    assert found == pytest.approx(initiator, abs=0.02)


def test_pairs_are_drawn_in_proportion_to_the_power():
    initiator, chances = (0.9, 0.4, 0.3), make_chances(0.9, 0.4, 0.3, 3)
    drawn = [draw_kronecker(initiator, 3, 1, np.random.default_rng(s)) for s in range(6000)]
    counts = np.zeros((8, 8))
    for ((i, j),) in drawn:
        counts[i, j] += 1
    pairs = np.triu_indices(8, 1)
    expected = chances[pairs] / chances[pairs].sum() * len(drawn)
    assert stats.chisquare(counts[pairs], expected).pvalue > 1e-3
    many = draw_kronecker(initiator, 6, 300, np.random.default_rng(0))
    assert len(many) == len({tuple(pair) for pair in many.tolist()}) == 300


def test_the_busiest_nodes_stay():
    links = np.array([[0, 5], [5, 6], [5, 7], [6, 7], [1, 2]])
    kept = keep_busiest(links, 8, 3, np.random.default_rng(0))
    assert sorted(np.bincount(kept.ravel(), minlength=3)) == [2, 2, 2]


@settings(max_examples=30)
@given(st.integers(4, 25), st.integers(0, 99))
def test_counts_of_shapes_and_shared_neighbours_are_networkx_ones(n, seed):
    graph = Graph.from_pairs(np.random.default_rng(seed).integers(0, n, (2 * n, 2)), n)
    network = graph.to_networkx()
    near = [set(network[node]) for node in network]
    expected = max(len(x & y) for x, y in combinations(near, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.defenses.priv_skg.TILE_ENTRIES", 20)
        assert find_most_shared(graph, Context(Seed(0))) == expected
    stars = [sum(1 for _ in combinations(range(len(s)), k)) for s in near for k in (2, 3)]
    counts = count_stars(graph.degrees.astype(float))
    assert counts == (graph.num_edges, max(sum(stars[::2]), 1), max(sum(stars[1::2]), 1))


@settings(max_examples=40)
@given(st.integers(4, 12), st.integers(0, 999))
def test_one_link_changes_triangles_by_the_local_bound_and_that_by_one(n, seed):
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(rng.integers(0, n, (3 * n, 2)), n)
    less = graph.without_edges(graph.edges[seed % graph.num_edges][None])
    bounds = [find_most_shared(g, Context(Seed(0))) for g in (graph, less)]
    triangles = [sum(nx.triangles(g.to_networkx()).values()) / 3 for g in (graph, less)]
    assert abs(triangles[0] - triangles[1]) <= min(bounds)
    assert abs(bounds[0] - bounds[1]) <= 1


@pytest.mark.parametrize("local", [0, 3, 40])
def test_smooth_noise_is_worth_its_epsilon_and_delta(local, monkeypatch):
    """δ of the two laws by integration, the value and the local bound moved as far as may be."""
    scales = []
    monkeypatch.setattr(
        "core.privacy.budget.add_laplace", lambda v, scale, *rest: scales.append(scale) or v
    )
    for bound in (local, local + 1):
        account = Account(EDGE, 1.0, Context(Seed(0)), 1e-3)
        account.add_smooth_noise(10.0, bound, 60, 1, "triangles")
    x = np.linspace(-800, 800, 800_001) * scales[0] / 20
    for first, second in ((0, 1), (1, 0)):
        p = stats.laplace.pdf(x, 0, scales[first])
        q = stats.laplace.pdf(x, local, scales[second])
        excess = np.maximum(p - np.exp(1.0) * q, 0).sum() * (x[1] - x[0])
        assert excess <= 1e-3
    # Not by far too much noise: the authors' scale where the bound here is what counts.
    if local == 40:
        assert scales[0] == pytest.approx(2 * 40, rel=0.01)


def test_counts_of_the_graph_are_kept_at_a_large_budget():
    links = draw_kronecker((0.95, 0.55, 0.25), 9, 2000, np.random.default_rng(0))
    graph = Graph.from_pairs(links, 512)
    release = publish(graph, epsilon=100.0).graph
    assert release.num_edges == pytest.approx(graph.num_edges, rel=0.1)
    counts = [np.array(count_stars(g.degrees.astype(float))) for g in (graph, release)]
    np.testing.assert_allclose(counts[1], counts[0], rtol=0.6)
    free = publish(graph, epsilon=100.0, data_free=True).graph
    assert count_stars(free.degrees.astype(float))[2] < 0.5 * counts[0][2]


def test_the_claim_is_not_refuted_and_a_sixteenth_of_the_noise_is(monkeypatch):
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [4, 5]])
    neighbors = tuple(Graph.from_pairs(pairs[first:], 6) for first in (0, 1))
    game = {"neighbors": neighbors, "trials": 400}
    monkeypatch.setattr("core.defenses.priv_skg.product", lambda *grid: [(0.8, 0.5, 0.3)])
    assert not check_claim(PrivSkg(epsilon=1.0), Context(Seed(3)), **game).is_refuted
    take = Account._take
    monkeypatch.setattr(Account, "_take", lambda *arguments: 16 * take(*arguments))
    assert check_claim(PrivSkg(epsilon=1.0), Context(Seed(3)), **game).is_refuted
