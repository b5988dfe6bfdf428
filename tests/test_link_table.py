"""Columns of links, against a plain list of events: (first id, second id, values)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.store.files import pack_release, unpack_release
from core.data.packing import pack_graph, unpack_graph
from core.errors import InputError
from core.graph import Graph
from core.link_table import DIRECTIONS, NO_TIME, LinkColumn, LinkTable
from core.node_column import MISSING
from tests.oracles.graphs import two_communities

N = 6
KINDS = ("call", "mail", "visit", "")
OPPOSITE = {"→": "←", "←": "→", "↔": "↔", "": ""}
EVENTS = st.lists(
    st.tuples(
        st.integers(0, N - 1),
        st.integers(0, N - 1),
        st.integers(-3, 3),
        st.sampled_from([*map(float, range(3)), np.nan]),
        st.sampled_from([0, 86400, NO_TIME]),
        st.sampled_from(KINDS),
        st.sampled_from([*DIRECTIONS, ""]),
    ),
    max_size=12,
)


def make(events) -> Graph:
    rows = [list(column) for column in zip(*events, strict=True)] or [[] for _ in range(7)]
    columns = {
        "calls": LinkColumn("number", np.array(rows[2], np.int64)),
        "amount": LinkColumn("number", np.array(rows[3], np.float64)),
        "when": LinkColumn("time", np.array(rows[4], np.int64), unit="s"),
        "kind": LinkColumn.of_texts(rows[5]),
        "way": LinkColumn(
            "direction",
            np.array([[*DIRECTIONS, ""].index(d) if d else -1 for d in rows[6]], np.int64),
        ),
    }
    pairs = np.array([event[:2] for event in events], np.int64).reshape(-1, 2)
    return Graph.from_pairs(pairs, N, link_columns=columns)


def show(value) -> str:
    return "" if value != value or value == "" else str(value)


def read(graph: Graph) -> list[tuple]:
    """Events as (first id, second id, texts of the values), whichever end is first."""
    table = graph.link_table
    names = list(table.columns)
    texts = zip(*(table.columns[name].format_values().tolist() for name in names), strict=True)
    found = []
    for link, values in zip(table.links.tolist(), texts, strict=True):
        i, j = (graph.node_ids[end] for end in graph.edges[link])
        row = dict(zip(names, map(show, values), strict=True))
        if i > j:
            i, j, row["way"] = j, i, OPPOSITE[row["way"]]
        found.append((i, j, *(row[name] for name in ("calls", "amount", "when", "kind", "way"))))
    return sorted(found)


def expect(events, keep=lambda _i, _j: True) -> list[tuple]:
    times = {0: "1970-01-01T00:00:00", 86400: "1970-01-02T00:00:00", NO_TIME: ""}
    rows = []
    for i, j, calls, amount, when, kind, way in events:
        if i != j and keep(str(i), str(j)):
            ends = (str(i), str(j), way) if i < j else (str(j), str(i), OPPOSITE[way])
            rows.append((*ends[:2], str(calls), show(amount), times[when], kind, ends[2]))
    return sorted(rows)


@given(EVENTS)
def test_every_event_is_a_row_of_its_link(events):
    assert read(make(events)) == expect(events)


@given(EVENTS, st.permutations(range(12)))
def test_the_order_of_rows_and_the_end_named_first_do_not_matter(events, order):
    other = [events[k] for k in order if k < len(events)]
    reversed_ = [(j, i, *rest[:-1], OPPOSITE[rest[-1]]) for i, j, *rest in other]
    graph = make(events)
    for same in (make(other), make(reversed_)):
        assert same.link_table.equals(graph.link_table)
        assert same.content_hash == graph.content_hash


@given(EVENTS, st.permutations(range(N)), st.integers(0, N))
def test_rows_follow_their_links_into_a_subgraph(events, order, size):
    nodes = np.array(order[: max(size, 1)])
    kept = {str(node) for node in nodes}
    part = make(events).subgraph(nodes)
    assert read(part) == expect(events, lambda i, j: {i, j} <= kept)


@given(EVENTS, st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=8))
def test_links_that_stay_keep_their_rows(events, pairs):
    graph = make(events)
    named = {frozenset(map(str, pair)) for pair in pairs}
    array = np.array(pairs, np.int64).reshape(-1, 2)
    is_named = np.array([set(map(str, e)) in named for e in graph.edges.tolist()], bool)
    kept = expect(events, lambda i, j: frozenset((i, j)) in named)
    assert read(graph.with_edges(array)) == kept
    assert read(graph.select_edges(is_named)) == kept
    rest = expect(events, lambda i, j: frozenset((i, j)) not in named)
    assert read(graph.without_edges(array)) == rest


@given(EVENTS)
def test_stored_tables_are_equal(events):
    graph = make(events)
    again = unpack_graph(pack_graph(graph))
    assert again.content_hash == graph.content_hash
    assert read(again) == expect(events)
    half = graph.select_edges(np.arange(graph.num_edges) % 2 == 0)
    released = unpack_release(pack_release(half, graph), graph)
    assert released.content_hash == half.content_hash
    bare = replace(half, link_table=None)
    assert unpack_release(pack_release(bare, graph), graph).link_table is None


def test_a_table_changes_the_hash_and_each_part_of_it():
    graph = two_communities(8)
    known = {graph.content_hash}
    rows = np.arange(graph.num_edges)
    variants = [
        {"x": LinkColumn("number", rows)},
        {"y": LinkColumn("number", rows)},
        {"x": LinkColumn("number", rows + 1)},
        {"x": LinkColumn("number", rows.astype(float))},
        {"x": LinkColumn("time", rows)},
        {"x": LinkColumn("time", rows, unit="s")},
        {"x": LinkColumn("category", rows * 0, ("a",))},
        {"x": LinkColumn("category", rows * 0, ("b",))},
    ]
    for columns in variants:
        known.add(replace(graph, link_table=LinkTable(rows, columns)).content_hash)
    known.add(
        replace(
            graph, link_table=LinkTable(rows[1:], {"x": variants[0]["x"].take(rows[1:])})
        ).content_hash
    )
    assert len(known) == len(variants) + 2
    assert graph.identity_hash == replace(graph, link_table=None).identity_hash


def test_classes_that_no_row_has_are_gone():
    column = LinkColumn("category", np.array([2, 0, MISSING, 2]), ("z", "b", "a", "c"))
    assert (column.classes, column.values.tolist()) == (("a", "z"), [0, 1, MISSING, 0])
    assert column.take(np.array([1])).classes == ("z",)
    table = LinkTable(np.arange(4), {"kind": column})
    pairs = np.array([[0, 1], [0, 2], [1, 2], [1, 3]])
    graph = Graph(pairs, tuple("abcd"), link_table=table)
    left = graph.without_edges(np.array([[0, 2]])).link_table.columns["kind"]
    assert left.classes == ("a",)  # the name of a kind that only a removed link had


def test_integers_stay_exact_and_dates_have_their_resolution():
    big = 2**53 + 1
    column = LinkColumn("number", np.array([big, -1]))
    assert column.format_values().tolist() == [big, -1]
    for unit, text in {
        "D": "2004-04-16",
        "m": "2004-04-16T00:00",
        "ms": "2004-04-16T00:00:00.000",
    }.items():
        value = np.datetime64("2004-04-16", unit).astype(np.int64)
        dates = LinkColumn("time", np.array([value, NO_TIME]), unit=unit)
        assert dates.format_values().tolist() == [text, ""]
        assert dates.known.tolist() == [True, False]
    plain = LinkColumn("time", np.array([1082040961, NO_TIME]), unit="unix s").format_values()
    assert plain[0] == 1082040961
    assert np.isnan(plain[1])


@pytest.mark.parametrize(
    ("make_table", "message"),
    [
        (lambda: LinkTable(np.arange(2), {}), "must have a column"),
        (lambda: LinkTable([-1], {"x": LinkColumn("number", [1])}), "link numbers from 0"),
        (lambda: LinkTable([0, 1], {"x": LinkColumn("number", [1])}), "'x' must have 2 rows"),
        (lambda: LinkColumn("word", [1]), "known kind; got word"),
        (lambda: LinkColumn("number", [[1]]), "one value a row"),
        (lambda: LinkColumn("number", [np.inf]), "finite"),
        (lambda: LinkColumn("time", [1], unit="years"), "unit of time; got years"),
        (lambda: LinkColumn("number", [1], unit="s"), "unit of time"),
        (lambda: LinkColumn("category", [1], ("a",)), "codes of its classes"),
        (lambda: LinkColumn("category", [-2], ("a",)), "codes of its classes"),
        (lambda: LinkColumn("direction", [3]), "codes of its classes"),
        (lambda: LinkColumn("direction", [-2]), "codes of its classes"),
        (
            lambda: Graph(
                [[0, 1]], ("a", "b"), link_table=LinkTable([1], {"x": LinkColumn("number", [1])})
            ),
            "link table must have link numbers below 1",
        ),
    ],
)
def test_what_is_no_table_is_refused(make_table, message):
    with pytest.raises(InputError, match=message):
        make_table()


def test_nothing_given_is_changed_and_nothing_held_can_be():
    links, values = np.array([1, 0]), np.array([5, 6])
    table = LinkTable(links, {"x": LinkColumn("number", values)})
    assert table.columns["x"].values.tolist() == [6, 5]
    assert (links.tolist(), values.tolist()) == ([1, 0], [5, 6])
    for array in (table.links, table.columns["x"].values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9
    with pytest.raises(TypeError):
        table.columns["y"] = table.columns["x"]
