"""Long lists of pairs are cut into parts of bounded work."""

from __future__ import annotations

import numpy as np
import pytest

from core.algorithms.pairs import split_by_work


@pytest.mark.parametrize("most", [1, 7, 30, 10_000])
def test_parts_are_in_order_bounded_and_no_smaller_than_need_be(most):
    entries = np.random.default_rng(0).integers(0, 9, 200)
    parts = split_by_work(entries, most)
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(200))
    assert max(entries[part].sum() for part in parts) <= most + entries.max()
    # as many parts as the work fills, not one for each pair
    assert len(parts) <= entries.sum() // most + 1


def test_equal_pairs_fill_each_part():
    parts = split_by_work(np.full(12, 5), 20)
    assert max(map(len, parts)) == 4
    assert len(parts) <= 4


def test_no_pairs_are_one_empty_part():
    assert [part.tolist() for part in split_by_work(np.zeros(0), 5)] == [[]]
