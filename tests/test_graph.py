"""The graph: what it refuses, how it is made from pairs, and that nobody changes it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from core import graph
from core.arrays import canonical_edges, divide_or_zero, is_among, pair_codes, sort_distinct
from core.data.packing import pack_graph, unpack_graph
from core.errors import InputError
from core.graph import Graph
from core.node_column import MISSING, NodeColumn
from core.node_table import NodeTable
from tests.oracles.graphs import two_communities

PAIRS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30)
LINE = np.array([[0, 1], [1, 2]])


@given(PAIRS)
def test_any_pairs_become_a_simple_graph_as_networkx_has_it(pairs):
    graph = Graph.from_pairs(np.array(pairs, int).reshape(-1, 2), 9)
    oracle = nx.Graph()
    oracle.add_nodes_from(range(9))
    oracle.add_edges_from((i, j) for i, j in pairs if i != j)
    assert [tuple(edge) for edge in graph.edges] == sorted(tuple(sorted(e)) for e in oracle.edges)
    assert graph.degrees.tolist() == [oracle.degree(node) for node in range(9)]
    assert graph.density == pytest.approx(nx.density(oracle))
    assert (graph.adjacency.toarray() == nx.to_numpy_array(oracle)).all()
    every = list(combinations(range(9), 2))
    linked = graph.contains_pairs(np.array([pair[::-1] for pair in every]))
    assert linked.tolist() == [oracle.has_edge(*pair) for pair in every]
    assert nx.utils.graphs_equal(graph.to_networkx(), oracle)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.floats(0, 9, width=32))))
def test_the_largest_weight_of_a_repeated_link_stays(rows):
    largest: dict[tuple[int, int], float] = {}
    for i, j, weight in rows:
        if i != j:
            pair = (min(i, j), max(i, j))
            largest[pair] = max(largest.get(pair, 0.0), weight)
    pairs = np.array([row[:2] for row in rows], int).reshape(-1, 2)
    edges, weights = canonical_edges(pairs, 6, np.array([row[2] for row in rows]))
    assert weights is not None
    found = {(int(i), int(j)): w for (i, j), w in zip(edges, weights, strict=True)}
    assert found == {pair: np.float32(weight) for pair, weight in largest.items()}


@given(st.lists(st.integers(0, 20)))
def test_sorted_distinct_values_are_numpys(values):
    assert sort_distinct(np.array(values, np.int64)).tolist() == np.unique(values).tolist()


def test_codes_do_not_know_direction():
    assert pair_codes(np.array([[3, 1], [1, 3], [0, 2]]), 5).tolist() == [8, 8, 2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"node_ids": ()}, "graph must have at least one node; got 0"),
        ({"node_ids": ("a", "a", "b")}, "node ids must be distinct; remove the duplicates"),
        ({"edges": [[0, 3]]}, "link ends must be node numbers from 0 to 2"),
        ({"edges": [[1, 0]]}, "links must be stored as i < j; use Graph.from_pairs"),
        ({"edges": [[1, 1]]}, "links must be stored as i < j; use Graph.from_pairs"),
        ({"edges": [[1, 2], [0, 1]]}, "links must be sorted and distinct; use Graph.from_pairs"),
        ({"edges": [[0, 1], [0, 1]]}, "links must be sorted and distinct; use Graph.from_pairs"),
        ({"weights": [1.0]}, "weights must be one per link; got (1,)"),
        ({"weights": [1.0, -1.0]}, "weights must be finite and not negative"),
        ({"weights": [1.0, np.inf]}, "weights must be finite and not negative"),
        (
            {"attributes": {"z": NodeColumn("z", np.array([0, 1]), ("a", "b"))}},
            "column 'z' must have 3 values",
        ),
        ({"features": np.zeros((2, 1))}, "features must have 3 rows; got 2"),
        (
            {"features": np.zeros((3, 2)), "feature_names": ("x",)},
            "feature names must be one per feature column",
        ),
        (
            {"features": np.array([[0.0], [np.nan], [0.0]])},
            "features must be finite; fill or drop missing values",
        ),
        (
            {"features": sparse.csr_array(np.array([[0.0], [np.inf], [0.0]]))},
            "features must be finite; fill or drop missing values",
        ),
    ],
)
def test_what_is_no_graph_is_refused_in_one_line(fields, message):
    with pytest.raises(InputError) as error:
        make_graph(**{"edges": LINE, "node_ids": ("a", "b", "c"), **fields})
    assert str(error.value) == message


def make_graph(edges, node_ids, weights=None, **columns):
    return Graph(edges, node_ids, NodeTable().update(**columns), weights)


@pytest.mark.parametrize("checked", [1, 2, 3])
def test_links_are_checked_across_the_parts_that_are_checked_together(monkeypatch, checked):
    sound = [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]
    monkeypatch.setattr(graph, "_CHECKED", checked)
    assert Graph(np.array(sound), tuple("abcd")).num_edges == 5
    for place in range(4):
        swapped = [*sound[:place], sound[place + 1], sound[place], *sound[place + 2 :]]
        repeated = [*sound[: place + 1], *sound[place:]]
        for links in (swapped, repeated):
            with pytest.raises(InputError, match="sorted and distinct"):
                Graph(np.array(links), tuple("abcd"))


@pytest.mark.parametrize("ids", [("a", "bc", ""), ("é", "漢字", "z")])
def test_texts_are_hashed_with_their_number_and_lengths_in_bytes(ids):
    encoded = [text.encode() for text in ids]
    lengths = np.array([len(ids), *map(len, encoded)], "<i8")
    expected = hashlib.sha256(b"edges:int64:(0, 2);")
    expected.update(lengths.tobytes() + b"".join(encoded))
    assert Graph(np.zeros((0, 2)), ids).content_hash == expected.hexdigest()


def test_a_code_outside_its_classes_is_refused():
    for codes in ([0, 2], [-2, 0]):
        with pytest.raises(InputError, match="column 'z' has a code outside its classes"):
            NodeColumn("z", np.array(codes), ("a", "b"))


def test_ids_are_hashed_apart():
    line = np.array([[0, 1]])
    first, second = (Graph(line, ids) for ids in (("a\x1fb", "c"), ("a", "b\x1fc")))
    assert first.content_hash != second.content_hash
    assert first.identity_hash != second.identity_hash
    columns = [
        NodeColumn(name, np.array([0, 1]), classes)
        for name, classes in (("x\x1fy", ("a", "b")), ("x", ("y\x1fa", "b")))
    ]
    first, second = (Graph(line, ("a", "b"), NodeTable({"column": column})) for column in columns)
    assert first.content_hash != second.content_hash


def test_the_identity_is_of_ids_and_links_in_any_order():
    graph = two_communities(40)
    inverted = graph.subgraph(np.random.default_rng(0).permutation(40))
    bare = Graph.from_pairs(graph.edges[::-1, ::-1], node_ids=graph.node_ids)
    assert graph.content_hash != inverted.content_hash  # results depend on the order
    assert graph.identity_hash == inverted.identity_hash == bare.identity_hash
    others = (
        graph.without_edges(graph.edges[:1]),
        replace(graph, node_ids=(*graph.node_ids[:-1], "another")),
        graph.with_edges(graph.edges[:, [0, 0]] * [1, 0]),
        Graph(graph.edges, (*graph.node_ids, "alone")),
    )
    assert graph.identity_hash not in {other.identity_hash for other in others}


@pytest.mark.parametrize("order", [[3, 5, 8, 21, 30, 31], [30, 3, 31, 8, 5, 21]])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_subgraph_has_links_weights_and_data_of_its_nodes_in_their_order(order, is_weighted):
    graph = two_communities(40)
    if is_weighted:
        graph = replace(graph, weights=np.arange(graph.num_edges) + 1.0)
    nodes = np.array(order)
    part = graph.subgraph(nodes)
    reference = graph.adjacency.toarray()[np.ix_(nodes, nodes)]
    np.testing.assert_array_equal(part.adjacency.toarray(), reference)
    np.testing.assert_array_equal(part.features, graph.features[nodes])
    assert part.node_ids == tuple(graph.node_ids[node] for node in nodes)
    np.testing.assert_array_equal(part.column("label").codes, graph.column("label").codes[nodes])
    assert (part.name, part.feature_names) == (graph.name, graph.feature_names)


def test_a_mask_is_the_subgraph_of_its_nodes_in_order():
    graph = two_communities(40)
    mask = graph.degrees > np.median(graph.degrees)
    same = graph.subgraph(np.flatnonzero(mask))
    assert graph.subgraph(mask).content_hash == same.content_hash


def test_nodes_are_found_by_their_ids():
    graph = replace(two_communities(4), node_ids=("d", "c", "b", "a"))
    assert graph.index == {"d": 0, "c": 1, "b": 2, "a": 3}
    assert graph.find_nodes(["a", "d", "a"]).tolist() == [3, 0, 3]
    with pytest.raises(InputError) as error:
        graph.find_nodes(["a", "z"], "person left out")
    assert str(error.value) == (
        "person left out must be in the graph; got z; ids are such as d, c, b"
    )


def test_unknown_columns_are_refused_with_those_that_exist():
    graph = two_communities()
    with pytest.raises(InputError) as error:
        graph.column("age")
    assert str(error.value) == (
        "column must be a column of the graph; got age; columns are: private, label, "
        + ", ".join(graph.feature_names)
    )
    with pytest.raises(InputError, match="column must be a column of the graph"):
        graph.with_private("age")


def test_nothing_can_be_written_to_and_the_callers_arrays_stay_his():
    edges, features = LINE.copy(), np.ones((3, 1), np.float32)
    table = NodeTable(block=features)
    graph = Graph(edges, ("a", "b", "c"), table, weights=np.ones(2))
    edges[0, 1], features[0, 0] = 2, 7.0
    assert graph.edges.tolist() == LINE.tolist()
    assert graph.features[0, 0] == 1.0
    for array in (graph.edges, graph.features, graph.weights, graph.degrees, graph.edge_codes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        graph.attributes["z"] = None


def test_links_taken_out_are_gone_and_others_ignored():
    graph = Graph.from_pairs(LINE, 4, weights=np.array([2.0, 3.0]))
    left = graph.without_edges(np.array([[2, 1], [0, 3]]))
    assert (left.edges.tolist(), left.weights.tolist()) == ([[0, 1]], [2.0])
    assert graph.num_edges == 2
    assert graph.with_edges(np.array([[3, 0]])).edges.tolist() == [[0, 3]]


def test_a_private_feature_becomes_an_attribute_and_is_no_feature():
    graph = Graph.from_pairs(
        LINE, 3, features=np.array([[1, 5], [0, 6], [1, 7]]), feature_names=("z", "x")
    )
    private = graph.with_private("z")
    assert private.feature_names == ("x",)
    assert private.dense_features().ravel().tolist() == [5, 6, 7]
    assert private.attributes["z"].codes.tolist() == [1, 0, 1]
    assert private.with_private("z") is private
    assert private.without_features(["x"]).features is None


def test_the_hash_knows_content_and_not_the_name():
    graph = two_communities()
    same = Graph.from_pairs(
        graph.edges[::-1], 40, features=graph.features, attributes=graph.attributes, name="other"
    )
    assert same.content_hash == graph.content_hash
    changed = [
        graph.without_edges(graph.edges[:1]),
        graph.without_features(graph.feature_names[:1]),
        Graph.from_pairs(graph.edges, 40, features=graph.features),
        Graph.from_pairs(
            graph.edges,
            40,
            features=graph.features,
            attributes=graph.attributes,
            weights=np.ones(graph.num_edges),
        ),
    ]
    assert len({graph.content_hash, *(other.content_hash for other in changed)}) == 5


def test_values_become_classes_and_unknown_ones_are_missing():
    attribute = NodeColumn.from_values("z", ["b", "a", "?", None, "b "], unknown=["?"])
    assert attribute.classes == ("a", "b")
    assert attribute.codes.tolist() == [1, 0, MISSING, MISSING, 1]
    assert attribute.known.tolist() == [True, True, False, False, True]
    assert attribute.shares.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert NodeColumn.from_values("z", [10.0, 9, 1.5]).classes == ("1.5", "9", "10")
    quartiles = NodeColumn.from_values("z", np.arange(100.0), max_classes=50)
    assert np.bincount(quartiles.codes).tolist() == [25, 25, 25, 25]
    assert quartiles.classes == ("up to 24", "above 24 up to 49", "above 49 up to 74", "above 74")


def draw_numbers(name: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    pay = np.append(np.round(rng.lognormal(10.5, 0.4, 300)), [1284317.0, 8123.0, np.nan])
    return {
        "pay": pay,
        "negative": -pay,
        "tiny": rng.exponential(1e-9, 200),
        "signed": rng.normal(size=200),
        "tied": np.append(np.zeros(100), np.arange(60.0)),
        "one value": np.append(np.zeros(300), np.arange(60.0)),
    }[name]


@pytest.mark.parametrize("name", ["pay", "negative", "tiny", "signed", "tied", "one value"])
def test_classes_of_numbers_name_nobodys_extreme_and_hold_who_is_in_them(name):
    """Quarters as those of Pandas, whose names hold the smallest and the largest value."""
    numbers = draw_numbers(name)
    column = NodeColumn.from_values("x", numbers)
    expected = pd.qcut(pd.Series(numbers), 4, labels=False, duplicates="drop")
    assert column.codes.tolist() == expected.fillna(MISSING).tolist()
    low, high = np.nanmin(numbers), np.nanmax(numbers)
    for code, title in enumerate(column.classes):
        above, upto = (re.search(rf"{word} (\S+)", title) for word in ("above", "up to"))
        assert (above is None, upto is None) == (code == 0, code == column.num_classes - 1)
        bottom = -np.inf if above is None else float(above[1])
        top = np.inf if upto is None else float(upto[1])
        assert not {low, high} & {bottom, top}
        held = (numbers > bottom) & (numbers <= top)
        assert held.tolist() == (column.codes == code).tolist()


def test_borders_of_classes_have_as_few_digits_as_the_values_let():
    numbers = draw_numbers("pay")
    column = NodeColumn.from_values("pay", numbers)
    for code, title in enumerate(column.classes[:-1]):
        border = int(title.split()[-1])
        below, above = numbers[column.codes == code].max(), numbers[column.codes > code].min()
        between = range(int(below), int(above))
        assert border in between
        fewest = min(len(str(number).rstrip("0")) for number in between)
        assert len(str(border).rstrip("0")) == fewest


def test_numbers_stay_beside_their_intervals_wherever_the_column_goes():
    numbers = np.append(np.arange(99.0), np.nan)
    attribute = NodeColumn.from_values("age", numbers)
    np.testing.assert_array_equal(attribute.values, numbers)
    assert attribute.take(np.array([99, 7])).values.tolist()[1] == 7.0
    graph = Graph.from_pairs([(0, 1)], 100, attributes={"age": attribute})
    back = unpack_graph(pack_graph(graph))
    assert back.content_hash == graph.content_hash
    np.testing.assert_array_equal(back.column("age").values, numbers)
    moved = replace(attribute, values=numbers + 0.1)
    assert graph.update_columns(attributes={"age": moved}).content_hash != graph.content_hash
    ages = NodeColumn.from_values("age", [19 + k % 22 for k in range(100)])
    assert (ages.num_classes, ages.values[1]) == (22, 20.0)
    for few in (range(18), range(1, 19), [0.5] * 4 + [1.5] * 4):  # codes, codes, two values
        assert NodeColumn.from_values("code", list(few)).values is None
    with pytest.raises(InputError, match="as many numbers"):
        replace(attribute, values=numbers[:3])


def test_pyg_data_has_both_directions_and_the_label_as_y():
    graph = Graph.from_pairs(
        LINE,
        3,
        weights=np.array([2.0, 3.0]),
        features=np.eye(3),
        attributes={"label": NodeColumn("label", np.array([0, 1, 0]), ("a", "b"))},
    )
    data = graph.to_pyg()
    assert data.edge_index.T.tolist() == [[0, 1], [1, 2], [1, 0], [2, 1]]
    assert data.edge_weight.tolist() == [2.0, 3.0, 2.0, 3.0]
    assert data.y.tolist() == [0, 1, 0]
    assert (data.x.numpy() == np.eye(3)).all()


@given(st.lists(st.integers(-3, 30)), st.lists(st.integers(0, 20)))
def test_membership_equals_numpys(codes, ordered):
    ordered = np.array(sorted(ordered), np.int64)
    codes = np.array(codes, np.int64)
    np.testing.assert_array_equal(is_among(codes, ordered), np.isin(codes, ordered))


def test_stored_graphs_keep_their_hashes():
    """Taken when weights were float32: homes name graphs by them, and unpacking checks them."""
    pairs = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [1, 4]])
    recorded = {
        (): "5267489c7ced7212982207a09fe4ec4cdcd0f985826a8407421f014828518e82",
        (1, 2, 3, 4, 5): "f3d3fa5f4938f066d995df06294c6fa0aebe114e73afde3a4c1893c0d83764ac",
        (0.5, 2, 0.25, 1, 7): "4af8b9535f68da4cf685d465aec30ef358a27419c56ba9e17157f62c6398c037",
        tuple(np.float32([0.1, 0.2, 0.3, 1084601170, 5]).tolist()): (
            "058ea09d79c0244aeff9fd7a51ac713720f2c42ed56a6421414b604bad1235cd"
        ),
    }
    for values, expected in recorded.items():
        weights = np.array(values) if values else None
        graph = Graph.from_pairs(pairs, node_ids=tuple("abcde"), weights=weights)
        assert graph.content_hash == expected


def test_graphs_that_differ_beyond_float32_have_other_hashes():
    times = np.array([1084601170.0, 1084601216.0])
    assert np.float32(times[0]) == np.float32(times[1])
    first, second = (Graph.from_pairs([[0, 1]], weights=times[[i]]) for i in range(2))
    assert first.weights.tolist() == [1084601170.0]
    assert first.content_hash != second.content_hash
    assert first.adjacency.dtype == np.float32
    with pytest.raises(InputError, match="weights"):
        Graph.from_pairs([[0, 1]], weights=np.array([1e39]))


@pytest.mark.parametrize("is_weighted", [False, True])
def test_strengths_are_the_weighted_degrees(is_weighted: bool) -> None:
    plain = two_communities(20, 0)
    weights = np.random.default_rng(0).random(plain.num_edges) if is_weighted else None
    given = replace(plain, weights=weights)
    expected = dict(given.to_networkx().degree(weight="weight"))
    np.testing.assert_allclose(given.strengths, [expected[i] for i in range(given.num_nodes)])
    assert given.link_weights.sum() == pytest.approx(sum(expected.values()) / 2)
    assert given.strengths.dtype == given.link_weights.dtype == np.float64


def test_nothing_is_divided_by_zero() -> None:
    found = divide_or_zero(np.array([3.0, 2.0, 1.0]), np.array([2.0, 0.0, -1.0]))
    assert found.tolist() == [1.5, 0.0, 0.0]
    assert divide_or_zero(1.0, np.array([4.0, 0.0], np.float32)).dtype == np.float32
