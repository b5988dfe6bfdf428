"""Cuts of long lists of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from core.algorithms.pair_tiles import split_by_work


@pytest.mark.parametrize("most", [1, 7, 30, 10_000])
def test_every_pair_is_in_one_part_in_order_and_parts_are_of_the_size(most):
    entries = np.random.default_rng(0).integers(0, 9, 200)
    parts = split_by_work(entries, most)
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(200))
    assert max(entries[part].sum() for part in parts) <= most + entries.max()


def test_no_pairs_are_one_empty_part():
    assert [part.tolist() for part in split_by_work(np.zeros(0), 5)] == [[]]
