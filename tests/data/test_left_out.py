"""What a file says and the graph does not keep is counted and told; limits name the true number."""

from __future__ import annotations

import re

import networkx as nx
import pytest

from core.data.catalogue import load_dataset
from core.data.loaded import LEFT_OUT
from core.data.readers import load_graph, read_preview
from core.errors import ResourceError


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_an_edge_within_an_edge_of_gml_is_told(tmp_path):
    club = load_dataset("karate").graph.to_networkx()
    text = "\n".join(nx.generate_gml(club))
    parts = text.split("  edge [\n")
    for outer in range(2, 46, 2):  # 22 of 78 links go into the one before
        body = parts[outer].removesuffix("  ]\n")
        parts[outer - 1] = (
            parts[outer - 1].removesuffix("  ]\n") + f"    edge [\n{body}    ]\n  ]\n"
        )
        parts[outer] = ""
    loaded = load_graph(write(tmp_path, "g.gml", "  edge [\n".join(filter(None, parts))))
    assert loaded.graph.num_edges == 78 - 22
    assert loaded.report.notes == ["22 edges within an edge not used"]
    whole = load_graph(write(tmp_path, "w.gml", text))
    assert (whole.graph.num_edges, whole.report.notes) == (78, [])


def test_further_graphs_and_unused_values_of_gml_are_told(tmp_path):
    edge = "edge [ source 1 target 2 kind 3 ]"
    text = f"graph [ node [ id 1 ] node [ id 2 ] {edge} ]\n"
    loaded = load_graph(write(tmp_path, "g.gml", text * 3))
    assert loaded.report.notes == ["2 further graphs not used"]
    (kind,) = (column for column in loaded.report.columns if column.use == "number of a link")
    assert (kind.table, kind.name) == ("links", "kind")
    assert kind.why.endswith("(1 value)")


GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="w" for="edge" attr.name="weight"/><key id="k" for="edge" attr.name="kind"/>
<graph edgedefault="undirected"><node id="a"><data key="x">1</data></node><node id="b"/>
<edge source="a" target="b"><data key="nobody">7</data></edge></graph>
<graph edgedefault="undirected"><node id="c"/>
<edge source="a" target="c"><data key="k">friend</data><data key="nobody">3</data></edge></graph>
</graphml>"""


def test_undeclared_keys_and_joined_graphs_of_graphml_are_told(tmp_path):
    loaded = load_graph(write(tmp_path, "g.graphml", GRAPHML))
    assert loaded.graph.num_edges == 2
    assert loaded.graph.weights is None
    assert loaded.report.notes == ["2 graphs of the file were read as one"]
    assert {(c.table, c.name): c.why for c in loaded.report.columns if c.use == LEFT_OUT} == {
        ("nodes", "x"): "its key is not declared (1 value)",
        ("links", "nobody"): "its key is not declared (2 values)",
        ("links", "weight"): "empty",
    }
    assert loaded.graph.link_table.columns["kind"].format_values().tolist() == ["friend"]


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_links_where_the_format_has_none_are_told(tmp_path, kind):
    """A line that was moved: NetworkX leaves such a link out as well, and says nothing."""
    graph = nx.path_graph(["a", "b", "c"])
    lines = list(getattr(nx, f"generate_{kind}")(graph))
    text = "\n".join(lines) if kind == "graphml" else "".join(lines)
    edge = re.search(r"<edge [^>]*/>", text)[0]
    moved = text.replace(edge, "")
    first = re.search(r"<node [^>]*/>", moved)[0]
    moved = moved.replace(first, first.replace("/>", f">{edge}</node>"), 1)
    loaded = load_graph(write(tmp_path, f"g.{kind}", moved))
    assert loaded.graph.num_edges == 1
    assert loaded.report.notes == ["1 edge within a node not used"]


def test_what_gexf_says_in_another_place_is_told(tmp_path):
    graph = nx.path_graph(["a", "b", "c"])
    nx.set_node_attributes(graph, "x", "kind")
    text = "".join(nx.generate_gexf(graph))
    edge = re.search(r"<edge [^>]*/>", text)[0]
    moved = text.replace(edge, "").replace("</graph>", f"{edge}</graph>")
    damaged = moved.replace("<attvalue ", "<attvaluf ", 1)
    loaded = load_graph(write(tmp_path, "g.gexf", damaged))
    assert loaded.graph.num_edges == 1
    assert sorted(loaded.report.notes) == [
        "1 edge within a graph not used",
        "1 element of nodes in attvalues not used",
    ]


def test_labels_that_are_no_ids_are_told(tmp_path):
    nodes = 'node [ id 1 label "a" ] node [ id 2 label "a" ]'
    path = write(tmp_path, "g.gml", f"graph [ {nodes} edge [ source 1 target 2 ] ]")
    loaded = load_graph(path)
    assert loaded.graph.node_ids == ("1", "2")
    (note,) = loaded.report.notes
    assert note == "nodes are called by their numbers: some labels are missing or repeated"


def test_values_of_edges_of_gexf_are_told(tmp_path):
    graph = nx.path_graph(["a", "b", "c"])
    nx.set_edge_attributes(graph, "friend", "kind")
    path = tmp_path / "g.gexf"
    nx.write_gexf(graph, path)
    uses = {column.name: column for column in load_graph(path).report.columns}
    assert uses["kind"].why == "1 kind (2 values)"


def test_limits_name_the_true_number(tmp_path):
    names = ",".join(f"x{i}" for i in range(100_000))
    table = write(tmp_path, "n.csv", f"id,{names}\n" + "1," + "," * 99_999 + "\n")
    with pytest.raises(ResourceError, match=r"at most 10,000 columns; got 100,001"):
        read_preview(table, is_nodes=True)
    links = write(tmp_path, "l.csv", f"{names}\n1" + "," * 99_999 + "\n")
    with pytest.raises(ResourceError, match=r"at most 10,000 columns; got 100,000"):
        load_graph(links)
    long = "x" * (1_000_000)
    path = write(tmp_path, "e.csv", f"{long},b\nb,c\n")
    with pytest.raises(ResourceError, match=r"ids of at most 1,000 characters; got 1,000,000"):
        load_graph(path)
    nodes = write(tmp_path, "long.csv", f"id,x\nb,1\nc,2\n{long},3\n")
    with pytest.raises(ResourceError, match=r"ids of at most 1,000 characters; got 1,000,000"):
        load_graph(write(tmp_path, "s.csv", "source,target\nb,c\n"), nodes_path=nodes)
