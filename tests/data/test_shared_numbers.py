"""Numbers of two graphs in the same classes, cut at the same borders."""

from __future__ import annotations

import numpy as np

from core.data.shared_numbers import bin_like
from core.node_column import MISSING, NodeColumn

AGES = NodeColumn.from_values("age", np.arange(100.0) + 0.5)
"""Cut into quarters: up to 24.5, 49.5, 74.5 and 99.5."""


def test_another_graphs_numbers_are_cut_at_the_first_ones_borders():
    old = NodeColumn.from_values("age", np.arange(60.0, 160.0) + 0.25)
    assert old.num_classes == AGES.num_classes == 4
    assert not set(old.classes) & set(AGES.classes)
    found = bin_like(old, AGES)
    assert found.classes == AGES.classes
    assert found.codes.tolist() == [2] * 15 + [3] * 85
    np.testing.assert_array_equal(found.values, old.values)


def test_who_has_a_number_of_the_model_gets_its_class():
    values = np.random.default_rng(0).exponential(1e-4, 300)
    model = NodeColumn.from_values("rate", values)
    order = np.random.default_rng(1).permutation(300)[:200]
    some = NodeColumn.from_values("rate", values[order])
    np.testing.assert_array_equal(bin_like(some, model).codes, model.codes[order])
    np.testing.assert_array_equal(bin_like(model, model).codes, model.codes)


def test_unknown_numbers_stay_unknown():
    column = NodeColumn.from_values("age", [*np.arange(60.0), None, ""])
    assert bin_like(column, AGES).codes[-2:].tolist() == [MISSING, MISSING]


def test_few_numbers_are_cut_though_they_are_stored_as_classes():
    column = NodeColumn("age", [0, 1, 2, MISSING], ("3", "30", "1000"))
    assert bin_like(column, AGES).codes.tolist() == [0, 1, 3, MISSING]


def test_a_class_without_anybody_gets_nobody():
    young = AGES.take(AGES.codes < 2)
    rest = AGES.take(AGES.codes > 1)
    middle = AGES.take(AGES.codes != 1)
    numbers = NodeColumn.from_values("age", np.arange(100.0))
    assert set(bin_like(numbers, young).codes) == {0, 1}
    assert set(bin_like(numbers, rest).codes) == {2, 3}
    assert set(bin_like(numbers, middle).codes) == {0, 2, 3}


def test_numbers_that_are_classes_themselves_meet_as_numbers():
    few = NodeColumn.from_values("age", [10.5, 2.5] * 20)
    found = bin_like(AGES, few)
    assert found.classes == ("2.5", "10.5")
    assert np.flatnonzero(found.known).tolist() == [2, 10]
    assert found.codes[[2, 10]].tolist() == [0, 1]


def test_other_columns_stay_as_they_are():
    words = NodeColumn("age", [0, 1], ("old", "young"))
    counts = NodeColumn("age", [0, 1], ("1", "2"))
    for column, model in ((words, AGES), (words, words), (counts, words), (counts, counts)):
        assert bin_like(column, model) is column
    assert not bin_like(AGES, words).known.any()
