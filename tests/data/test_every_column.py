"""Every column of a file has a use: the table of uses against the columns that the file holds.

What a file holds is read from it by a plain parser of the format, not from what was written.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from core.data.loaded import LoadedGraph
from core.data.readers import load_graph
from tests.data.test_table_archives import write_book, write_rows, write_zip

Columns = set[tuple[str, str]]
NAMES = (
    "age",
    "city",
    "note",
    "since",
    "kind",
    "weight",
    "is_new",
    "Größe",
    "x.y",
    "type",
    "score",
)
KINDS = ("number", "class", "text", "time", "blank", "constant", "flag", "missing")
NODES = 8
LINKS = 12


@st.composite
def tables(draw) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Columns of 12 links (after both ends) and of 8 nodes (after the id), as texts."""
    found = []
    for count in (LINKS, NODES):
        names = draw(st.lists(st.sampled_from(NAMES), min_size=0, max_size=5, unique=True))
        kinds = draw(st.lists(st.sampled_from(KINDS), min_size=len(names), max_size=len(names)))
        columns = {n: write_values(k, count) for n, k in zip(names, kinds, strict=True)}
        if "weight" in columns:
            columns["weight"] = write_values("number", count)
        found.append(pd.DataFrame(columns, index=range(count), dtype=object))
    links, nodes = found
    ends = {"source": [f"n{i % NODES}" for i in range(LINKS)]}
    ends["target"] = [f"n{(i * i + i + 1) % NODES}" for i in range(LINKS)]
    links = pd.concat([pd.DataFrame(ends), links], axis=1)
    nodes = pd.concat([pd.DataFrame({"id": [f"n{i}" for i in range(NODES)]}), nodes], axis=1)
    return links, nodes


def write_values(kind: str, count: int) -> list[str]:
    return {
        "number": [f"{1.5 * i + 1}" for i in range(count)],
        "class": [("red", "blue", "green")[i % 3] for i in range(count)],
        "text": [f"text {i} of many" for i in range(count)],
        "time": [f"2024-01-{i + 1:02}" for i in range(count)],
        "blank": [""] * count,
        "constant": ["same"] * count,
        "flag": [str(i % 2) for i in range(count)],
        "missing": ["", *(f"{i}" for i in range(1, count))],
    }[kind]


def build_network(tables: tuple[pd.DataFrame, pd.DataFrame]) -> nx.MultiGraph:
    links, nodes = tables
    graph = nx.MultiGraph()
    for row in nodes.to_dict("records"):
        graph.add_node(row.pop("id"), **{k: v for k, v in row.items() if v})
    for row in links.to_dict("records"):
        ends = row.pop("source"), row.pop("target")
        values = {k: float(v) if k == "weight" else v for k, v in row.items() if v}
        graph.add_edge(*ends, **values)
    return graph


def pick_values(tables: tuple[pd.DataFrame, pd.DataFrame]) -> Columns:
    return {(t, c) for t, table in zip(("links", "nodes"), tables, strict=True) for c in table}


# -- what a file holds, by a plain parser ------------------------------------------------------


def list_text(path: Path, table: str) -> Columns:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = text.decode().splitlines()
    return {(table, name) for name in next(csv.reader(lines))}


def list_graphml(path: Path) -> Columns:
    found: Columns = {("links", "source"), ("links", "target"), ("nodes", "id")}
    for element in ElementTree.parse(path).iter():
        tag, get = element.tag.rpartition("}")[2], element.attrib.get
        if tag == "key" and get("for") in ("node", "edge"):
            found.add(({"node": "nodes", "edge": "links"}[get("for")], get("attr.name")))
        if tag == "edge" and get("id"):
            found.add(("links", "id"))
    return found


def list_gexf(path: Path) -> Columns:
    found: Columns = {("nodes", "id")}
    for element in ElementTree.parse(path).iter():
        tag, get = element.tag.rpartition("}")[2], element.attrib.get
        if tag == "attributes":
            table = {"node": "nodes", "edge": "links"}[get("class")]
            found |= {(table, child.attrib["title"]) for child in element}
        if tag == "node" and get("label") != get("id"):
            found.add(("nodes", "node_label"))
        if tag == "edge":
            found |= {("links", name) for name in element.attrib if name != "type"}
    return found


def list_gml(path: Path) -> Columns:
    """By lines: NetworkX writes one value a line."""
    found: Columns = set()
    table, inner = "", []
    for line in path.read_text().splitlines():
        words = line.split()
        if line.startswith("  node ["):
            table, inner = "nodes", []
        elif line.startswith("  edge ["):
            table, inner = "links", []
        elif words[-1:] == ["["] and table:
            inner.append(words[0])
        elif words == ["]"] and inner:
            inner.pop()
        elif line.startswith("    ") and table:
            found.add((table, ".".join((*inner, words[0]))))
    return found


