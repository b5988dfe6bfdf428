"""How NetworkX, igraph and Gephi write their files, and the oddities that they allow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

from core.data.readers import load_graph
from core.errors import InputError

PAIRS = [("ann", "bob"), ("bob", "cyd"), ("cyd", "ann"), ("cyd", "dan")]
LINKS = {frozenset(pair) for pair in PAIRS}


def make_graph(kind: type[nx.Graph] = nx.Graph, weight: object = 2) -> nx.Graph:
    graph = kind()
    graph.add_nodes_from((name, {"team": "red" if name < "c" else "blue"}) for name in "abcd")
    graph = nx.relabel_nodes(graph, dict(zip("abcd", ("ann", "bob", "cyd", "dan"), strict=True)))
    graph.add_edges_from((a, b, {"weight": weight}) for a, b in PAIRS)
    return graph


def read_links(path: Path, **options: object) -> set[frozenset[str]]:
    graph = load_graph(path, **options).graph
    return {frozenset(graph.node_ids[int(k)] for k in pair) for pair in graph.edges}


WRITERS: dict[str, tuple[str, Callable[[nx.Graph, Path], object]]] = {
    "GraphML": ("g.graphml", nx.write_graphml),
    "GraphML, named keys": (
        "g.graphml",
        lambda graph, path: nx.write_graphml_xml(graph, path, named_key_ids=True),
    ),
    "GraphML, inferred types": (
        "g.graphml",
        lambda graph, path: nx.write_graphml_xml(graph, path, infer_numeric_types=True),
    ),
    "GraphML, ids of links": (
        "g.graphml",
        lambda graph, path: (
            nx.write_graphml_xml(graph, path, edge_id_from_attribute="weight")
            if not graph.is_multigraph()
            else nx.write_graphml_xml(graph, path)
        ),
    ),
    "GEXF 1.1": ("g.gexf", lambda graph, path: nx.write_gexf(graph, path, version="1.1draft")),
    "GEXF 1.2": ("g.gexf", lambda graph, path: nx.write_gexf(graph, path, version="1.2draft")),
    "GML": ("g.gml", nx.write_gml),
    "GML, all as text": ("g.gml", lambda graph, path: nx.write_gml(graph, path, stringizer=str)),
    "edge list": ("g.txt", lambda graph, path: nx.write_edgelist(graph, path, data=False)),
    "weighted": ("g.txt", nx.write_weighted_edgelist),
    "edge list, commas": (
        "g.csv",
        lambda graph, path: nx.write_edgelist(graph, path, delimiter=",", data=["weight"]),
    ),
    "edge list, tabs, gzip": (
        "g.tsv.gz",
        lambda graph, path: nx.write_edgelist(graph, path, delimiter="\t", data=False),
    ),
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
@pytest.mark.parametrize("name", WRITERS)
def test_what_networkx_writes(tmp_path, name, kind):
    file, write = WRITERS[name]
    write(make_graph(kind, 2.5), tmp_path / file)
    assert read_links(tmp_path / file) == LINKS


@pytest.mark.parametrize("name", ["GraphML", "GEXF 1.2", "GML"])
def test_text_as_weight_is_asked_about_and_can_be_ignored(tmp_path, name):
    file, write = WRITERS[name]
    write(make_graph(weight="close"), tmp_path / file)
    with pytest.raises(InputError, match=r"must be numbers.*close.*leave the weights out"):
        load_graph(tmp_path / file)
    assert read_links(tmp_path / file, weight="none") == LINKS


SAMPLES = {
    "igraph GraphML": (
        "g.graphml",
        """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns
         http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
<!-- Created by igraph -->
  <key id="g_name" for="graph" attr.name="name" attr.type="string"/>
  <key id="v_name" for="node" attr.name="name" attr.type="string"/>
  <key id="v_age" for="node" attr.name="age" attr.type="double"/>
  <key id="e_weight" for="edge" attr.name="weight" attr.type="double"/>
  <graph id="G" edgedefault="undirected">
    <data key="g_name">four</data>
    <node id="n0"><data key="v_name">ann</data><data key="v_age">31</data></node>
    <node id="n1"><data key="v_name">bob</data><data key="v_age">nan</data></node>
    <node id="n2"><data key="v_name">cyd</data></node>
    <node id="n3"><data key="v_name">dan</data></node>
    <edge source="n0" target="n1"><data key="e_weight">1.5</data></edge>
    <edge source="n1" target="n2"><data key="e_weight">1</data></edge>
    <edge source="n2" target="n0"><data key="e_weight">1</data></edge>
    <edge source="n2" target="n3"><data key="e_weight">1</data></edge>
  </graph>
