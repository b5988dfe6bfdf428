import hashlib
import json
from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from core.data.readers import load_graph
from core.data.text_input import escape_cell, unescape_cell
from core.data.writers import shuffle_nodes, sort_nodes, write_release
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn
from core.release import Guarantee, Release
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, two_communities

NASTY = ("=1+1", "+x", "-5", "@cmd", "'=quoted", "#no comment", "<b>\"&'</b>", "a,b;c", "漢 Ω")

WRITTEN = ("csv", "parquet", "graphml", "gexf", "npz", "pt")


def nasty_graph():
    attribute = NodeColumn("=team", [0, 1, -1, 0, 1, 0, 1, 0, 1], ("=SUM(A1)", "<red>"))
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [0, 7], [7, 8]])
    return Graph.from_pairs(edges, 9, node_ids=NASTY, attributes={"=team": attribute})


def write(graph, folder, **options):
    paths = write_release(Release(graph), folder, "g", {"program": "test"}, **options)
    return {path.name.removeprefix("g."): path for path in paths}


def equal_links(a, b):
    def named(graph):
        ids = graph.node_ids
        weights = np.ones(graph.num_edges) if graph.weights is None else graph.weights
        return {
            frozenset((ids[i], ids[j])): w
            for (i, j), w in zip(graph.edges.tolist(), weights.tolist(), strict=True)
        }

    return named(a) == named(b)


def equal_attributes(a, b):
    values = [
        {
            (name, node): attribute.classes[code]
            for name, attribute in graph.attributes.items()
            for node, code in zip(graph.node_ids, attribute.codes, strict=True)
            if code >= 0
        }
        for graph in (a, b)
    ]
    return values[0] == values[1]


@pytest.mark.parametrize("graph", [*(make() for make in GRAPHS.values()), nasty_graph()])
def test_what_is_written_reads_back(graph, tmp_path):
    names = tuple(graph.attributes)
    files = write(graph, tmp_path, columns=[*names, *graph.feature_names])
    roles = dict.fromkeys(names, "attribute")
    back = {
        "csv": load_graph(files["csv"], nodes_path=files["nodes.csv"], roles=roles).graph,
        "graphml": load_graph(files["graphml"], roles=roles).graph,
        "npz": load_graph(files["npz"]).graph,
    }
    for found in back.values():
        assert sorted(found.node_ids) == sorted(graph.node_ids)
        assert equal_links(found, graph)
        assert equal_attributes(found, graph)
    told = json.loads(files["provenance.json"].read_text())["release"]
    assert back["npz"].content_hash == told["content_hash"]
    if all(column.counts.all() for column in graph.attributes.values()):
        assert back["npz"].content_hash == sort_nodes(graph).content_hash


@pytest.mark.parametrize("pseudonyms", [None, Seed(1)], ids=["ids", "pseudonyms"])
def test_no_file_and_no_hash_knows_a_class_that_nobody_has(tmp_path, pseudonyms):
    """Nor the numbers behind classes: who has all but one could try that out against the hash."""
    pay = NodeColumn.from_values("pay", np.random.default_rng(0).lognormal(10, 1, 40))
    city = NodeColumn("city", [0, 2] * 20, ("Bonn", "Secretville", "Ulm"))
    graph = two_communities(40)
    hashes = set()
    for number, (cities, numbers) in enumerate(
        [
            (city, pay),
            (replace(city, classes=("Bonn", "Elsewhere", "Ulm")), pay),
            (city, replace(pay, values=pay.values + 1)),
        ]
    ):
        known = graph.update_columns(attributes={"city": cities, "pay": numbers}, features=None)
        options = {"formats": WRITTEN, "columns": ["city", "pay"], "pseudonyms": pseudonyms}
        files = write(known, tmp_path / str(number), **options)
        for path in files.values():
            assert b"Secretville" not in read_all(path)
        back = load_graph(files["npz"]).graph
        told = json.loads(files["provenance.json"].read_text())["release"]
        assert back.attributes["city"].classes == ("Bonn", "Ulm")
        assert back.content_hash == told["content_hash"]
        hashes.add(told["content_hash"])
    assert len(hashes) == 1


def read_all(path):
    """Bytes of a file, and texts of its arrays."""
    if path.suffix != ".npz":
        return path.read_bytes()
    with np.load(path) as arrays:
        return "\n".join(str(array.tolist()) for array in arrays.values()).encode()


