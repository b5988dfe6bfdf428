"""k-anonymity over the columns, alone and with the links, as pandas counts it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from core.attacks.identity.column_values import ColumnValues
from core.context import Context
from core.data.release_columns import choose_columns
from core.data.second_graph import draw_identity_threat
from core.graph import Graph
from core.measures.identity import measure_anonymity
from core.node_column import NodeColumn
from core.release import Release
from core.seeding import Seed


def make_people(rows, is_sparse=False):
    n = len(rows)
    pairs = np.stack([np.arange(n), np.roll(np.arange(n), 1)], 1)
    features = np.array([row[:2] for row in rows], np.float32)
    graph = Graph.from_pairs(
        np.concatenate([pairs, [[0, n // 2]]]),
        n,
        attributes={"city": NodeColumn.from_values("city", [row[2] for row in rows])},
        features=sparse.csr_array(features) if is_sparse else features,
        feature_names=("age", "income"),
    )
    threat = draw_identity_threat(graph, Seed(0), num_seeds=0)
    return graph, replace(threat, columns=("city",))


people = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from("ab")), min_size=5, max_size=30
)


@given(rows=people, is_sparse=st.booleans())
@settings(max_examples=50)
def test_sets_are_pandas_groups(rows, is_sparse):
    graph, threat = make_people(rows, is_sparse)
    table = pd.DataFrame(rows, columns=["age", "income", "city"])
    for columns in (["age"], ["age", "city"], ["age", "income", "city"]):
        attack = ColumnValues(columns="|".join(columns))
        found = attack.find(Release(graph), threat, Context(Seed(0)))
        expected = table.groupby(columns)[columns[0]].transform("size")
        assert found.sizes.tolist() == expected.tolist()
        rows_found = {item.metric: item.value for item in measure_anonymity(found, threat)}
        assert rows_found["k_anonymity"] == expected.min()
    with_links = ColumnValues(with_links="degree")
    found = with_links.find(Release(graph), threat, Context(Seed(0)))
    table["degree"] = graph.degrees
    assert found.sizes.tolist() == table.groupby(list(table)).age.transform("size").tolist()


@given(rows=people, is_sparse=st.booleans(), seed=st.integers(0, 99))
@settings(max_examples=50)
def test_sets_by_friends_values_are_those_of_a_loop(rows, is_sparse, seed):
    graph, threat = make_people(rows, is_sparse)
    rng = np.random.default_rng(seed)
    edges = graph.edges[rng.random(graph.num_edges) < 0.8]
    weights = rng.integers(2, size=len(edges)).astype(float)  # a link of weight 0 is none
    published = replace(graph, edges=edges, weights=weights)
    wanted = {frozenset(pair) for pair in edges[weights > 0].tolist()}

    def describe(person, pairs):
        friends = [rows[other] for other in range(len(rows)) if {person, other} in pairs]
        return rows[person], sorted(friends)

    known = [describe(i, {frozenset(p) for p in graph.edges.tolist()}) for i in range(len(rows))]
    shown = [describe(i, wanted) for i in range(len(rows))]
    attack = ColumnValues(with_links="neighbor_values")
    found = attack.find(Release(published), threat, Context(Seed(0)))
    assert found.sizes.tolist() == [shown.count(each) for each in known]
    assert found.contains.tolist() == [a == b for a, b in zip(known, shown, strict=True)]


def test_friends_are_compared_in_another_order_of_the_people():
    graph, threat = make_people([(i, 0, "a") for i in range(6)])
    released = graph.subgraph(np.array([3, 0, 5, 1, 4, 2]))
    attack = ColumnValues(with_links="neighbor_values")
    found = attack.find(Release(released), threat, Context(Seed(0)))
    assert found.sizes.tolist() == [1] * 6


def test_without_links_nobody_has_friends():
    graph, threat = make_people([(i, 0, "a") for i in range(6)])
    alone = replace(threat, original=replace(graph, edges=graph.edges[:0]))
    joined = [ColumnValues(**config) for config in ColumnValues.joined]
    for attack in joined:
        assert attack.supports(Release(alone.original), alone) == "the graph has no links"
        assert attack.supports(Release(graph), threat) is None
    assert ColumnValues().supports(Release(alone.original), alone) is None


def test_coarser_columns_hide_more():
    rng = np.random.default_rng(0)
    rows = [(int(a), 0, "a") for a in rng.integers(0, 90, 200)]
    sizes = []
    for rules in ([], ["age:bin=5"], ["age:bin=30"]):
        graph, threat = make_people(rows)
        coarse = choose_columns(graph, None, rules)
        threat = replace(threat, original=coarse)
        found = ColumnValues(columns="age").find(Release(coarse), threat, Context(Seed(0)))
        sizes.append(found.sizes.min())
    assert sizes[0] <= sizes[1] < sizes[2]


def test_columns_that_do_not_leave_are_not_known():
    graph, threat = make_people([(i, 0, "a") for i in range(6)])
    release = Release(graph)
    assert ColumnValues(columns="height").supports(release, threat) == (
        "column 'height' is not published; name a published one"
    )
    bare = replace(threat, original=graph.update_columns(features=None), columns=())
    assert ColumnValues().supports(release, bare) == "no columns are published"
    # The release lacks them: everybody is as good as anybody.
    found = ColumnValues(columns="age").find(
        Release(graph.update_columns(features=None)), threat, Context(Seed(0))
    )
    assert found.sizes == pytest.approx(6)


AGES, CELLS = ("60", "61", "70", "80"), ("60", "[60, 70[", "60-80", ">=70", "*", "x", "{61, 80}")
IN_CELL = {
    "60": ("60",),
    "[60, 70[": ("60", "61"),
    "60-80": AGES,
    ">=70": ("70", "80"),
    "*": AGES,
    "x": (),
    "{61, 80}": ("61", "80"),
}
CITIES = ("Bonn", "Kiel", "B*", "*", "Rome")
IN_CITY = {"Bonn": ["Bonn"], "Kiel": ["Kiel"], "B*": ["Bonn"], "*": ["Bonn", "Kiel"], "Rome": []}


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(AGES),
            st.sampled_from(CELLS),
            st.sampled_from(["Bonn", "Kiel", ""]),
            st.sampled_from(CITIES),
            st.integers(0, 1),
        ),
        min_size=4,
        max_size=25,
    )
)
@example(rows=[("60", "60", "Bonn", "Bonn", 0)] * 5 + [("60", "60", "", "Bonn", 0)])
@settings(max_examples=60, deadline=None)
def test_cells_that_others_generalised_are_compared_as_a_loop_does(rows):
    ages, cells, cities, places, sexes = zip(*rows, strict=True)
    n, sex = len(rows), np.array(sexes, np.float32)
    columns = np.stack([np.array(ages, np.float32), sex], axis=1)
    graph = Graph.from_pairs(
        np.stack([np.arange(n), np.roll(np.arange(n), 1)], 1),
        n,
        attributes={"city": NodeColumn.from_values("city", cities)},
        features=columns,
        feature_names=("age", "sex"),
    )
    texts = {"age": cells, "city": places}
    published = graph.update_columns(
        features=sex[:, None],
        feature_names=("sex",),
        attributes={name: NodeColumn.from_values(name, own) for name, own in texts.items()},
    )
    threat = replace(draw_identity_threat(graph, Seed(0), num_seeds=0), columns=("age", "city"))
    context = Context(Seed(0))

    def fits(person, node, names):
        age = ages[person] in IN_CELL[cells[node]]
        city = not cities[person] or cities[person] in IN_CITY[places[node]]
        same = {"age": age, "city": city, "sex": sexes[person] == sexes[node]}
        return all(same[name] for name in names)

    for known in (("age", "sex", "city"), ("age",), ("city",)):
        found = ColumnValues(columns="|".join(known)).find(Release(published), threat, context)
        expected = [sum(fits(i, j, known) for j in range(n)) for i in range(n)]
        assert found.sizes.tolist() == expected
        assert found.contains.tolist() == [fits(i, i, known) for i in range(n)]
    degrees = graph.degrees
    both = ColumnValues(with_links="degree").find(Release(published), threat, context)
    whole = ("age", "sex", "city")
    assert both.sizes.tolist() == [
        sum(fits(i, j, whole) and degrees[i] == degrees[j] for j in range(n)) for i in range(n)
    ]
    unread = ColumnValues().find(Release(published), replace(threat, unread=("age",)), context)
    assert unread.sizes.tolist() == [
        sum(fits(i, j, ("sex", "city")) for j in range(n)) for i in range(n)
    ]
