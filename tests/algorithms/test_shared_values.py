"""Values in common against a loop over columns."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import sparse

from core.algorithms.shared_values import tabulate_shared_values


def list_by_loop(features, counts_zero) -> list[tuple[int, tuple[int, ...]]]:
    """Column and nodes of every value that two nodes or more have."""
    found = []
    for place, column in enumerate(features.T.tolist()):
        for value, count in Counter(column).items():
            if count > 1 and (value != 0 or counts_zero[place]):
                nodes = tuple(i for i, each in enumerate(column) if each == value)
                found.append((place, nodes))
    return sorted(found)


def list_found(features) -> list[tuple[int, tuple[int, ...]]]:
    table, columns = tabulate_shared_values(features)
    assert table.dtype == np.float64
    assert set(table.data.tolist()) <= {1.0}
    assert (np.diff(columns) >= 0).all()
    nodes = [tuple(np.flatnonzero(row).tolist()) for row in table.toarray().T]
    return sorted(zip(columns.tolist(), nodes, strict=True))


def make_features() -> np.ndarray:
    rng = np.random.default_rng(0)
    table = [rng.integers(-2, 3, 60), rng.integers(0, 40, 60), rng.random(60) < 0.3]
    table += [rng.normal(size=60), np.full(60, 7), np.zeros(60), rng.integers(0, 2, 60) * -0.5]
    return np.stack(table, 1).astype(np.float32)


def test_dense_values_are_those_of_a_loop_and_a_missing_mark_is_none():
    # Column 2 is a mark, column 5 has nobody with one; 0 and −0.5 are two values.
    features = make_features()
    features[:4, 0] = [0.0, -0.0, 0.0, -0.0]
    expected = list_by_loop(features, [True, True, False, True, True, False, True])
    assert list_found(features) == expected
    assert {column for column, _ in expected} == {0, 1, 2, 4, 6}


def test_zeros_of_sparse_features_are_no_values():
    features = make_features()
    stored = sparse.csr_array(features)
    stored.data[:5] = 0  # a zero may be stored
    assert list_found(stored) == list_by_loop(stored.toarray(), [False] * 7)


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (1, 2)])
def test_nothing_in_common_is_an_empty_table(shape):
    for features in (np.ones(shape, np.float32), sparse.csr_array(np.ones(shape, np.float32))):
        table, columns = tabulate_shared_values(features)
        assert table.shape == (shape[0], 0)
        assert columns.shape == (0,)


def test_features_stay_as_they_are():
    dense = make_features()
    stored = sparse.csr_array(dense)
    before = dense.copy(), stored.data.copy()
    for features in (dense, stored):
        tabulate_shared_values(features)
    np.testing.assert_array_equal(dense, before[0])
    np.testing.assert_array_equal(stored.data, before[1])