def test_the_order_of_rows_tells_nothing(tmp_path):
    """The same people from a table sorted by a secret and from one in another order."""
    graph = Graph.from_pairs(
        np.array([[0, 1], [1, 2], [2, 4], [3, 4]]),
        5,
        node_ids=("10", "zoe", "9", "009", "ann"),
        features=np.arange(5, dtype=np.float32)[:, None],
        weights=np.arange(1, 5),
    )
    other = graph.subgraph(np.array([3, 0, 4, 1, 2]))
    options = {"formats": WRITTEN, "columns": graph.feature_names}
    files = [write(g, tmp_path / str(i), **options) for i, g in enumerate((graph, other))]
    for name, path in files[0].items():
        assert path.read_bytes() == files[1][name].read_bytes(), name
    assert load_graph(files[0]["npz"]).graph.node_ids == ("009", "9", "10", "ann", "zoe")


def test_sparse_features_survive_the_npz(tmp_path):
    features = sparse.csr_array(np.eye(12, 5, dtype=np.float32))
    graph = Graph.from_pairs(two_communities(12).edges, 12, features=features)
    path = write(graph, tmp_path, columns=graph.feature_names)["npz"]
    assert load_graph(path).graph.content_hash == graph.content_hash


def test_networkx_reads_the_graphml(tmp_path):
    graph = GRAPHS["weighted"]()
    theirs = nx.read_graphml(write(graph, tmp_path)["graphml"])
    assert set(theirs) == set(graph.node_ids)
    assert sorted(w for _, _, w in theirs.edges(data="weight")) == pytest.approx(
        sorted(graph.weights.tolist())
    )


def test_no_attribute_leaves_unless_named(tmp_path):
    graph = two_communities(20)
    files = write(graph, tmp_path, formats=WRITTEN)
    for name, path in files.items():
        assert b"private" not in path.read_bytes()
        assert b"left" not in path.read_bytes()
        if not name.startswith(("nodes", "provenance")):
            found = load_graph(path).graph
            assert not found.attributes
            assert found.features is None
    assert files["nodes.csv"].read_text().splitlines()[0] == '"id"'
    named = write(graph, tmp_path, attributes=["label"])
    assert set(load_graph(named["npz"]).graph.attributes) == {"label"}
    with pytest.raises(InputError, match="must be a column of the graph"):
        write(graph, tmp_path, attributes=["salary"])


def test_spreadsheets_and_browsers_find_nothing_to_run(tmp_path):
    files = write(nasty_graph(), tmp_path, attributes=["=team"])
    for name in ("csv", "nodes.csv"):
        for line in files[name].read_text().splitlines():
            for cell in line.split(","):
                assert not cell.strip('"').startswith(("=", "+", "-", "@", "\t"))
    text = files["graphml"].read_text()
    assert "<b>" not in text
    assert "<red>" not in text
    assert ElementTree.fromstring(text) is not None


def test_xml_has_no_forbidden_characters(tmp_path):
    graph = Graph.from_pairs(np.array([[0, 1]]), 2, node_ids=("a\x00\x0b", "b\uffff"))
    path = write(graph, tmp_path, formats=["graphml"])["graphml"]
    assert load_graph(path).graph.node_ids == ("a\ufffd\ufffd", "b\ufffd")
    independents = Graph.from_pairs(np.array([[0, 1]]), 2, node_ids=("a\x00", "a\x01"))
    with pytest.raises(InputError, match="pseudonyms"):
        write(independents, tmp_path, formats=["graphml"])


def test_pseudonyms_break_ids_and_order_and_keep_the_graph(tmp_path):
    graph = two_communities(40)
    columns = ["label", *graph.feature_names]
    files = write(graph, tmp_path, columns=columns, pseudonyms=Seed(1))
    found = load_graph(files["npz"]).graph
    assert set(found.node_ids) == {f"n{i}" for i in range(1, 41)}
    assert found.edges.tolist() != graph.edges.tolist()
    assert nx.is_isomorphic(found.to_networkx(), graph.to_networkx())
    # Rows follow their nodes: the sum of the features per class is the same.
    for code in (0, 1):
        sums = [g.features[g.column("label").codes == code].sum(axis=0) for g in (found, graph)]
        assert sums[0] == pytest.approx(sums[1], rel=1e-4)
    same, other = (shuffle_nodes(graph, Seed(s)).edges.tolist() for s in (1, 2))
    assert same == found.edges.tolist()
    assert other != same


