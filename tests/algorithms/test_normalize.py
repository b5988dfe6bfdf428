"""Adjacency matrices scaled by degrees, against a naive loop."""

import numpy as np
import pytest
from scipy import sparse

from core.algorithms.normalize import normalize_adjacency, normalize_rows


def normalize_naively(dense, norm, self_loops):
    dense = dense + np.eye(len(dense)) * self_loops
    sums = dense.sum(axis=1)
    out = np.zeros_like(dense)
    for i in range(len(dense)):
        for j in range(len(dense)):
            if dense[i, j]:
                across = {"none": 1.0, "row": sums[i], "symmetric": (sums[i] * sums[j]) ** 0.5}
                out[i, j] = dense[i, j] / across[norm]
    return out


@pytest.mark.parametrize("norm", ["none", "row", "symmetric"])
@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matches_a_naive_loop(norm, self_loops, dtype):
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((9, 9)) * (rng.random((9, 9)) < 0.4), 1)
    weights[2] = weights[:, 2] = 0.0  # nobody's neighbour
    dense = weights + weights.T
    matrix = sparse.csr_array(dense)
    found = normalize_adjacency(matrix, norm, self_loops, dtype)
    assert found.dtype == dtype
    assert found.has_sorted_indices
    np.testing.assert_allclose(
        found.toarray(), normalize_naively(dense, norm, self_loops), rtol=1e-6
    )
    np.testing.assert_array_equal(matrix.toarray(), dense)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_get_unit_length_and_zeros_stay(make):
    rows = np.array([[3.0, -4.0], [0.0, 0.0], [0.0, 0.5]])
    found = normalize_rows(make(rows))
    found = found if isinstance(found, np.ndarray) else found.toarray()
    np.testing.assert_allclose(found, [[0.6, -0.8], [0.0, 0.0], [0.0, 1.0]])
