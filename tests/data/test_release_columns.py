"""What leaves with a graph: rules by hand, and errors of one line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from core.data.coarsening import OTHER
from core.data.release_columns import (
    NUMERIC,
    Rule,
    choose_columns,
    forget_values,
    leave_out_people,
    show_columns,
)
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn


def make_people(is_sparse: bool = False) -> Graph:
    """Six people in a ring: age and income as features, city, born and secret as attributes."""
    features = np.array(
        [[34, 1.25], [30, 250.5], [29, 9.999], [40, 1e6], [0, 0], [17, 3]], np.float32
    )
    texts = {
        "city": ["Ulm", "Ulm", "Bonn", "Ulm", "Jena", "Bonn"],
        "born": ["1990-05-17", "1990-12-01", "1988-05-02", "1990-05-30", "1988-05-09", ""],
        "secret": ["a", "b", "a", "b", "a", "b"],
    }
    return Graph.from_pairs(
        np.stack([np.arange(6), np.roll(np.arange(6), 1)], 1),
        6,
        attributes={name: NodeColumn.from_values(name, values) for name, values in texts.items()},
        features=sparse.csr_array(features) if is_sparse else features,
        feature_names=("age", "income"),
    )


def read(graph: Graph, name: str) -> list:
    if name in graph.feature_names:
        return graph.dense_features()[:, graph.feature_names.index(name)].tolist()
    attribute = graph.attributes[name]
    return [attribute.classes[code] if code >= 0 else None for code in attribute.codes]


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("age:bin=10", [30, 30, 20, 40, 0, 10]),
        ("age:cap=30", [30, 30, 29, 30, 0, 17]),
        ("income:round=0", [1, 250, 10, 1e6, 0, 3]),
        ("income:cap=1000", [1.25, 250.5, 9.999, 1000, 0, 3]),
        ("city:rare=2", ["Ulm", "Ulm", "Bonn", "Ulm", OTHER, "Bonn"]),
        ("city:rare=3", ["Ulm", "Ulm", OTHER, "Ulm", OTHER, OTHER]),
        ("born:year", ["1990", "1990", "1988", "1990", "1988", None]),
        ("born:month", ["1990-05", "1990-12", "1988-05", "1990-05", "1988-05", None]),
        ("age:shared=2", [30, 30, 25, 30, 25, 25]),
        ("income:shared=6", [0, 0, 0, 0, 0, 0]),
        ("city:shared=2", ["Ulm", "Ulm", OTHER, "Ulm", OTHER, OTHER]),
        ("born:shared=2", ["1990", "1990", "1988", "1990", "1988", None]),
        ("born:shared=3", [OTHER, OTHER, OTHER, OTHER, OTHER, None]),
    ],
)
def test_rules_by_hand(rule, expected, is_sparse):
    graph = make_people(is_sparse)
    before = graph.content_hash
    column = rule.split(":")[0]
    coarse = choose_columns(graph, None, [rule])
    assert read(coarse, column) == [
        value if isinstance(value, str | None) else pytest.approx(value) for value in expected
    ]
    graph.__dict__.pop("content_hash")
    assert graph.content_hash == before
    for other in {"age", "income", "city", "born"} - {column}:
        assert read(coarse, other) == read(graph, other)


@pytest.mark.parametrize("use", ["attribute", "feature", "block"])
def test_a_range_of_numbers_is_the_same_whatever_they_are_used_for(use):
    """Of sixty numbers, whose classes are quartiles, and one unknown cell."""
    numbers = 1.5 * np.arange(60)
    column = NodeColumn.from_values("pay", ["", *map(str, numbers[1:])])
    filled = np.where(np.arange(60) == 0, np.median(numbers[1:]), numbers)
    parts = {"attributes": {"pay": column}}
    if use == "block":
        parts = {"features": np.stack([filled, numbers], 1), "feature_names": ("pay", "other")}
    graph = Graph.from_pairs([(0, 1)], 60, **parts)
    if use == "feature":
        graph = replace(graph, columns=graph.columns.as_features(["pay"]))
    coarse = choose_columns(graph, None, ["pay:bin=20"])
    met = coarse.column("pay")
    shown = [met.classes[code] if code >= 0 else "" for code in met.codes]
    expected = [str(int(number // 20 * 20)) for number in numbers]
    expected[0] = "40" if use == "block" else ""
    assert shown == expected
    if use != "attribute":
        assert "pay" in coarse.feature_names
        expected[0] = "40"
        assert coarse.columns.read_numbers("pay").tolist() == list(map(float, expected))
        with pytest.raises(InputError, match="rule rare needs a column of categories"):
            choose_columns(graph, None, ["pay:rare=2"])
    if use == "block":
        assert (coarse.columns.read_numbers("other") == numbers).all()


@pytest.mark.parametrize("rule", ["age:bin=7", "income:round=1", "city:rare=2", "born:month"])
def test_a_rule_applied_twice_changes_nothing_more(rule):
    once = choose_columns(make_people(), None, [rule])
    assert choose_columns(once, None, [rule]).content_hash == once.content_hash


@given(values=st.lists(st.integers(0, 200), min_size=2, max_size=40), width=st.integers(1, 50))
@settings(max_examples=60)
def test_bins_hold_their_values(values, width):
    attribute = NodeColumn.from_values("x", values, max_classes=1000)
    graph = Graph.from_pairs(np.array([[0, 1]]), len(values), attributes={"x": attribute})
    coarse = choose_columns(graph, None, [f"x:bin={width}"])
    assert [int(v) for v in read(coarse, "x")] == [value // width * width for value in values]


def test_only_what_is_named_remains_and_the_secret_for_evaluation():
    graph = choose_columns(make_people(), ["income", "city"], [], ["secret"], ["secret"])
    assert set(graph.attributes) == {"city", "secret"}
    assert graph.feature_names == ("income",)
    assert choose_columns(make_people(), [], []).features is None


def test_those_who_objected_are_left_out_with_their_links():
    graph = leave_out_people(make_people(True), ["1", "4"])
    assert graph.node_ids == ("0", "2", "3", "5")
    names = {frozenset((graph.node_ids[i], graph.node_ids[j])) for i, j in graph.edges}
    assert names == {frozenset(("2", "3")), frozenset(("5", "0"))}
    assert read(graph, "age") == [34, 29, 40, 17]
    assert read(graph, "city") == ["Ulm", "Bonn", "Ulm", "Bonn"]


def test_no_class_or_feature_tells_of_those_left_out():
    """NPZ lists the classes of a column; a class, a word or the largest income may be one's own."""
    num = 60
    columns = {
        "city": ["Bonn", "Ulm"] * 29 + ["Bonn", "Zwickau"],
        "income": [*map(str, range(1000, 1000 + num - 1)), "987654"],
        "secret": ["a", "b"] * 29 + ["a", "c"],
    }
    words = np.zeros((num, 3), np.float32)
    words[0, 0] = words[-1, 1] = 1  # the second is of the last node alone, the third of nobody
    before = Graph.from_pairs(
        np.array([[0, 1], [2, 3]]),
        num,
        attributes={name: NodeColumn.from_values(name, v) for name, v in columns.items()},
        features=words,
        feature_names=("ball", "unicorn", "zebra"),
    )
    left = leave_out_people(before, ["59"])
    graph = forget_values(left, before, ["secret"], [])
    assert graph.column("city").classes == ("Bonn", "Ulm")
    assert read(graph, "city") == read(left, "city")
    assert "987654" not in str(graph.column("income").classes)
    assert graph.column("secret").classes == ("a", "b", "c")
    assert graph.feature_names == ("ball", "zebra")
    assert forget_values(left, before, [], ["unicorn"]).feature_names == left.feature_names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("age", "must name a column and a rule"),
        (":bin=3", "must name a column and a rule"),
        ("age:bins=10", "must have a known rule"),
        ("age:bin", "must have a known rule"),
        ("born:year=3", "must have a known rule"),
        ("age:bin=ten", "must have a number after ="),
        ("age:bin=0", "must be wider than 0"),
        ("age:bin=-5", "at least 0"),
        ("age:bin=nan", "at least 0"),
        ("age:round=1.5", "whole number"),
        ("city:rare=1", "at least 2"),
    ],
)
def test_malformed_rules_are_one_line(text, said):
    with pytest.raises(InputError, match=said) as error:
        Rule.parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("publish", "rules", "said"),
    [
        (["height"], [], "must be a column of the graph"),
        (None, ["height:bin=10"], "must be a column of the graph"),
        (["city"], ["age:bin=10"], "must be published"),
        (["secret"], [], "must not be a private one"),
        (None, ["secret:rare=5"], "must not be a private one"),
        (None, ["city:bin=10"], "needs a column of numbers"),
        (None, ["city:year"], "needs a column of dates"),
        (None, ["age:rare=5"], "needs a column of categories"),
    ],
)
def test_rules_that_do_not_fit_are_one_line(publish, rules, said):
    with pytest.raises(InputError, match=said) as error:
        choose_columns(make_people(), publish, rules, ["secret"], ["secret"])
    assert "\n" not in str(error.value)