def list_json(path: Path) -> Columns:
    found: Columns = set()

    def add(table: str, place: str, value: object) -> None:
        if isinstance(value, dict) and value:
            for name, inner in value.items():
                add(table, f"{place}.{name}" if place else name, inner)
        else:
            found.add((table, place))

    content = json.loads(path.read_text())
    for table, key in (("nodes", "nodes"), ("links", "edges")):
        for row in content[key]:
            add(table, "", row)
    return found


# -- formats -----------------------------------------------------------------------------------


def save_table(path: Path, table: pd.DataFrame) -> None:
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    elif path.suffix == ".arrow":
        feather.write_feather(table, path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(table.to_csv(index=False).encode()))
    else:
        table.to_csv(path, index=False)


def write_network(kind: str) -> Callable[[Path, tuple[pd.DataFrame, pd.DataFrame]], None]:
    def write(path: Path, tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
        graph = build_network(tables)
        if kind == "json":
            path.write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
            return
        if kind in ("gml", "gexf"):  # their names of columns and links are narrower
            graph = nx.Graph(graph)
            for _, values in (*graph.nodes(data=True), *((0, d) for *_, d in graph.edges.data())):
                for name in [n for n in values if not re.fullmatch(r"[a-z_]+", n)]:
                    values[name.replace("x.y", "xy").replace("Größe", "size")] = values.pop(name)
        getattr(nx, f"write_{kind}")(graph, path)

    return write


NETWORKS = {"graphml": list_graphml, "gexf": list_gexf, "gml": list_gml, "json": list_json}
QUICK = settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def list_told(loaded: LoadedGraph) -> list[tuple[str, str]]:
    for use in loaded.report.columns:
        assert use.use
        assert use.use != "left out" or use.why, f"no reason for {use.name}"
    return sorted((use.table, use.name) for use in loaded.report.columns)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "arrow"])
@QUICK
@given(tables=tables())
def test_tables_of_links_and_nodes(tmp_path, suffix, tables):
    links, nodes = (tmp_path / f"{name}.{suffix}" for name in ("links", "nodes"))
    save_table(links, tables[0])
    if suffix == "arrow":
        nodes = tmp_path / "nodes.csv"
    save_table(nodes, tables[1])
    loaded = load_graph(links, nodes_path=nodes, id_column="id", layout={"header": "yes"})
    held = pick_values(tables)
    if suffix.startswith("csv"):
        held = list_text(links, "links") | list_text(nodes, "nodes")
    assert list_told(loaded) == sorted(held)


@pytest.mark.parametrize("suffix", ["xlsx", "zip"])
@QUICK
@given(tables=tables())
def test_both_tables_of_one_file(tmp_path, suffix, tables):
    path = tmp_path / f"g.{suffix}"
    links, nodes = (table.to_csv(index=False) for table in tables)
    if suffix == "zip":
        write_zip(path, links__csv=links, nodes__csv=nodes)
    else:
        write_book(path, links=write_rows(links), nodes=write_rows(nodes))
    loaded = load_graph(path, id_column="id", layout={"header": "yes"})
    assert list_told(loaded) == sorted(pick_values(tables))


@pytest.mark.parametrize("kind", NETWORKS)
@QUICK
@given(tables=tables())
def test_graph_files(tmp_path, kind, tables):
    path = tmp_path / f"g.{kind}"
    write_network(kind)(path, tables)
    told = list_told(load_graph(path))
    assert sorted(set(told)) == told, "told twice"
    assert set(told) - {("links", "direction")} == NETWORKS[kind](path)


