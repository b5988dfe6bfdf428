"""Paired differences against scipy's test, and what pairing is good for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.measures.paired import compare_repeats


def number(values):
    return dict(enumerate(map(float, values)))


def test_equals_scipys_paired_interval():
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=6), rng.normal(0.3, 1, size=6)
    found = compare_repeats(number(before), number(after))
    expected = stats.ttest_rel(after, before).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.seeds == 6


def test_a_difference_within_splits_is_seen_though_splits_differ_more():
    splits = np.array([0.6, 0.8, 0.7, 0.9, 0.65])
    after = splits - 0.03 + np.array([1, -1, 0, 1, -1]) * 0.002
    found = compare_repeats(number(splits), number(after))
    assert found.high < 0
    alone = 2.776 * splits.std(ddof=1) / 5**0.5
    assert alone > 0.1  # their own intervals overlap


def test_only_repeats_in_common_count():
    found = compare_repeats({0: 0.5, 1: 0.6, 2: 0.9}, {1: 0.5, 2: 0.7, 5: 0.1})
    assert found.value == pytest.approx(-0.15)
    assert found.seeds == 2
    one = compare_repeats({0: 0.5}, {0: 0.4})
    assert (one.value, one.low) == (pytest.approx(-0.1), None)
    assert compare_repeats({0: 0.5}, {1: 0.4}).value is None


def test_the_interval_covers_the_expected_difference_as_often_as_it_says():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(600):
        split = rng.normal(0.7, 0.1, 5)
        before, after = split + rng.normal(0, 0.02, 5), split - 0.05 + rng.normal(0, 0.02, 5)
        found = compare_repeats(number(before), number(after))
        covered += found.low <= -0.05 <= found.high
    assert covered / 600 == pytest.approx(0.95, abs=0.03)
