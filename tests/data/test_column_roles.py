"""Roles of columns are changed after loading."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from core.data.column_roles import assign_roles, list_numbers, report_roles
from core.data.loaded import LEFT_OUT, ColumnUse, LoadReport
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn

AGES = [30.0, 41.0, np.nan, 55.5]


def make_graph(is_sparse=False, features=True):
    x = np.array([[1, 7], [2, 7], [3, 8], [4, 8]], np.float32)
    ages = NodeColumn("age", np.array([0, 0, -1, 1]), ("young", "old"), np.array(AGES))
    fields = {
        "attributes": {
            "age": ages,
            "vote": NodeColumn.from_values("vote", ["1", "0", "", "1"]),
            "city": NodeColumn.from_values("city", ["a", "b", "a", ""]),
        }
    }
    if features:
        fields |= {"features": sparse.csr_array(x) if is_sparse else x}
        fields |= {"feature_names": ("visits", "rooms")}
    return Graph.from_pairs([(0, 1), (1, 2), (2, 3)], 4, **fields)


@pytest.mark.parametrize("is_sparse", [False, True])
@given(roles=st.lists(st.sampled_from(["attribute", "feature", "none"]), min_size=5, max_size=5))
def test_each_column_is_what_was_asked(is_sparse, roles):
    graph = make_graph(is_sparse)
    names = ("age", "vote", "visits", "rooms", "city")
    wanted = dict(zip(names, roles, strict=True))
    if wanted["city"] == "feature":
        wanted["city"] = "attribute"
    before = graph.content_hash
    attributes = [name for name in names if wanted[name] == "attribute"]
    features = [name for name in names if wanted[name] == "feature"]
    changed = assign_roles(graph, attributes, features)
    assert graph.content_hash == before
    assert set(changed.attributes) == set(attributes)
    assert set(changed.feature_names) == set(features)
    x = changed.dense_features()
    expected = {
        "age": [30, 41, 41, 55.5],
        "vote": [1, 0, 1, 1],
        "visits": [1, 2, 3, 4],
        "rooms": [7, 7, 8, 8],
    }
    for name in features:
        np.testing.assert_allclose(x[:, changed.feature_names.index(name)], expected[name])
    if wanted["visits"] == "attribute":
        assert changed.column("visits").classes == ("1", "2", "3", "4")
    assert (changed.edges == graph.edges).all()


def test_a_change_and_its_reverse_give_the_graph():
    graph = make_graph()
    there = assign_roles(graph, ["city"], ["visits", "rooms", "age", "vote"])
    assert there.content_hash != graph.content_hash
    assert assign_roles(graph, graph.attributes, graph.feature_names).content_hash == (
        graph.content_hash
    )


def test_numbers_alone_may_be_features():
    graph = make_graph(features=False)
    assert list_numbers(graph) == ["age", "vote"]
    assert list_numbers(make_graph()) == ["visits", "rooms", "age", "vote"]
    with pytest.raises(InputError, match="feature 'city' must hold numbers"):
        assign_roles(graph, ["age"], ["city"])
    with pytest.raises(InputError, match="an attribute or a feature, not both"):
        assign_roles(graph, ["age"], ["age"])
    with pytest.raises(InputError, match="must be a column of the graph"):
        assign_roles(graph, ["height"], [])
    assert assign_roles(graph, [], []).features is None


def test_the_table_of_uses_follows():
    graph = make_graph()
    uses = [
        ColumnUse("links", "source", "source", "id"),
        ColumnUse("nodes", "person", "id", "id"),
        ColumnUse("nodes", "note", LEFT_OUT, "text", "long texts"),
        ColumnUse("nodes", "age", "private", "number"),
        ColumnUse("nodes", "vote", "utility", "class"),
        ColumnUse("nodes", "city", "attribute", "class"),
        ColumnUse("nodes", "visits", "feature", "number"),
    ]
    changed = assign_roles(graph, ["age", "visits"], ["vote"])
    found = {use.name: use.use for use in report_roles(LoadReport(columns=uses), changed).columns}
    assert found == {
        "source": "source",
        "person": "id",
        "note": LEFT_OUT,
        "age": "private",
        "vote": "feature",
        "city": LEFT_OUT,
        "visits": "attribute",
    }
