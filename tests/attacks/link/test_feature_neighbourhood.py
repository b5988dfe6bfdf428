"""Features against neighbourhoods: a loop over sets, worked examples, and what must not count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.attacks.link.feature_neighbourhood import compute_neighbourhood_cosines, weigh_features
from core.context import Context
from core.graph import Graph
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS


def loop(graph: Graph, i: int, j: int) -> tuple[float, float, float]:
    """The three cosines by their definition, one node at a time."""
    x = weigh_features(graph).toarray()
    weights = graph.adjacency.toarray().astype(float)

    def around(node: int, other: int) -> np.ndarray:
        total = x[node].copy()
        for z in range(graph.num_nodes):
            if z != other:
                total += weights[node, z] * x[z]
        return total

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        norm = np.linalg.norm(a) * np.linalg.norm(b)
        return float(a @ b / norm) if norm > 1e-6 else 0.0

    si, sj = around(i, j), around(j, i)
    return cosine(x[i], x[j]), cosine(x[i], sj) + cosine(x[j], si), cosine(si, sj)


@pytest.mark.parametrize("name", ["two_communities", "weighted"])
@pytest.mark.parametrize("budget", [1 << 30, 1])
def test_equals_a_loop_over_all_pairs_in_any_tile(name, budget):
    graph = GRAPHS[name]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)[::3]
    found = compute_neighbourhood_cosines(graph, pairs, Context(Seed(0), memory_budget=budget))
    expected = np.array([loop(graph, i, j) for i, j in pairs])
    got = np.stack([found.ends, found.across, found.neighbourhoods], axis=1)
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_a_link_between_the_two_says_nothing():
    """Links of a release are judged by the same score: with and without them it is equal."""
    graph = GRAPHS["two_communities"]()
    pair = graph.edges[[7]]
    with_link = compute_neighbourhood_cosines(graph, pair, Context(Seed(0)))
    without = compute_neighbourhood_cosines(graph.without_edges(pair), pair, Context(Seed(0)))
    np.testing.assert_allclose(with_link.across, without.across, atol=1e-12)
    np.testing.assert_allclose(with_link.neighbourhoods, without.neighbourhoods, atol=1e-12)


def test_rare_marks_weigh_their_inverse_frequency_and_rows_have_unit_length():
    """Four nodes: mark a at all of them (weight log 1 = 0), b at two (log 2), c at one (log 4)."""
    marks = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 0], [1, 0, 0]] + [[0, 0, 0]] * 4, float)
    graph = Graph.from_pairs([[0, 1]], 8, features=sparse.csr_array(marks))
    rows = weigh_features(graph).toarray()
    weights = np.log(8 / np.array([4, 2, 1]))
    for node in range(4):
        expected = marks[node] * weights
        np.testing.assert_allclose(rows[node], expected / np.linalg.norm(expected))
    assert not rows[4:].any()


def test_measurements_are_standardised_so_that_units_do_not_matter():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 4))
    rows = [
        weigh_features(Graph.from_pairs([[0, 1]], 30, features=f)).toarray()
        for f in (values, values * [1, 1000, 3, 0.01] + 5)
    ]
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-4)


def test_finds_links_by_features_alone_after_all_structure_is_gone():
    """Features that follow the links of a random graph: linked nodes share a rare mark."""
    rng = np.random.default_rng(1)
    links = np.unique(np.sort(rng.integers(0, 200, (300, 2)), axis=1), axis=0)
    links = links[links[:, 0] != links[:, 1]]
    marks = np.zeros((200, len(links)))
    marks[links[:, 0], np.arange(len(links))] = marks[links[:, 1], np.arange(len(links))] = 1
    hidden, rest = links[:40], links[40:]
    graph = Graph.from_pairs(rest, 200, features=marks)
    absent = np.stack([rng.permutation(200)[:80], rng.permutation(200)[:80]], 1)
    absent = absent[absent[:, 0] != absent[:, 1]]
    threat = LinkThreat(hidden, absent, 0.1)
    scores = make_method("feature_neighbourhood").score(Release(graph), threat, Context(Seed(0)))
    assert scores.scores[threat.truth].min() > np.median(scores.scores[~threat.truth])
    bare = Release(Graph.from_pairs(rest, 200))
    assert "needs features" in make_method("feature_neighbourhood").supports(bare, threat)
