"""Digits with a leading zero are names, as postal codes are, and leave as they came."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

from core import from_networkx, from_pandas
from core.data.columns import is_numeric, why_ignore
from core.data.readers import load_graph
from core.data.release_columns import choose_columns, show_columns
from core.data.writers import write_release
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn
from core.partitioned.reading import read_attribute
from core.release import EMPIRICAL, Release

CODES = ["01000", "75011", "06100", "69003"] * 5
IDS = [f"c{number}" for number in range(20)]
LINKS = pd.DataFrame({"source": IDS[:-1], "target": IDS[1:], "office": CODES[:-1]})
NODES = pd.DataFrame({"id": IDS, "code": CODES, "age": [str(age) for age in range(20, 40)]})


def read_nodes(folder, suffix) -> Graph:
    links, nodes = folder / "links.csv", folder / f"nodes.{suffix}"
    LINKS.to_csv(links, index=False)
    if suffix == "pandas":
        return from_pandas(LINKS, NODES)
    if suffix == "networkx":
        network = from_pandas(LINKS, NODES).to_networkx()
        for node, code in zip(network, CODES, strict=True):
            network.nodes[node]["code"] = code
        return from_networkx(network)
    NODES.to_csv(nodes, index=False) if suffix == "csv" else NODES.to_parquet(nodes)
    return load_graph(links, nodes_path=nodes).graph


@pytest.mark.parametrize("suffix", ["csv", "parquet", "pandas", "networkx"])
def test_codes_of_nodes_are_classes_and_written_as_they_were(tmp_path, suffix):
    graph = read_nodes(tmp_path, suffix)
    assert "code" not in graph.feature_names
    assert graph.attributes["code"].kind == "class"
    release = Release(graph, "random_deletion", {}, EMPIRICAL)
    write_release(release, tmp_path, "out", {}, ("csv",), attributes=["code"])
    with (tmp_path / "out.nodes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["code"] for row in rows) == sorted(CODES)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_codes_of_links_are_kinds_and_say_why(tmp_path, suffix):
    path = tmp_path / f"links.{suffix}"
    LINKS.to_csv(path, index=False) if suffix == "csv" else LINKS.to_parquet(path)
    loaded = load_graph(path)
    assert sorted(loaded.graph.link_table.columns["office"].classes) == sorted({*CODES})
    (use,) = [column for column in loaded.report.columns if column.name == "office"]
    assert (use.kind, use.why) == ("class", "by all its values")


def test_a_table_says_why_its_digits_are_text(tmp_path):
    nodes, links = tmp_path / "nodes.csv", tmp_path / "links.csv"
    NODES.to_csv(nodes, index=False)
    LINKS.to_csv(links, index=False)
    uses = {c.name: c for c in load_graph(links, nodes_path=nodes).report.columns}
    assert uses["code"].why == "digits with leading zeros are text"
    assert (uses["age"].use, uses["age"].why) == ("feature", "")
    chosen = load_graph(links, nodes_path=nodes, roles={"code": "feature"}).graph
    assert chosen.features[0].tolist() == [1000.0, 20.0]  # as its owner says


@pytest.mark.parametrize(
    ("values", "is_number"),
    [
        (["0", "1", "2.5"], True),
        (["0.5", "-0.25", "10"], True),
        (["", "7", "8"], True),
        (["007", "8", "9"], False),
        (["-01", "2", ""], False),
        (["00", "1", "2"], False),
    ],
)
def test_a_zero_alone_or_before_the_mark_is_a_number(values, is_number):
    assert is_numeric(pd.Series(values, dtype=object)) == is_number
    column = NodeColumn.from_values("x", [*values, *map(str, range(11, 30, 2))])
    assert (column.values is not None) == is_number


def test_many_codes_are_left_out_with_their_reason():
    codes = pd.Series([f"{i % 60:05d}" for i in range(100)], name="code")
    assert why_ignore(codes) == "codes with leading zeros: 60 distinct values"
    texts = pd.Series([f"w{i % 60:05d}" for i in range(100)], name="code")
    assert why_ignore(texts) == "free text: 60 distinct values"


def test_attackers_and_rules_take_codes_for_names():
    codes = [f"{i % 12 + 1:02d}" for i in range(24)]
    column = NodeColumn.from_values("code", codes)
    assert column.numbers is None
    pairs = [(i, i + 1) for i in range(23)]
    graph = Graph.from_pairs(pairs, 24, attributes={"code": column})
    assert show_columns(graph, ["code"]).features.shape == (24, 12)
    for rule in ("bin=5", "year"):
        with pytest.raises(InputError, match=r"needs a column of .*; got code = 01"):
            choose_columns(graph, ["code"], [f"code:{rule}"])
    kept = choose_columns(graph, ["code"], ["code:shared=2"]).attributes["code"]
    assert kept.classes == column.classes
    assert choose_columns(graph, ["code"], ["code:shared=3"]).attributes["code"].classes == (
        "other",
    )


@pytest.mark.parametrize("given", [["01", "2", "", "2"], ["1", "2", "", "2"]])
def test_codes_of_a_large_graph(tmp_path, given):
    path = tmp_path / "nodes.csv"
    pd.DataFrame({"id": range(4), "code": given}).to_csv(path, index=False)
    column = read_attribute(path, "id", "code", 4)
    texts = np.array([*column.classes, ""])[column.codes]
    assert texts.tolist() == given
