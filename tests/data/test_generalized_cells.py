"""Cells that others generalised stand for the values that they say, and for no others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from core.data.generalized_cells import CellMatch, Values, list_incomparable
from core.graph import Graph
from core.node_column import NodeColumn

NUMBERS = ("-3", "0.1", "65", "69", "70", "10243", "10247")


def make_values(texts):
    numbers = pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(np.float32)
    return Values(np.zeros(1, np.int64), tuple(texts), numbers)


@pytest.mark.parametrize(
    ("cell", "held"),
    [
        ("[65, 70[", "65 69"),
        ("[65;70)", "65 69"),
        ("[65,70]", "65 69 70"),
        ("]65, 70]", "69 70"),
        ("(65,70]", "69 70"),
        ("(65, 70)", "69"),
        ("[65,)", "65 69 70 10243 10247"),
        ("(-inf, 65]", "-3 0.1 65"),
        ("(-∞, 65[", "-3 0.1"),
        ("65-70", "65 69 70"),
        ("65 – 69", "65 69"),
        ("65..69", "65 69"),
        ("65 to 69", "65 69"),
        ("-5--2", "-3"),
        (">=69", "69 70 10243 10247"),
        ("≥ 69", "69 70 10243 10247"),
        (">69", "70 10243 10247"),
        ("<=65", "-3 0.1 65"),
        ("≤65", "-3 0.1 65"),
        ("<65", "-3 0.1"),
        ("70+", "70 10243 10247"),
        ("up to 65", "-3 0.1 65"),
        ("above 65 up to 70", "69 70"),
        ("above 69", "70 10243 10247"),
        ("1024*", "10243 10247"),
        ("1*7", "10247"),
        ("{65, 70}", "65 70"),
        ("{65-69; <0}", "-3 65 69"),
        ("{}", ""),
        ("0.1", "0.1"),
        ("69.0", "69"),
        ("none", ""),
        ("1024", ""),
        ("*", " ".join(NUMBERS)),
        ("***", " ".join(NUMBERS)),
        ("", " ".join(NUMBERS)),
    ],
)
def test_a_cell_of_numbers(cell, held):
    values = make_values(NUMBERS)
    assert [values.texts[place] for place in values.find_held(cell)] == held.split()


@pytest.mark.parametrize(
    ("cell", "held"),
    [
        ("2001-05", "2001-05-03"),
        ("2001", "2001-05-03 2001-12-01"),
        ("2001-05-03", "2001-05-03"),
        ("2001-1", ""),
        ("{F, M}", "F M"),
        ("F", "F"),
        ("65-70", "65-70"),
        ("a.c*", "a.cd"),
    ],
)
def test_a_cell_of_texts(cell, held):
    values = make_values(("2001-05-03", "2001-12-01", "F", "M", "65-70", "a.cd", "abcd"))
    assert [values.texts[place] for place in values.find_held(cell)] == held.split()


PEOPLE = Graph.from_pairs(
    [[0, 1]],
    10,
    features=np.arange(60, 70, dtype=np.float32)[:, None],
    feature_names=("age",),
    attributes={"sex": NodeColumn.from_values("sex", ["F", "M"] * 5)},
)


def release(**columns):
    features = columns.pop("features", None)
    own = {name: NodeColumn.from_values(name, cells) for name, cells in columns.items()}
    names = ("age",) if features is not None else ()
    return PEOPLE.update_columns(attributes=own, features=features, feature_names=names)


def test_values_that_are_not_known_fit_every_cell():
    column = NodeColumn("sex", np.array([0, 1, -1, *[1] * 7]), ("F", "M"))
    unknown = PEOPLE.update_columns(
        attributes={"sex": replace(column, codes=np.roll(column.codes, 1))}
    )
    match = CellMatch.of_columns(unknown, column)
    assert match.contains.tolist() == [False, False, True, True, *[True] * 6]


def test_columns_that_cannot_be_compared_are_told_from_coarse_ones():
    wide = ["[60, 65["] * 5 + ["[65, 70["] * 5
    assert list_incomparable(PEOPLE, release(age=wide, sex=["*"] * 10)) == {}
    one_off = ["[60, 65["] * 4 + ["[65, 70["] * 6
    assert list_incomparable(PEOPLE, release(age=one_off)) == {}
    two_off = ["[60, 65["] * 3 + ["[65, 70["] * 7
    assert list_incomparable(PEOPLE, release(age=two_off)) == {"age": 0.8}
    coded = release(sex=["1", "2"] * 5, height=["[60, 65["] * 10)
    assert list_incomparable(PEOPLE, coded) == {"sex": 0.0, "height": 0.0}
    for kind in (np.asarray, sparse.csr_array):
        same = np.asarray(PEOPLE.features)
        assert list_incomparable(PEOPLE, release(features=kind(same))) == {}
        assert list_incomparable(PEOPLE, release(features=kind(np.floor(same / 5) * 5))) == {
            "age": pytest.approx(0.2)
        }
