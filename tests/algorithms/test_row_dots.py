from itertools import product

import numpy as np
import pytest
from scipy import sparse

from core.algorithms import row_dots
from core.algorithms.row_dots import compute_row_dots
from core.context import Context
from core.seeding import Seed
from tests.oracles.progress import RecordingProgress


def make_rows(seed, count=30, width=12):
    """Sparse rows, the first of them empty, with indices in no order."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(count, width)) * (rng.random((count, width)) < 0.4)
    dense[0] = 0.0
    rows = sparse.csr_array(dense)
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        order = rng.permutation(end - start) + start
        rows.indices[start:end], rows.data[start:end] = rows.indices[order], rows.data[order]
    return rows, dense


@pytest.mark.parametrize("tile", [row_dots.TILE, 7])
def test_equals_products_of_dense_rows_in_any_tile(tile, monkeypatch):
    monkeypatch.setattr(row_dots, "TILE", tile)
    (left, dense_left), (right, dense_right) = make_rows(0), make_rows(1)
    pairs = np.random.default_rng(2).integers(0, 30, (200, 2))
    progress = RecordingProgress()
    found = compute_row_dots(left, right, pairs, Context(Seed(0), progress=progress), "rows")
    expected = (dense_left[pairs[:, 0]] * dense_right[pairs[:, 1]]).sum(axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.abs(expected).max() > 1
    assert progress.updates[-1] == (200, 200, "rows")


def test_no_pairs():
    rows, _ = make_rows(0)
    assert len(compute_row_dots(rows, rows, np.empty((0, 2), np.int64), Context(Seed(0)), "")) == 0


def test_the_loop_is_compiled_once_for_all_kinds_of_arrays():
    rows, _ = make_rows(0)
    wide, frozen = rows.copy(), rows.copy()
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    for part in (frozen.indptr, frozen.indices, frozen.data):
        part.flags.writeable = False
    for left, right in product((rows, wide, frozen), repeat=2):
        assert len(compute_row_dots(left, right, np.array([[0, 1]]), Context(Seed(0)), "")) == 1
    assert len(row_dots._dot_rows.signatures) == 1
    parts = (wide.indptr, wide.indices, wide.data)
    assert all(part.flags.writeable for part in parts), "the caller's arrays stay as they were"
