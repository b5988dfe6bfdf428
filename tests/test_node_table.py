"""A column is one thing: it keeps its values and classes whatever it is used for, and is found
under its name everywhere."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from core.audit.asked.answers import Answers, find_obstacle
from core.audit.asked.spec import AuditSpec
from core.audit.computing.prepared import prepare_graph
from core.audit.results.statistics import StatisticsSpec
from core.data.column_roles import assign_roles
from core.data.node_pairs import find_links_between
from core.data.packing import list_node_columns, pack_graph, pack_texts, unpack_graph
from core.data.readers import load_graph
from core.data.release_columns import choose_columns
from core.data.writers import write_release
from core.errors import InputError
from core.findings.leaving import list_choices, tabulate_columns, tabulate_uniqueness
from core.graph import Graph
from core.node_column import NodeColumn
from core.node_table import MANY, NodeTable
from core.release import Release

ROOT = Path(__file__).parents[1]
N = 6
EVERY = slice(None)
TEXTS = {
    "age": ["30", "41", "", "55.5", "30", "41"],
    "size": ["0.1", "12.7", "3", "4", "5", ""],
    "vote": ["1", "0", "", "1", "0", "1"],
    "city": ["a", "b", "a", "", "b", "a"],
}
NUMBERS = ("age", "size", "vote")
"""Columns that may be features, with unknown cells."""
WORDS = np.array([[1, 0], [0, 0], [1, 2], [0, 1], [0, 0], [1, 0]], np.float32)
ROOMS = ("findings", "figures", "report", "cli", "search")
ASK_THE_USE = {"leaving.py", "roles_form.py"}
"""Files that show a feature otherwise than an attribute, or change what columns are used for."""
BLOCKS = {"none": None, "dense": WORDS, "sparse": sparse.csr_array(WORDS)}
USES = st.fixed_dictionaries(dict.fromkeys(NUMBERS, st.sampled_from(["attribute", "feature"])))
MEDIANS = {"age": 41.0, "size": 4.0, "vote": 1.0}


def make_graph(block=WORDS) -> Graph:
    # Ten numbers or more, so that the exact ones stand beside the classes.
    columns = {name: NodeColumn.from_values(name, texts) for name, texts in TEXTS.items()}
    size = pd.to_numeric(pd.Series(TEXTS["size"])).to_numpy()
    columns["size"] = NodeColumn("size", columns["size"].codes, columns["size"].classes, size)
    names = () if block is None else ("ball", "zoo")
    pairs = [(i, (i + 1) % N) for i in range(N)]
    return Graph.from_pairs(pairs, N, attributes=columns, features=block, feature_names=names)


def read_texts(column: NodeColumn) -> list[str]:
    return [(*column.classes, "")[code] for code in column.codes.tolist()]


def assert_same(graph: Graph, name: str, nodes=EVERY) -> None:
    """A column has the texts and numbers that were given, whatever it is used for."""
    column, texts = graph.column(name), np.array(TEXTS[name], object)[nodes].tolist()
    assert [text.removesuffix(".0") for text in read_texts(column)] == texts
    if name != "city":
        given = pd.to_numeric(pd.Series(texts)).to_numpy(float)
        np.testing.assert_array_equal(column.numbers, given)


@pytest.mark.parametrize("block", BLOCKS)
@given(changes=st.lists(USES, min_size=1, max_size=3))
@settings(max_examples=15)
def test_a_column_keeps_values_and_classes_through_every_use(block, changes):
    first = graph = make_graph(BLOCKS[block])
    words = list(graph.feature_names)
    for uses in changes:
        features = [name for name, use in uses.items() if use == "feature"]
        attributes = [name for name in TEXTS if name not in features]
        graph = assign_roles(graph, attributes, [*words, *features])
        again = unpack_graph(pack_graph(graph))
        assert again.content_hash == graph.content_hash
        assert list_node_columns(pack_graph(graph)) == (tuple(attributes), graph.feature_names)
        some = graph.subgraph(np.array([5, 2, 0]))
        for found, rows in ((graph, EVERY), (again, EVERY), (some, [5, 2, 0])):
            assert set(found.columns) == {*TEXTS, *words}
            assert set(found.attributes) == set(attributes)
            x = found.dense_features()
            for name in TEXTS:
                assert_same(found, name, rows)
                if name in features:
                    filled = [float(text or MEDIANS[name]) for text in TEXTS[name]]
                    place = found.feature_names.index(name)
                    assert (x[:, place] == np.array(filled, np.float32)[rows]).all()
            for place, name in enumerate(words):
                assert (found.columns.read_numbers(name) == WORDS[rows, place]).all()
        if words:
            assert sparse.issparse(graph.features) == (block == "sparse")
    assert assign_roles(graph, list(TEXTS), words).content_hash == first.content_hash


def test_a_graph_whose_features_were_attributes_is_another_graph():
    """They tell more than the numbers: which cells are unknown."""
    graph = make_graph()
    read = assign_roles(graph, ["size", "vote", "city"], [*graph.feature_names, "age"])
    bare = read.update_columns(features=read.features)
    assert read.content_hash != bare.content_hash
    assert (read.features == bare.features).all()
    spec = AuditSpec(graph_hash=read.content_hash, private="vote")
    assert prepare_graph(spec, read).content_hash == prepare_graph(spec, bare).content_hash
    as_private = prepare_graph(AuditSpec(graph_hash=read.content_hash, private="age"), read)
    assert_same(as_private, "age")
    assert "age" not in as_private.feature_names


def make_every_use() -> Graph:
    """age is read as a number, city and vote are attributes, ball and zoo words."""
    graph = make_graph(sparse.csr_array(WORDS))
    return assign_roles(graph, ["vote", "city"], [*graph.feature_names, "age"])


@pytest.mark.parametrize("name", ["age", "vote", "ball"])
def test_a_column_is_found_under_its_name_whatever_it_is_used_for(name, tmp_path):
    graph = make_every_use()
    column = graph.column(name)
    assert name in graph.columns.list_choices()
    assert name in list_choices(graph)[0]
    for field in ("private", "utility"):
        spec = AuditSpec(graph_hash=graph.content_hash, **{field: name})
        prepared = prepare_graph(spec, graph)
        assert prepared.attributes[name].classes == column.classes
        assert name not in prepared.feature_names
    assert find_obstacle(Answers(secrets=("attribute",), private=name), graph) == ""
    assert choose_columns(graph, [name], []).columns.keys() == {name}
    mixing = StatisticsSpec(epsilon=1, statistics=("mixing",), mixing_column=name)
    assert mixing.find_column(graph).classes == column.classes
    known = find_links_between(graph, name, column.classes[0], column.classes[1])
    codes = column.codes[graph.edges]
    assert len(known) == (np.sort(codes, axis=1) == [0, 1]).all(axis=1).sum()
    table = tabulate_columns(graph, graph)
    assert name in set(table.column)
    assert len(tabulate_uniqueness(graph, [name]))
    for fields in ({"attributes": [name]}, {"columns": [name]}):
        write_release(Release(graph), tmp_path, "r", {}, ("csv",), **fields)
        written = pd.read_csv(tmp_path / "r.nodes.csv", dtype=str, keep_default_na=False)
        assert written.columns.tolist() == ["id", name]
        rows = [graph.index[node] for node in written.id]
        wanted = [text or ("41" if name == "age" else "") for text in TEXTS.get(name, [])]
        wanted = wanted or [f"{value:g}" for value in WORDS[:, 0]]
        assert written[name].tolist() == [wanted[row] for row in rows]


def test_an_unknown_column_is_told_in_one_way():
    graph = make_every_use()
    spec = AuditSpec(graph_hash=graph.content_hash, private="cty")
    asked = [
        lambda: graph.column("cty"),
        lambda: graph.with_private("cty"),
        lambda: prepare_graph(spec, graph),
        lambda: choose_columns(graph, ["cty"], []),
        lambda: assign_roles(graph, ["cty"], []),
        lambda: assign_roles(graph, [], ["cty"]),
        lambda: tabulate_uniqueness(graph, ["cty"]),
        lambda: find_links_between(graph, "cty", "a", "b"),
    ]
    for ask in asked:
        with pytest.raises(InputError, match="must be a column of the graph; got cty; did you"):
            ask()


@pytest.mark.parametrize("read", [{"height": 1.0}, {"age": np.nan}, {"city": 1.0}])
def test_a_feature_that_cannot_be_read_is_refused(read):
    """A stored graph may come from elsewhere."""
    packed = pack_graph(make_graph())
    packed["read"] = pack_texts([json.dumps(read)])
    with pytest.raises(InputError, match=f"feature '{next(iter(read))}' must"):
        unpack_graph(packed)


@pytest.mark.parametrize("use", ["attribute", "feature"])
def test_a_file_gives_back_the_column_that_was_written(use, tmp_path):
    graph = make_graph(None)
    features = ["age", "size", "vote"] if use == "feature" else []
    changed = assign_roles(graph, [name for name in TEXTS if name not in features], features)
    formats = ("csv", "graphml", "parquet", "npz")
    write_release(Release(changed), tmp_path, "r", {}, formats, columns=list(TEXTS))
    roles = dict.fromkeys(TEXTS, "attribute")
    for name in ("r.graphml", "r.parquet", "r.csv"):
        nodes = None if name == "r.graphml" else tmp_path / name.replace("r.", "r.nodes.")
        found = load_graph(tmp_path / name, nodes_path=nodes, roles=roles).graph
        order = [graph.index[node] for node in found.node_ids]
        for column in TEXTS:
            if column in features:  # what leaves are the numbers that attackers read
                filled = [float(text or MEDIANS[column]) for text in TEXTS[column]]
                numbers = np.array(filled, np.float32)[order]
                assert np.array_equal(found.column(column).numbers.astype(np.float32), numbers)
            else:
                assert_same(found, column, order)


def test_what_leaves_tells_nothing_that_the_numbers_do_not(tmp_path):
    """A file's hash confirms guesses: of unknown cells that it shows as the median too."""
    graph = make_every_use()
    numbers = graph.update_columns(features=graph.features)
    hashes = set()
    for number, one in enumerate((graph, numbers)):
        folder = tmp_path / str(number)
        write_release(Release(one), folder, "r", {}, ("npz",), columns=["age"])
        hashes.add((folder / "r.provenance.json").read_text().partition("content_hash")[2][:70])
    assert len(hashes) == 1


