"""The gap between groups: a planted one is found, and noise makes none."""

from __future__ import annotations

import numpy as np
import pytest

from core.measures.groups import MIN_GROUP, measure_group_gap
from core.seeding import mix_bits


def test_a_planted_gap_is_measured():
    rng = np.random.default_rng(0)
    codes = np.arange(400) % 4
    gain = rng.normal(0, 0.1, 400) + np.array([0.0, 0.3, 0.0, 0.0])[codes]
    found = measure_group_gap(np.arange(400), gain, [rng.integers(0, 3, 400), codes])
    assert found.value == pytest.approx(0.3, abs=0.05)
    assert found.variance**0.5 < 0.04


def test_equals_a_loop_on_two_groups():
    rng = np.random.default_rng(1)
    codes, gain, nodes = np.arange(60) % 2, rng.normal(size=60), np.arange(60)
    half = (mix_bits(nodes) & np.uint64(1)).astype(int)
    values = []
    for chosen in (0, 1):
        means = [
            np.mean([gain[i] for i in nodes if half[i] == chosen and codes[i] == c]) for c in (0, 1)
        ]
        high, low = int(np.argmax(means)), int(np.argmin(means))
        other = [
            np.mean([gain[i] for i in nodes if half[i] != chosen and codes[i] == c]) for c in (0, 1)
        ]
        values.append(other[high] - other[low])
    found = measure_group_gap(nodes, gain, [codes])
    assert found.value == pytest.approx(np.mean(values))


def test_noise_makes_no_gap_on_average_though_the_largest_difference_is_large():
    rng = np.random.default_rng(2)
    gaps, largest = [], []
    for _ in range(60):
        codes, gain = rng.integers(0, 12, 300), rng.normal(0, 0.2, 300)
        gaps.append(measure_group_gap(np.arange(300), gain, [codes]).value)
        means = [gain[codes == c].mean() for c in range(12)]
        largest.append(max(means) - min(means))
    assert abs(np.mean(gaps)) < 0.02
    assert np.mean(largest) > 0.1


def test_small_groups_are_left_out():
    nodes, gain = np.arange(30), np.zeros(30)
    codes = (nodes < MIN_GROUP - 1).astype(int)
    gain[codes == 1] = 1.0
    assert measure_group_gap(nodes, gain, [codes]).value is None
    assert measure_group_gap(nodes, gain, [np.full(30, -1)]).value is None
