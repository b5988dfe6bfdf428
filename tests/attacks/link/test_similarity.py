"""Cosines and the linear classifier on embeddings, against NumPy and the concatenated form."""

from __future__ import annotations

import numpy as np
from sklearn.svm import LinearSVC

from core.algorithms.pairs import draw_training_pairs
from core.attacks.link.node2vec_cosine import compute_cosines
from core.attacks.link.similarity import compute_svc_scores
from core.context import Context
from core.graph import Graph
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS


def test_cosines_equal_the_formula_and_are_zero_for_zero_vectors():
    vectors = np.random.default_rng(0).normal(size=(9, 5)).astype(np.float32)
    vectors[4] = 0
    pairs = np.stack(np.triu_indices(9, 1), 1)
    for (i, j), value in zip(pairs, compute_cosines(vectors, pairs, tile=4), strict=True):
        a, b = vectors[i].astype(float), vectors[j].astype(float)
        expected = 0 if 4 in (i, j) else a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        np.testing.assert_allclose(value, expected, atol=1e-7)


def test_classifier_on_sums_equals_linear_svc_on_concatenations_in_both_orders():
    graph = GRAPHS["two_communities"]()
    rng = np.random.default_rng(0)
    # Well-linked nodes lie far out along the first axis: something a linear classifier can use.
    vectors = rng.normal(size=(graph.num_nodes, 3))
    vectors[:, 0] += graph.degrees
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)
    context = Context(Seed(0))
    scores = compute_svc_scores(graph, vectors, pairs, context)
    links, absent = draw_training_pairs(graph, 10_000, context.rng("pairs"))
    ends = np.concatenate([links, absent])
    sums = vectors[ends].sum(axis=1)
    unit = (vectors - sums.mean(axis=0) / 2) / sums.std(axis=0)
    both = np.concatenate([ends, ends[:, ::-1]])
    oracle = LinearSVC(dual=False, tol=1e-8, intercept_scaling=100.0)
    oracle.fit(unit[both].reshape(len(both), -1), np.tile(np.arange(len(ends)) < len(links), 2))
    expected = oracle.decision_function(unit[pairs].reshape(len(pairs), -1))
    assert np.corrcoef(scores, expected)[0, 1] > 0.9999
    np.testing.assert_allclose(np.ptp(scores), np.ptp(expected), rtol=0.02)


def test_training_pairs_are_balanced_limited_and_true_to_the_release():
    graph = GRAPHS["two_communities"]()
    links, absent = draw_training_pairs(graph, 50, np.random.default_rng(0))
    assert len(links) == len(absent) == 50
    assert graph.contains_pairs(links).all()
    assert not graph.contains_pairs(absent).any()


def test_links_of_weight_zero_are_not_learnt_as_links():
    graph = GRAPHS["weighted"]()
    weights = graph.weights.copy()
    weights[::2] = 0
    links, _ = draw_training_pairs(
        graph.with_edges(graph.edges, weights), 10_000, np.random.default_rng(0)
    )
    np.testing.assert_array_equal(links, graph.edges[1::2])


def test_nothing_to_learn_from_gives_constant_scores():
    pairs = np.array([[0, 1], [1, 2]])
    for links in (np.empty((0, 2)), [[0, 1], [0, 2], [1, 2]]):
        scores = compute_svc_scores(Graph.from_pairs(links, 3), np.eye(3), pairs, Context(Seed(0)))
        assert (scores == scores[0]).all()
