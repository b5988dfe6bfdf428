"""Columns of two values: classes where they are few, features where they are words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.data.columns import MAX_FLAGS, guess_node_roles, guess_roles
from core.data.readers import load_graph

FLAGS = {
    "words": ["True", "False", "True", "False"],
    "small": ["true", "false", "true", "true"],
    "truth": [True, False, False, True],
    "number": [0, 1, 1, 0],
    "text": ["0", "1", "1", "0"],
    "gap": [0.0, None, 1.0, 1.0],
    "codes": [1, 2, 2, 1],
}
OTHERS = {
    "one value": [0, 0, 0, 0],
    "three": [0, 1, 2, 1],
    "sizes": [10, 20, 20, 10],
    "halves": [0.5, 1.0, 0.5, 1.0],
    "marked": [-1, 1, 0, 1],
}


def find_role(values):
    table = pd.DataFrame({"who": ["a", "b", "c", "d"], "mature": values})
    return guess_roles(table)["mature"]


@pytest.mark.parametrize("name", FLAGS)
def test_a_column_of_two_values_is_proposed_as_a_class(name: str) -> None:
    assert find_role(FLAGS[name]) == "attribute"


@pytest.mark.parametrize("name", OTHERS)
def test_other_numbers_stay_features(name: str) -> None:
    assert find_role(OTHERS[name]) == "feature"


@pytest.mark.parametrize(("count", "role"), [(MAX_FLAGS, "attribute"), (MAX_FLAGS + 1, "feature")])
def test_many_columns_of_two_values_are_features(count: int, role: str) -> None:
    words = np.random.default_rng(0).integers(0, 2, (30, count))
    words[:2] = [[0], [1]]
    table = pd.DataFrame(words, columns=[f"w{i}" for i in range(count)]).assign(age=range(30))
    roles = guess_node_roles(table, id_column="")
    assert {roles[f"w{i}"] for i in range(count)} == {role}
    assert roles["age"] == "feature"


def test_an_uploaded_table_has_classes_of_its_true_and_false_columns(tmp_path) -> None:
    (tmp_path / "links.csv").write_text("from,to\n1,2\n2,3\n3,4\n4,5\n")
    rows = ["1,True,0,10", "2,False,1,25", "3,True,1,31", "4,,0,12", "5,False,0,12"]
    (tmp_path / "people.csv").write_text("\n".join(["id,mature,partner,views", *rows]))
    graph = load_graph(tmp_path / "links.csv", nodes_path=tmp_path / "people.csv").graph
    assert set(graph.attributes) == {"mature", "partner"}
    assert graph.column("mature").classes == ("False", "True")
    assert graph.column("mature").known.tolist() == [True, True, True, False, True]
    assert graph.feature_names == ("views",)
