import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.algorithms.ghratio import choose_tolerance, compute_ghratios
from core.graph import Graph
from core.measures.structure import measure_ghratios
from tests.oracles.graphs import GRAPHS


def brute_force(graph, codes, tolerance):
    """Eq. 3–5 word by word with n×n comparisons."""
    n = graph.num_nodes
    linked = np.zeros((n, n), bool)
    for row, (i, j) in enumerate(graph.edges):
        linked[i, j] = linked[j, i] = graph.weights is None or graph.weights[row] > 0
    degrees = linked.sum(1)
    result = np.full((3, n), np.nan)
    for i in range(n):
        if codes[i] < 0:
            continue
        peers = np.abs(degrees - degrees[i]) <= tolerance
        for row, members in enumerate((linked[i], peers, linked[i] | peers)):
            chosen = [j for j in range(n) if members[j] and j != i and codes[j] >= 0]
            if chosen:
                result[row, i] = np.mean([codes[j] == codes[i] for j in chosen])
    return result


@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 4), st.integers(0, 6))
@settings(max_examples=150)
def test_equals_brute_force(seed, n, num_classes, tolerance):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n, (rng.integers(0, 3 * n), 2))
    weights = rng.choice([0.0, 0.4, 1.0], len(pairs)) if seed % 2 else None
    graph = Graph.from_pairs(pairs, n, weights=weights)
    codes = rng.integers(-1, num_classes, n)
    ratios = compute_ghratios(graph, codes, num_classes, tolerance)
    expected = brute_force(graph, codes, tolerance)
    for name, values in zip(("proximity", "role", "combined"), expected, strict=True):
        np.testing.assert_allclose(getattr(ratios, name), values, err_msg=name)


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_named_graphs_and_their_means(name):
    graph = GRAPHS[name]()
    attribute = graph.column("private")
    tolerance = choose_tolerance(graph)
    ratios = compute_ghratios(graph, attribute.codes, attribute.num_classes, tolerance)
    expected = brute_force(graph, attribute.codes, tolerance)
    np.testing.assert_allclose(ratios.combined, expected[2])
    measured = {m.metric: m for m in measure_ghratios(ratios, attribute.codes, attribute.shares)}
    assert measured["ghratio_role"].value == pytest.approx(np.nanmean(expected[1]))
    defined = ~np.isnan(expected[1])
    assert measured["ghratio_role"].n == defined.sum()
    gap = expected[1][defined] - attribute.shares[attribute.codes[defined]]
    assert measured["ghratio_role_gap"].value == pytest.approx(gap.mean())


def test_worked_example():
    """A star whose centre is a: leaves see a different neighbour and three equal peers."""
    graph = Graph.from_pairs(np.array([[0, 1], [0, 2], [0, 3], [0, 4]]), 6)
    codes = np.array([0, 1, 1, 1, -1, 0])
    ratios = compute_ghratios(graph, codes, 2, 0)
    np.testing.assert_array_equal(ratios.proximity, [0, 0, 0, 0, np.nan, np.nan])
    np.testing.assert_array_equal(ratios.role, [np.nan, 1, 1, 1, np.nan, np.nan])
    np.testing.assert_allclose(ratios.combined, [0, 2 / 3, 2 / 3, 2 / 3, np.nan, np.nan])


def test_nothing_defined_is_missing_with_a_reason():
    graph = Graph.from_pairs(np.zeros((0, 2), int), 3)
    ratios = compute_ghratios(graph, np.array([-1, -1, 0]), 2, 0)
    assert all(
        m.value is None and m.reason
        for m in measure_ghratios(ratios, np.zeros(3, int), np.array([1.0, 0.0]))
    )