</graphml>""",
        {"n0": "ann", "n1": "bob", "n2": "cyd", "n3": "dan"},
    ),
    "igraph GML": (
        "g.gml",
        """Creator "igraph version 0.10.4 Tue Jan  3 12:00:00 2023"
Version 1
graph
[
  directed 0
  name "four"
  node
  [
    id 0
    name "ann"
  ]
  node
  [
    id 1
    name "bob"
  ]
  node
  [
    id 2
    name "cyd"
  ]
  node
  [
    id 3
    name "dan"
  ]
  edge
  [
    source 1
    target 0
    weight 1.5
  ]
  edge
  [
    source 2
    target 1
    weight 1
  ]
  edge
  [
    source 2
    target 0
    weight 1
  ]
  edge
  [
    source 3
    target 2
    weight 1
  ]
]
""",
        {"0": "ann", "1": "bob", "2": "cyd", "3": "dan"},
    ),
    "Gephi GEXF": (
        "g.gexf",
        """<?xml version='1.0' encoding='UTF-8'?>
<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">
  <meta lastmodifieddate="2023-05-01"><creator>Gephi 0.10.1</creator></meta>
  <graph defaultedgetype="undirected" mode="static">
    <attributes class="node" mode="static">
      <attribute id="modularity_class" title="Modularity Class" type="integer">
        <default>0</default>
      </attribute>
    </attributes>
    <nodes count="4">
      <node id="ann" label="Ann"><attvalues>
        <attvalue for="modularity_class" value="1"/></attvalues>
        <viz:size value="10.0"/><viz:position x="1.5" y="-2.0"/><viz:color r="1" g="2" b="3"/>
      </node>
      <node id="bob" label="Bob"/>
      <node id="cyd" label="Cyd"><nodes><node id="dan" label="Dan"/></nodes></node>
    </nodes>
    <edges count="4">
      <edge id="0" source="ann" target="bob" weight="2.0"/>
      <edge id="1" source="bob" target="cyd" type="directed"/>
      <edge id="2" source="cyd" target="ann"><attvalues/></edge>
      <edge id="3" source="cyd" target="dan" label="knows"/>
    </edges>
  </graph>
</gexf>""",
        {},
    ),
    "Gephi links": (
        "g.csv",
        "Source,Target,Type,Id,Label,timeset,Weight\n"
        + "".join(f"{a},{b},Undirected,{i},,,1.0\n" for i, (a, b) in enumerate(PAIRS)),
        {},
    ),
    "Gephi links, semicolons": (
        "g.csv",
        "Source;Target;Type;Id;Label;timeset;Weight\n"
        + "".join(f"{a};{b};Undirected;{i};;;1.0\n" for i, (a, b) in enumerate(PAIRS)),
        {},
    ),
    "Gephi GML": (
        "g.gml",
        'Creator "Gephi"\ngraph\n[\n  directed 0\n'
        + "".join(
            f'  node\n  [\n    id {i}\n    label "{name}"\n    graphics\n    [\n      x -1.5\n'
            f'      fill "#c0c0c0"\n    ]\n  ]\n'
            for i, name in enumerate(["ann", "bob", "cyd", "dan"])
        )
        + "".join(
            f"  edge\n  [\n    id {k}\n    source {i}\n    target {j}\n    value 1.0\n  ]\n"
            for k, (i, j) in enumerate([(0, 1), (1, 2), (2, 0), (2, 3)])
        )
        + "]\n",
        {},
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_igraph_and_gephi_write(tmp_path, name):
    file, text, names = SAMPLES[name]
    (tmp_path / file).write_text(text)
    found = read_links(tmp_path / file)
    assert {frozenset(names.get(end, end) for end in link) for link in found} == LINKS


def test_gephi_node_table(tmp_path):
    """Ids, labels and classes as Gephi's data laboratory exports them."""
    file, text, _ = SAMPLES["Gephi links"]
    (tmp_path / file).write_text(text)
    (tmp_path / "n.csv").write_text(
        "Id,Label,timeset,modularity_class\nann,Ann,,0\nbob,Bob,,0\ncyd,Cyd,,1\ndan,Dan,,1\n"
    )
    loaded = load_graph(tmp_path / file, nodes_path=tmp_path / "n.csv")
    assert loaded.graph.node_ids == ("ann", "bob", "cyd", "dan")
    assert {frozenset(loaded.graph.node_ids[k] for k in p) for p in loaded.graph.edges} == LINKS