def test_a_stranger_cannot_be_left_out():
    with pytest.raises(InputError, match="person left out must be in the graph"):
        leave_out_people(make_people(), ["nobody"])


def show(classes, codes):
    """Features that attackers see of one published column."""
    codes = np.array(codes)
    pairs = np.stack([np.arange(len(codes) - 1), np.arange(1, len(codes))], axis=1)
    column = NodeColumn("age", codes, tuple(classes))
    graph = Graph.from_pairs(pairs, len(codes), attributes={"age": column})
    return show_columns(graph, ["age"])


def test_many_numbers_are_one_feature_and_few_are_classes():
    """Eleven numbers are one column, its unknown value their mean; ten are ten columns."""
    eleven = show(map(str, range(11)), [*range(11), -1])
    assert eleven.feature_names == ("age",)
    assert eleven.features[:, 0].tolist() == [*range(11), 5]
    ten = show(map(str, range(10)), [*range(10), -1])
    assert ten.feature_names == tuple(f"age={k}" for k in range(10))
    assert (ten.features == np.eye(11, 10)).all()
    words = show([*map(str, range(10)), "x"], range(11))
    assert len(words.feature_names) == 11


def test_merged_numbers_are_in_the_order_of_numbers():
    graph = show(["1", "9", "10", "11", "100"], [0, 1, 2, 3, 4])
    coarse = choose_columns(graph.without_features(graph.feature_names), None, ["age:cap=50"])
    assert coarse.attributes["age"].classes == ("1", "9", "10", "11", "50")


def test_a_number_at_the_beginning_of_an_interval_is_in_it():
    """0.3 / 0.1 is 2.9999999999999996."""
    assert NUMERIC["bin"](np.array([0.3, 0.7, 0.29]), 0.1) == pytest.approx([0.3, 0.7, 0.2])
