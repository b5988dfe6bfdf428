"""Exact values are names: what the known nodes with the same one have is looked up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.algorithms.shared_values import tabulate_shared_values
from core.attacks.attribute.feature_boosting import FeatureBoosting
from core.attacks.attribute.feature_regression import FeatureRegression
from core.attacks.attribute.value_lookup import ValueLookup, count_classes, predict, rank_columns
from tests.attacks.attribute.test_feature_boosting import make_graph, measure_auc

RNG = np.random.default_rng(3)
CODES = RNG.integers(-1, 2, 60)
NOISE = np.array([0.05, 0.3, 0.7, 0.9, 0.9, 0.9])
FEATURES = np.where(RNG.random((60, 6)) < NOISE, RNG.integers(3, 6, (60, 6)), CODES[:, None] + 6)
"""Columns that tell less and less of the codes, −1 where unknown; the last value of one is rare."""
FEATURES[0, 1] = 99


def count() -> tuple[sparse.csr_array, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    table, columns = tabulate_shared_values(FEATURES.astype(np.float32))
    return table, columns, count_classes(table, CODES, 2)


PRIOR = (np.bincount(CODES + 1, minlength=3)[1:] + 1) / ((CODES >= 0).sum() + 2)


def share_by_loop(column, node, nodes, weight) -> np.ndarray:
    """(2,) m-estimate of the class shares among known ones of `nodes` with the value of `node`."""
    own = [CODES[i] for i in nodes if column[i] == column[node] and CODES[i] >= 0]
    counts = np.array([own.count(0), own.count(1)])
    return (counts + weight * PRIOR) / (len(own) + weight)


@pytest.mark.parametrize("weight", [0.5, 8.0])
def test_columns_combine_as_naive_bayes_of_shares_drawn_towards_the_prior(weight):
    table, columns, found = count()
    expected = np.tile(PRIOR, (60, 1))
    for column in FEATURES.T[:2]:
        for node in range(60):
            if (column == column[node]).sum() > 1:
                expected[node] *= share_by_loop(column, node, range(60), weight) / PRIOR
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predict(table, found, columns, weight, 2), expected, rtol=1e-12)
    nothing = predict(table, found, columns, weight, 0)
    np.testing.assert_allclose(nothing, np.tile(PRIOR, (60, 1)), rtol=1e-12)


@pytest.mark.parametrize("weight", [0.5, 8.0])
def test_columns_are_ranked_by_what_the_other_known_nodes_tell(weight):
    _, columns, found = count()
    saved = []
    for column in FEATURES.T:
        gain = 0.0
        for node in np.flatnonzero(CODES >= 0).tolist():
            if (column == column[node]).sum() > 1:
                others = [i for i in range(60) if i != node]
                shares = share_by_loop(column, node, others, weight)
                gain += np.log(shares[CODES[node]] / PRIOR[CODES[node]])
        saved.append(gain)
    ranks = rank_columns(found, columns, weight)
    order = [k for k in np.argsort(-np.array(saved)).tolist() if saved[k] > 0]
    assert order[:2] == [0, 1]
    assert 2 <= len(order) < 6
    assert [ranks.tolist().index(k) for k in range(len(order))] == order
    assert np.isinf(np.delete(ranks, order)).all()


def make_codes():
    """A class by the code of a clinic, one of 100, which says nothing as a quantity."""
    rng = np.random.default_rng(4)
    clinic = rng.integers(0, 100, 1000)
    codes = rng.integers(0, 2, 100)[clinic]
    numbers = rng.permutation(np.arange(10_000, 99_999))[clinic]
    return codes, np.stack([rng.normal(size=1000), numbers, rng.integers(0, 50, 1000)], 1)


def test_codes_written_as_numbers_are_looked_up():
    codes, features = make_codes()
    graph = make_graph(codes, features)
    auc, found = measure_auc(ValueLookup(), graph)
    assert auc > 0.95
    assert found.facts == {"prior_weight": 0.5, "columns": 1.0}
    assert measure_auc(FeatureRegression(), graph)[0] < 0.65
    assert measure_auc(FeatureBoosting(), graph)[0] < 0.9


def test_words_are_looked_up_in_sparse_features():
    rng = np.random.default_rng(5)
    codes = np.arange(400) % 2
    words = rng.random((400, 200)) < np.where(np.arange(200) % 2 == codes[:, None], 0.06, 0.03)
    auc, found = measure_auc(ValueLookup(), make_graph(codes, sparse.csr_array(words, dtype=float)))
    assert auc > 0.75
    assert found.facts["columns"] > 8


def test_noise_keeps_the_class_shares():
    """On held-out nodes of three graphs in four; some column of twenty always tells known ones."""
    kept = []
    for seed in range(4):
        features = np.random.default_rng(seed).integers(0, 30, (300, 20))
        auc, found = measure_auc(ValueLookup(), make_graph(np.arange(300) % 2, features))
        assert abs(auc - 0.5) < 0.1
        kept.append(np.abs(found.probabilities - 0.5).mean() < 0.01)
    assert sum(kept) >= 3


def test_links_are_never_read():
    codes, features = make_codes()
    graph = make_graph(codes, features)
    _, first = measure_auc(ValueLookup(), graph)
    _, second = measure_auc(ValueLookup(), graph.with_edges(graph.edges[:5]))
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
