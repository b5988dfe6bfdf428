"""Coarser values: how many people share each, and that no finer steps would do."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from core.data.coarsening import OTHER, coarsen_names, coarsen_numbers
from core.errors import InputError

DRAWS = {
    "ages": lambda rng, n: rng.integers(0, 95, n).astype(float),
    "incomes": lambda rng, n: np.round(rng.lognormal(10, 1, n), 2),
    "shares": lambda rng, n: rng.beta(2, 20, n),
    "signed": lambda rng, n: rng.normal(0, 40, n).round(1),
    "counts": lambda rng, n: rng.poisson(0.4, n).astype(float),
    "flags": lambda rng, n: (rng.random(n) < 0.02).astype(float),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("people", [2, 5, 20])
def test_enough_people_share_each_number(name, people):
    for seed in range(5):
        values = DRAWS[name](np.random.default_rng(seed), 200)
        values[:7] = np.nan
        coarse = coarsen_numbers(values, people)
        assert np.isnan(coarse).nonzero()[0].tolist() == list(range(7))
        sizes = Counter(coarse[7:].tolist())
        assert min(sizes.values()) >= people
        # Order is kept, and equal values stay equal.
        order = np.argsort(values[7:], kind="stable")
        assert (np.diff(coarse[7:][order]) >= 0).all()
        for value in np.unique(values[7:]):
            assert len(set(coarse[7:][values[7:] == value].tolist())) == 1


def entropy(coarse):
    shares = np.unique(coarse, return_counts=True)[1] / len(coarse)
    return float(-(shares * np.log(shares)).sum())


@pytest.mark.parametrize("name", ["ages", "incomes", "signed"])
def test_no_steps_with_open_ends_tell_more(name):
    """Every width, every first and last range, tried one by one."""
    people, rng = 6, np.random.default_rng(3)
    values = DRAWS[name](rng, 80)
    best = 0.0
    span = values.max() - values.min()
    for power in range(-6, 8):
        for width in (10.0**power, 2 * 10.0**power, 5 * 10.0**power):
            if not span / 2000 < width < 20 * span:
                continue
            bins = np.floor(values / width + 1e-9)
            used = np.unique(bins)
            for first in range(len(used)):
                for last in range(first, len(used)):
                    merged = np.clip(bins, used[first], used[last])
                    if np.unique(merged, return_counts=True)[1].min() >= people:
                        best = max(best, entropy(merged))
    assert entropy(coarsen_numbers(values, people)) >= 0.9 * best


def test_values_that_enough_people_share_stay():
    values = np.repeat([1.5, 3.0, 7.25], 4)
    assert coarsen_numbers(values, 4).tolist() == values.tolist()
    assert coarsen_numbers(values, 5).tolist() != values.tolist()


def test_a_rare_flag_tells_nothing():
    values = np.zeros(50)
    values[:3] = 1
    assert set(coarsen_numbers(values, 4).tolist()) == {0.0}
    assert set(coarsen_numbers(values, 3).tolist()) == {0.0, 1.0}


def test_inputs_are_not_changed():
    values = np.arange(20.0)
    coarsen_numbers(values, 5)
    assert values.tolist() == list(range(20))


def test_the_rarest_names_are_merged_until_enough_people_share_them():
    names, sizes = list("abcdef"), [50, 4, 30, 3, 9, 40]
    assert coarsen_names(names, sizes, 5) == ["a", OTHER, "c", OTHER, "e", "f"]
    assert coarsen_names(names, sizes, 8) == ["a", OTHER, "c", OTHER, OTHER, "f"]
    assert coarsen_names(names, sizes, 3) == names
    assert coarsen_names(["a", "b"], [9, 2], 3) == [OTHER, OTHER]


@pytest.mark.parametrize("people", [2, 7, 20])
def test_enough_people_share_each_name(people):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sizes = rng.geometric(0.1, 12)
        new = coarsen_names([str(i) for i in range(12)], sizes, people)
        held = Counter()
        for name, size in zip(new, sizes, strict=True):
            held[name] += int(size)
        assert min(held.values()) >= people


def test_fewer_people_than_asked_for():
    values = np.full(30, np.nan)
    values[:4] = 1.0
    with pytest.raises(InputError, match="at least 5 people"):
        coarsen_numbers(values, 5)
    with pytest.raises(InputError, match="withhold the column"):
        coarsen_names(["a", "b"], [2, 2], 5)