def test_a_wide_block_is_one_choice_and_its_names_are_found():
    block = sparse.csr_array(np.eye(N, MANY + 2, dtype=np.float32))
    wide = NodeTable(make_graph(None).attributes, block)
    assert len(wide.together) == MANY + 2
    assert wide.list_choices() == list(TEXTS)
    assert wide["3"].codes.tolist() == [0, 0, 0, 1, 0, 0]
    private = wide.as_attributes(["3"])
    assert private.list_choices() == [*TEXTS, "3"]
    assert private.block.shape == (N, MANY + 1)
    assert sparse.issparse(private.block)
    assert wide.take(np.arange(N)).block.nnz == N


def test_nobody_else_looks_a_column_up_in_one_of_the_two_kinds():
    """Above the data, a name is looked up in `columns`: in the attributes alone, or among the
    names of features, a column of another use is not found."""
    found = []
    for folder in (ROOT / "pages", *(ROOT / "core" / room for room in ROOMS)):
        for path in sorted(folder.rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [path.name for node in ast.walk(tree) if is_half(node)]
    assert set(found) == ASK_THE_USE


def is_half(node: ast.AST) -> bool:
    """`x.attributes[…]`, `x.attributes.get(…)`, `x.feature_names.index(…)`, or a name sought there
    by `in`."""

    def names(part: ast.AST) -> bool:
        return isinstance(part, ast.Attribute) and part.attr in ("attributes", "feature_names")

    if isinstance(node, ast.Subscript):
        return names(node.value) and not isinstance(node.slice, ast.Slice)
    if isinstance(node, ast.Attribute):
        return names(node.value) and node.attr in ("get", "index")
    if isinstance(node, ast.Compare):
        is_in = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
        return is_in and any(map(names, node.comparators))
    return False
