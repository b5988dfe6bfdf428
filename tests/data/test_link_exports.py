"""Published columns of links are in every format, and come back the same here and elsewhere."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from torch_geometric.data import Data

from core.data.readers import load_graph
from core.data.writers import write_release
from core.errors import FormatError
from core.graph import Graph
from core.link_table import LinkColumn, LinkTable
from core.release import Release
from core.seeding import Seed
from tests.oracles.events import rows_by_link

FORMATS = ("csv", "parquet", "graphml", "gexf", "npz", "pt")
NAMES = ("amount", "at", "calls", "day", "how", "way")


def make(weights: bool = False) -> Graph:
    """Five links, of which one has three events and one none; texts that formats must escape."""
    edges = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]])
    links = [0, 0, 0, 1, 2, 4]
    days = np.array(["2024-01-02", "2024-01-03", "2024-02-29", "NaT", "2024-01-02", "2023-12-31"])
    columns = {
        "calls": LinkColumn("number", np.array([2, 1, 1, 7, 3, -9])),
        "amount": LinkColumn("number", np.array([0.1, np.nan, 1e-7, 12345.678, -2.5, 3.0])),
        "at": LinkColumn("time", 1_084_601_170 + np.arange(6) * 61, unit="unix s"),
        "day": LinkColumn("time", days.astype("M8[D]").astype(np.int64), unit="D"),
        "how": LinkColumn("category", np.array([0, 1, 0, 2, -1, 1]), ('=a "b"', "c <d> & e", "ö")),
        "way": LinkColumn("direction", np.array([0, 1, 2, 1, 0, 0])),
    }
    return Graph(
        edges,
        ("n1", "n2", "n3", "n4", "n5"),
        weights=np.arange(5) + 0.5 if weights else None,
        link_table=LinkTable(links, columns),
    )


def write(graph: Graph, folder, kind: str, **options) -> None:
    write_release(Release(graph), folder, "r", {}, (kind,), **options)


def events(graph: Graph) -> list[tuple]:
    """Rows as (first id, second id, values), unknown ones as ""; ids in order."""
    names = sorted(graph.link_table.columns)
    found = []
    for (i, j), rows in rows_by_link(graph).items():
        for row in rows:
            values = dict(zip(names, row, strict=True))
            ends = graph.node_ids[i], graph.node_ids[j]
            if ends[0] > ends[1]:
                ends = ends[::-1]
                values["way"] = {"→": "←", "←": "→"}.get(values["way"], values["way"])
            found.append((*ends, *("" if v != v else v for v in values.values())))
    return sorted(found, key=str)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_comes_back_the_same(tmp_path, kind, weights):
    graph = make(weights)
    write(graph, tmp_path, kind)
    nodes = tmp_path / f"r.nodes.{'parquet' if kind == 'parquet' else 'csv'}"
    options = {"nodes_path": nodes} if nodes.exists() and kind != "pt" else {}
    again = load_graph(tmp_path / f"r.{kind}", **options).graph
    if kind == "pt":  # ids are in the table of nodes
        again = replace(again, node_ids=tuple(pd.read_csv(nodes)["id"]))
    assert (again.num_nodes, again.num_edges) == (5, 5)
    assert events(again) == events(graph)
    columns = again.link_table.columns
    assert {n: (c.kind, c.unit) for n, c in columns.items()} == {
        n: (c.kind, c.unit) for n, c in graph.link_table.columns.items()
    }
    if weights:
        place = dict(zip(map(tuple, graph.edges.tolist()), graph.weights, strict=True))
        order = [int(name[1]) - 1 for name in again.node_ids]
        for (i, j), weight in zip(again.edges.tolist(), again.weights, strict=True):
            assert place[tuple(sorted((order[i], order[j])))] == weight
    else:
        assert again.weights is None


@pytest.mark.parametrize("kind", FORMATS)
def test_directions_follow_pseudonyms(tmp_path, kind):
    graph = make()
    write(graph, tmp_path, kind, pseudonyms=Seed(3))
    again = load_graph(tmp_path / f"r.{kind}").graph
    ways = dict.fromkeys("→←↔", 0)
    for at, way in zip(
        again.link_table.columns["at"].values, again.link_table.columns["way"].format_values(),
        strict=True,
    ):  # fmt: skip
        ways[way] += 1
        assert at in graph.link_table.columns["at"].values
    assert ways["↔"] == 1
    out = {}
    for source in (graph, again):
        table = source.link_table
        ends = source.edges[table.links]
        forward = table.columns["way"].values == 0
        start = np.where(forward, ends[:, 0], ends[:, 1])
        one_way = table.columns["way"].values < 2
        times = table.columns["at"].values[one_way]
        sent = pd.Series(times).groupby(start[one_way]).apply(lambda s: tuple(sorted(s)))
        out[id(source)] = sorted(sent)
    assert out[id(graph)] == out[id(again)]  # whoever began the same events is one node


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_pandas_reads_a_row_an_event(tmp_path, kind):
    write(make(True), tmp_path, kind)
    path = tmp_path / f"r.{kind}"
    table = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
    assert list(table.columns) == ["source", "target", "weight", *NAMES]
    assert len(table) == 7  # six events, and the link without
    first = table[(table.source == "n1") & (table.target == "n2")]
    assert first.weight.tolist() == [0.5] * 3
    assert sorted(first["at"].tolist()) == [1084601170, 1084601231, 1084601292]
    assert sorted(first["way"]) == ["←", "→", "↔"]
    bare = table[(table.source == "n3") & (table.target == "n4")]
    assert bare["calls"].isna().all()


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_networkx_reads_an_edge_an_event(tmp_path, kind):
    write(make(True), tmp_path, kind)
    graph = getattr(nx, f"read_{kind}")(tmp_path / f"r.{kind}")
    assert graph.number_of_edges() == 7
    rows = [data for _, _, data in graph.edges("n2", data=True) if "how" in data]
    assert {data["how"] for data in rows} == {'=a "b"', "c <d> & e"}
    found = [(data["calls"], data["at"], data["day"], data["way"]) for data in rows]
    assert (2, 1084601170, "2024-01-02", "→") in [
        (int(c), int(at), day, way) for c, at, day, way in found
    ]


def test_numpy_and_pyg_read_arrays(tmp_path):
    graph = make()
    write(graph, tmp_path, "npz")
    write(graph, tmp_path, "pt")
    data = Data(**torch.load(tmp_path / "r.pt", weights_only=True))
    tensors = {name: data[name].numpy() for name in data.to_dict() if name.startswith("link_")}
    with np.load(tmp_path / "r.npz") as stored:
        for arrays in (stored, tensors):
            assert arrays["link_ends"].tolist() == graph.edges[graph.link_table.links].tolist()
            for number, column in enumerate(graph.link_table.columns.values()):
                np.testing.assert_array_equal(arrays[f"link_values_{number}"], column.values)


def test_damaged_arrays_of_events_are_refused(tmp_path):
    write(make(), tmp_path, "npz")
    with np.load(tmp_path / "r.npz") as stored:
        arrays = dict(stored)
    for change in (
        {"link_ends": arrays["link_ends"][:3]},
        {"link_ends": arrays["link_ends"].ravel()},
        {"link_ends": -arrays["link_ends"]},
        {"link_info": np.frombuffer(b"[1", np.uint8)},
        {"link_info": np.frombuffer(b'[["x", "number"]]', np.uint8)},
        {"link_values_0": np.array(["a"] * 6)},
    ):
        np.savez(tmp_path / "d.npz", **{**arrays, **change})
        with pytest.raises(FormatError, match="link_ends"):
            load_graph(tmp_path / "d.npz")
    del arrays["link_values_0"]
    np.savez(tmp_path / "d.npz", **arrays)
    with pytest.raises(FormatError, match="link_ends"):
        load_graph(tmp_path / "d.npz")


def test_columns_named_like_ends_get_other_names(tmp_path):
    graph = make()
    table = LinkTable(graph.link_table.links, {"weight": graph.link_table.columns["at"]})
    write(replace(graph, link_table=table), tmp_path, "csv")
    again = load_graph(tmp_path / "r.csv").graph
    assert again.weights is None
    assert set(again.link_table.columns) == {"weight_column"}