FILES: dict[str, tuple[str, str]] = {
    "numbers.txt": (
        "1 2 5 7 x\n2 3 6 8 y\n3 1 6 9 y\n",
        "links: source target weight column4 column5",
    ),
    "m.csv": (",a,b,c\na,0,1,0\nb,0,0,1\nc,0,0,0\n", "links: rows columns cells"),
    "g.net": (
        '*Vertices 3\n1 "a" 0.1 0.2 box\n2 "b"\n3 "c"\n*Arcs\n1 2 1 l "x" c Blue\n2 3 4\n',
        "links: source target weight label direction shape~and~time"
        " nodes: number label place~and~shape",
    ),
    "plain.net": ("*Vertices 2\n*Edges\n1 2\n", "links: source target weight nodes: number"),
    "g.sif": ("a pp b\nb pp c\n", "links: source target kind"),
    "g.dl": (
        "dl n=2 format=edgelist1\ndata:\n1 2 1\n",
        "links: source target weight nodes: number",
    ),
    "l.dl": (
        "dl n=2\nlabels:\na,b\ndata:\n0 1\n1 0\n",
        "links: source target weight nodes: number label",
    ),
    "g.mtx": (
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n",
        "links: source target weight",
    ),
    "p.mtx": (
        "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n",
        "links: source target",
    ),
    "d3.json": (
        '{"nodes": [{"name": "a", "pos": {"x": 1, "y": [2]}, "none": null}, {"name": "b"}],'
        ' "links": [{"source": 0, "target": 1, "value": 3, "empty": null, "id": 7}]}',
        "links: source target value empty id nodes: name pos.x pos.y none",
    ),
    "cytoscape.json": (
        '{"elements": {"nodes": [{"data": {"id": "a", "age": 3}, "position": {"x": 1}},'
        ' {"data": {"id": "b"}}], "edges": [{"data": {"id": "e", "source": "a", "target": "b"}}]}}',
        "links: source target id nodes: id age position.x",
    ),
    "drawn.gexf": (
        '<gexf xmlns:viz="v"><graph><attributes class="node"><attribute id="0" title="empty"/>'
        '</attributes><nodes><node id="a" pid="b"><viz:color r="1"/></node><node id="b"/></nodes>'
        '<edges><edge id="0" source="a" target="b" label="x"><viz:thickness value="2"/></edge>'
        "</edges></graph></gexf>",
        "links: source target id label thickness nodes: id pid color empty",
    ),
    "yed.graphml": (
        '<graphml><key id="d0" for="node" yfiles.type="nodegraphics"/>'
        '<key id="d1" for="node" attr.name="pos" attr.type="vector_double"/>'
        '<key id="d2" for="edge" attr.name="never" attr.type="string"/><graph>'
        '<node id="a"><data key="d0">x</data><data key="d1">1,2</data></node><node id="b"/>'
        '<edge id="e" source="a" target="b"><data key="d9">1</data></edge></graph></graphml>',
        "links: source target id d9 never nodes: id d0 pos",
    ),
    "drawn.gml": (
        'graph [ node [ id 1 label "a" graphics [ x 1 fill [ r 2 ] ] ] node [ id 2 label "b" ]'
        " edge [ source 1 target 2 id 9 LabelGraphics [ text 1 ] ] ]",
        "links: source target id LabelGraphics.text nodes: id label graphics.x graphics.fill.r",
    ),
}
"""File → content, and its columns, ~ for a blank."""


@pytest.mark.parametrize("name", FILES)
def test_other_files(tmp_path, name):
    text, wanted = FILES[name]
    (tmp_path / name).write_text(text)
    table, held = "", []
    for word in wanted.split():
        if word.endswith(":"):
            table = word[:-1]
        else:
            held.append((table, word.replace("~", " ").replace("column", "column ", 1).strip()))
    held = [(t, "columns" if n == "column s" else n) for t, n in held]
    assert list_told(load_graph(tmp_path / name)) == sorted(held)


def test_arrays(tmp_path):
    arrays = {
        "edges": np.array([[0, 1], [1, 2]]),
        "features": np.eye(3),
        "x": np.eye(3),
        "labels": np.array([0, 1, 0]),
        "train_mask": np.array([1, 0, 1]),
    }
    np.savez(tmp_path / "g.npz", **arrays)
    loaded = load_graph(tmp_path / "g.npz")
    features = [("nodes", f"feature_{i}") for i in range(3)]
    ends = [("links", "source"), ("links", "target")]
    others = [("nodes", "label"), ("nodes", "train_mask"), ("nodes", "x")]
    assert list_told(loaded) == sorted([*ends, *features, *others])


def test_tensors(tmp_path):
    import torch
    from torch_geometric.data import Data

    data = Data(
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        edge_attr=torch.ones(2, 3),
        y=torch.tensor([0, 1, 0]),
        pos=torch.zeros(3, 2),
        train_mask=torch.tensor([True, False, True]),
    )
    data.name = "a text"
    torch.save(data, tmp_path / "g.pt")
    told = list_told(load_graph(tmp_path / "g.pt"))
    links = [("links", name) for name in ("source", "target", "edge_attr")]
    nodes = [("nodes", name) for name in ("label", "pos", "train_mask", "name")]
    assert told == sorted([*links, *nodes])


def test_musae_and_a_node_table_beside_a_graph_file(tmp_path):
    (tmp_path / "l.csv").write_text("id_1,id_2\n0,1\n1,2\n")
    (tmp_path / "f.json").write_text('{"0": [0], "1": [1], "2": []}')
    (tmp_path / "t.csv").write_text("id,name,mature\n0,ann,1\n1,bo,0\n2,cy,1\n")
    loaded = load_graph(
        tmp_path / "l.csv", nodes_path=tmp_path / "f.json", target_path=tmp_path / "t.csv"
    )
    wanted = {("links", "id_1"), ("links", "id_2"), ("nodes", "id"), ("nodes", "name")}
    wanted |= {("nodes", "mature"), ("nodes", "word_0"), ("nodes", "word_1")}
    assert list_told(loaded) == sorted(wanted)
    graph = nx.Graph([("0", "1", {"since": "2020-01-01"})])
    graph.nodes["0"]["own"] = 1
    nx.write_graphml(graph, tmp_path / "g.graphml")
    loaded = load_graph(tmp_path / "g.graphml", nodes_path=tmp_path / "t.csv")
    told = list_told(loaded)
    assert ("links", "since") in told
    assert {("nodes", "mature"), ("nodes", "own")} <= set(told)
    assert told.count(("nodes", "id")) == 2  # of the graph file and of the table