def test_weights_follow_their_links_under_pseudonyms():
    graph = GRAPHS["weighted"]()
    found = shuffle_nodes(graph, Seed(3))
    assert np.sort(found.weights) == pytest.approx(np.sort(graph.weights))
    sums = [np.sort(g.adjacency.sum(axis=1)) for g in (graph, found)]
    assert sums[0] == pytest.approx(sums[1], rel=1e-5)


def test_provenance_names_settings_guarantee_and_hashes(tmp_path):
    release = Release(
        two_communities(20),
        "edge_rand",
        {"epsilon": 6.0},
        Guarantee("edge", "graphs that differ in one link", 6.0),
        facts={"links_removed": 3},
    )
    paths = write_release(release, tmp_path, "edge_rand:epsilon=6 ../x", {"versions": {"a": "1"}})
    assert all(path.parent == tmp_path for path in paths)
    record = json.loads(paths[-1].read_text())
    assert record["versions"] == {"a": "1"}
    assert record["release"]["guarantee"]["label"] == "edge-DP, ε = 6"
    assert record["release"]["config"] == {"epsilon": 6.0}
    assert record["release"]["facts"] == {"links_removed": 3}
    assert set(record["files"]) == {path.name for path in paths[:-1]}
    for path in paths[:-1]:
        assert record["files"][path.name] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_same_release_same_bytes(tmp_path):
    graph = two_communities(20)
    first, second = write(graph, tmp_path / "a"), write(graph, tmp_path / "b")
    assert [p.read_bytes() for p in first.values()] == [p.read_bytes() for p in second.values()]


def test_unknown_format_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"csv, parquet, graphml, gexf, npz, pt.*xlsx"):
        write(two_communities(20), tmp_path, formats=["xlsx"])


@settings(max_examples=200)
@given(st.text(alphabet="'=+-@\t\rab ", max_size=6))
def test_escaping_cells_is_reversible_and_leaves_no_formula(text):
    escaped = escape_cell(text)
    assert unescape_cell(escaped) == text
    assert not escaped.startswith(("=", "+", "-", "@", "\t", "\r"))


def read_written_weights(paths):
    """Suffix → the weights as they stand in each file, without a reader of ours."""
    import pandas as pd
    import torch

    rows = [line.rpartition(",")[2] for line in paths["csv"].read_text().splitlines()[1:]]
    edges = [e for e in ElementTree.parse(paths["graphml"]).iter() if e.tag.endswith("}edge")]
    others = [e for e in ElementTree.parse(paths["gexf"]).iter() if e.tag.endswith("}edge")]
    with np.load(paths["npz"]) as arrays:
        data = arrays["adj_data"]
    return {
        "csv": rows,
        "graphml": [edge[0].text for edge in edges],
        "gexf": [edge.get("weight") for edge in others],
        "parquet": pd.read_parquet(paths["parquet"]).weight.to_numpy(),
        "npz": data,
        "pt": torch.load(paths["pt"])["edge_weight"].numpy(),
    }


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (["1084601170", "1083423586", "7", "9007199254740991"], np.int64),
        (["0.1", "1084601170.25", "7.0", "3.141592653589793"], np.float64),
    ],
)
def test_weights_leave_as_they_were_given(tmp_path, given, kind):
    """1084601170 left as 1084601216."""
    path = tmp_path / "calls.csv"
    ends = ["a,b", "a,c", "b,c", "c,d"]
    lines = "\n".join(f"{pair},{weight}" for pair, weight in zip(ends, given, strict=True))
    path.write_text(f"source,target,weight\n{lines}\n")
    graph = load_graph(path).graph
    paths = write(graph, tmp_path / "out", formats=WRITTEN)
    found = read_written_weights(paths)
    for suffix in ("csv", "graphml", "gexf"):
        assert found[suffix] == given, suffix
    for suffix in ("parquet", "npz", "pt"):
        assert found[suffix].dtype == kind, suffix
        count = 1 if suffix == "parquet" else 2  # both directions
        expected = sorted([*map(kind, given)] * count)
        assert sorted(found[suffix].tolist()) == expected, suffix
    for suffix in WRITTEN:
        again = load_graph(paths[suffix]).graph
        np.testing.assert_array_equal(again.weights, np.array(given, float), suffix)
