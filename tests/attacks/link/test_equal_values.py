"""Rare values in common tell of links, whatever the numbers mean."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.context import Context
from core.graph import Graph
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS


def score(key, graph, pairs):
    threat = LinkThreat(np.asarray(pairs), np.empty((0, 2), np.int64), 0.1)
    return make_method(key).score(Release(graph), threat, Context(Seed(0))).scores


def test_each_value_in_common_weighs_what_its_rarity_says():
    """Weights of agreement of Fellegi and Sunter, log m/u with m = p and u = p², by a loop."""
    rng = np.random.default_rng(0)
    features = np.stack([rng.integers(1, 5, 30), rng.integers(1, 20, 30), rng.random(30)], 1)
    features = features.astype(np.float32)
    pairs = np.stack(np.triu_indices(30, 1), 1)
    expected = np.zeros(len(pairs))
    for number, (i, j) in enumerate(pairs.tolist()):
        for column in features.T:
            if column[i] == column[j]:
                share = np.mean(column == column[i])
                expected[number] += np.log(share / share**2)
    for values in (features, sparse.csr_array(features)):
        found = score("equal_values", Graph.from_pairs([[0, 1]], 30, features=values), pairs)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_number_of_a_household_tells_its_members():
    rng = np.random.default_rng(1)
    home = np.repeat(np.arange(40), 5)
    numbers = rng.permutation(np.arange(1000, 9999))[home]
    features = np.stack([numbers, rng.integers(18, 90, 200), rng.normal(size=200)], 1)
    graph = Graph.from_pairs([[0, 1]], 200, features=features)
    pairs = np.stack(np.triu_indices(200, 1), 1)
    same = home[pairs[:, 0]] == home[pairs[:, 1]]
    found = score("equal_values", graph, pairs)
    assert (found[same] > np.quantile(found[~same], 0.99)).mean() > 0.99
    cosine = score("feature_cosine", graph, pairs)
    assert (cosine[same] > np.quantile(cosine[~same], 0.99)).mean() < 0.2


def test_missing_marks_are_no_agreement():
    marks = np.zeros((6, 4), np.float32)
    marks[:2, 0] = marks[1:4, 1] = 1
    pairs = [[0, 1], [1, 2], [4, 5], [0, 5]]
    expected = [np.log(3), np.log(2), 0, 0]
    for features in (marks, sparse.csr_array(marks)):
        graph = Graph.from_pairs([[0, 1]], 6, features=features)
        np.testing.assert_allclose(score("equal_values", graph, pairs), expected, atol=1e-12)


def test_columns_whose_values_all_differ_say_nothing():
    features = np.random.default_rng(2).normal(size=(20, 3))
    graph = Graph.from_pairs([[0, 1]], 20, features=features)
    assert not score("equal_values", graph, np.stack(np.triu_indices(20, 1), 1)).any()


def test_a_graph_without_features_is_declined():
    threat = LinkThreat(np.array([[0, 1]]), np.array([[2, 3]]), 0.1)
    assert "needs features" in make_method("equal_values").supports(
        Release(GRAPHS["star"]()), threat
    )
