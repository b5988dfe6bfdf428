"""Ordinary files give the graph that the analyst meant, or are refused with what to do.

Each input is a small copy; where the folder of shared cases is there, its files are read as well.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest

from core.data import matrix_text
from core.data.id_checks import find_id_warnings
from core.data.link_columns import are_times, describe_links, guess_link_roles
from core.data.loaded import LoadedGraph
from core.data.matrix_text import find_matrix
from core.data.readers import load_graph
from core.data.sandbox import load_in_sandbox
from core.errors import FormatError, InputError

SHARED = Path(__file__).parents[3] / "shared" / "cases"

ICIJ = """node_id_start,node_id_end,rel_type,start_date,sourceID
1,11,address,,Panama Papers
2,12,address,,Panama Papers
2,13,officer,,Panama Papers
13,12,officer,,Paradise Papers
1,13,officer,,Paradise Papers
"""
BIPARTITE = "% bip unweighted\n% 7 4 3\n1 1\n1 2\n2 1\n3 2\n4 3\n2 3\n4 1\n"
TIMES = "1 2 1082040961\n3 4 1082155839\n5 2 1082414391\n1 2 1082439619\n"
SIF = "anna\tknows\tbo\nbo\tknows\tcy\ncy\tmarried\tanna\ncy\tknows\tdi\ndi\tmarried\ted\n"
NAMED = ";Anna;Bo;Cy;Di\nAnna;0;1;1;0\nBo;1;0;1;0\nCy;1;1;0;1\nDi;0;0;1;0\n"
PLAIN = "0,1,1,0\n1,0,1,0\n1,1,0,1\n0,0,1,0\n"
PAJEK = '*Vertices 3\n1\t"Anna Berg"\t0.1\n2\t"Anna Cole"\t0.3\n3\t"Bo Dahl"\t0.1\n'
PAJEK += "*Edges\n1\t2\t1\n2\t3\t2\n"
LABELLED = '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Edges\n1 2 1 l "friend of"\n2 3 l "kin"\n'
HEXADECIMAL = """<graphml><key id="k0" for="node" attr.name="age" attr.type="double"/>
<key id="k1" for="node" attr.name="pos" attr.type="vector_double"/>
<key id="k2" for="edge" attr.name="weight" attr.type="double"/><graph>
<node id="n0"><data key="k0">0x1.f4p+4</data><data key="k1">0x1p+3, 0x1p+3</data></node>
<node id="n1"><data key="k0">0x1.5p+5</data></node>
<edge source="n0" target="n1"><data key="k2">0x1.8p+1</data></edge></graph></graphml>"""
PHONES = "caller,callee,count\n4.91701E+11,4.91702E+11,3\n4.91702E+11,4.91703E+11,2\n"
IGRAPH = """<graphml><key id="v" for="node" attr.name="name" attr.type="string"/><graph>
<node id="n0"><data key="v">Anna</data></node><node id="n1"><data key="v">Bo</data></node>
<node id="n2"><data key="v">Cy</data></node>
<edge source="n0" target="n1"/><edge source="n1" target="n2"/></graph></graphml>"""
PARTIES = "name,party\nAnna,red\nBo,blue\nCy,red\n"
TWICE = "DB2\tDB1\t0.5\nDB1\tDB2\t0.25\nDB3\tDB4\t0.5\nDB3\tDB2\t0.75\nDB2\tDB3\t0.5\n"
DL = "DL, N=3, FORMAT = edgelist1\nLABELS:\nann\nbo\ncy\nDATA:\n1    2   1\n1    3   1\n"


HEADER = {"header": "yes"}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, name: str, text: str, **options: object) -> LoadedGraph:
    return load_graph(write(folder, name, text), **options)


def links_of(loaded: LoadedGraph) -> set[frozenset[str]]:
    graph = loaded.graph
    return {frozenset(graph.node_ids[end] for end in edge) for edge in graph.edges.tolist()}


def pairs(text: str) -> set[frozenset[str]]:
    return {frozenset(pair.split("-")) for pair in text.split()}


def find_use(loaded: LoadedGraph, name: str, table: str = "links") -> tuple[str, str, str]:
    (found,) = (c for c in loaded.report.columns if (c.table, c.name) == (table, name))
    return found.use, found.kind, found.why


def values_of(loaded: LoadedGraph, name: str) -> list[object]:
    return sorted(loaded.graph.link_table.columns[name].format_values().tolist())


# -- every case of the shared folder -----------------------------------------------------------


SIZES = {
    "c01_pajek_tabs.net": (4, 3),
    "c01b_pajek_tabs_distinct.net": (3, 2),
    "c01g_pajek_edgelabel.net": (3, 2),
    "c02_graphtool_noweight.graphml": (6, 6),
    "c02b_graphtool_weight.graphml": (6, 6),
    "c03_gexf_dynamic.gexf": (6, 6),
    "c04_konect_bip.txt": (7, 7),
    "c05_snap_temporal.txt": (5, 6),
    "c06_sif.txt": (5, 5),
    "c07_matrix_named.csv": (4, 4),
    "c07b_matrix_plain.csv": (4, 4),
    "c08_excel_phones.csv": (3, 3),
    "c09_null_ends.csv": "two node ids in every row.*'nan' in line 4.*quotes",
    "c09c_null_ends.csv": "two node ids in every row.*'null' in line 4.*quotes",
    "c12_dl.txt": (4, 3),
    "c13_igraph.graphml": (6, 6),
    "c15_inverted.tsv": (4, 3),
    "c24_cdr.csv": (5, 4),
    "c31_icij.csv": (5, 5),
}


@pytest.mark.parametrize("name", SIZES)
def test_the_shared_case(name):
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the shared case {name} is not here")
    wanted = SIZES[name]
    if isinstance(wanted, str):
        with pytest.raises(FormatError, match=wanted):
            load_graph(path)
        return
    graph = load_graph(path).graph
    assert (graph.num_nodes, graph.num_edges) == wanted


# -- ends are judged by what the values do -----------------------------------------------------


def test_ends_are_the_columns_that_share_ids(tmp_path):
    loaded = read(tmp_path, "l.csv", ICIJ)
    assert links_of(loaded) == pairs("1-11 2-12 2-13 13-12 1-13")
    assert loaded.graph.weights is None
    assert find_use(loaded, "node_id_start")[0] == "source"
    assert find_use(loaded, "sourceID")[:2] == ("kind of a link", "class")
    assert find_use(loaded, "start_date") == ("left out", "text", "empty")
    assert find_use(loaded, "rel_type")[2] == "2 kinds"
    assert values_of(loaded, "rel_type") == ["address"] * 2 + ["officer"] * 3


def test_ends_are_the_columns_that_match_the_node_table(tmp_path):
    """Row numbers, years and ids overlap; the table decides."""
    rows = [(i, 40 + i, 60 + i, 40 + i % 3) for i in range(20)]
    text = "nr,who,whom,size\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    nodes = write(tmp_path, "n.csv", "id,x\n" + "".join(f"{i},1\n" for i in range(43, 80)))
    loaded = read(tmp_path, "l.csv", text, nodes_path=nodes, missing_nodes="drop")
    uses = {c.use: c.name for c in loaded.report.columns if c.table == "links"}
    assert (uses["source"], uses["target"]) == ("who", "whom")


def test_unsure_ends_are_asked_for_and_the_options_decide(tmp_path):
    text = "a1,b1,c1\nann,x,bo\ncy,y,di\ned,z,fy\n"
    with pytest.raises(InputError, match=r"--source COLUMN --target COLUMN.*a1, b1, c1"):
        read(tmp_path, "l.csv", text, layout=HEADER)
    given = {"source": "c1", "target": "a1", "layout": HEADER}
    assert links_of(read(tmp_path, "l.csv", text, **given)) == pairs("ann-bo cy-di ed-fy")
    with pytest.raises(InputError, match=r"source must be a column; got d1; columns are: a1"):
        read(tmp_path, "l.csv", text, **given | {"source": "d1"})
    with pytest.raises(InputError, match="declares both ends"):
        read(tmp_path, "g.graphml", IGRAPH, source="name")


def test_links_are_told_in_words():
    table = pd.DataFrame({"w": [3.0, 4.5], "a": ["Anna Berg", "Cy"], "b": ["Bo Dahl", "Di"]})
    assert describe_links(table, ["a", "b", "w"], 1) == "Anna Berg – Bo Dahl, weight 3"
    assert describe_links(table, ["a", "b"]) == "Anna Berg – Bo Dahl; Cy – Di"


def test_one_given_end_finds_the_other(tmp_path):
    loaded = read(tmp_path, "l.csv", ICIJ, source="node_id_end")
    assert find_use(loaded, "node_id_start")[0] == "target"


def test_ignored_columns_of_the_links_are_no_ends(tmp_path):
    text = "x,source,target\n1,2,3\n2,3,4\n3,4,5\n"
    assert links_of(read(tmp_path, "l.csv", text, ignore=["source"])) == pairs("1-3 2-4 3-5")


def test_columns_without_a_header_can_be_chosen_by_number(tmp_path):
    loaded = read(tmp_path, "l.txt", "1 2 9\n2 3 8\n", source="2", target="3")
    assert links_of(loaded) == pairs("2-9 3-8")


@pytest.mark.parametrize(
    ("names", "ends"),
    [
        ("Source,Target,Type,Id", ("Source", "Target")),
        ("id,user1,user2", ("user1", "user2")),
        ("callee,caller,since", ("caller", "callee")),
        ("weight,to,from", ("from", "to")),
        ("left_key,right_key,year", ("left_key", "right_key")),
    ],
)
def test_names_decide_where_values_do_not(names, ends):
    rows = [[str(i), str(i + 1), str(i + 2), str(i)][: names.count(",") + 1] for i in range(6)]
    roles = guess_link_roles(pd.DataFrame(rows, columns=names.split(","))).roles
    assert tuple(next(c for c in roles if roles[c] == end) for end in ("source", "target")) == ends


def test_few_numbers_beside_two_kinds_of_nodes_are_no_end(tmp_path):
    """A rating from 1 to 3 shares numbers with the users; it replaces no column of many ids."""
    text = "".join(f"{i} {100 + i} {1 + i % 3}\n" for i in range(1, 20))
    loaded = read(tmp_path, "l.txt", text)
    assert loaded.graph.num_nodes == 38
    assert loaded.graph.weights is not None


# -- kinds, times, weights ---------------------------------------------------------------------


@pytest.mark.parametrize(("name", "column"), [("l.txt", "column 2"), ("l.sif", "kind")])
def test_the_kind_of_a_link_is_no_person(tmp_path, name, column):
    loaded = read(tmp_path, name, SIF)
    assert links_of(loaded) == pairs("anna-bo bo-cy cy-anna cy-di di-ed")
    assert find_use(loaded, column)[:2] == ("kind of a link", "class")
    assert values_of(loaded, column) == ["knows"] * 3 + ["married"] * 2
    assert "2 kinds" in find_use(loaded, column)[2]


def test_sif_lists_several_and_single_nodes(tmp_path):
    loaded = read(tmp_path, "l.sif", "a pp b c\nd\nc pp d\n")
    assert loaded.graph.node_ids == ("a", "b", "c", "d")
    assert links_of(loaded) == pairs("a-b a-c c-d")
    with pytest.raises(FormatError, match="a kind of link"):
        read(tmp_path, "l.sif", "a b\n")


@pytest.mark.parametrize("unit", ["", "000"])
def test_a_third_number_like_unix_times_is_no_weight(tmp_path, unit):
    loaded = read(tmp_path, "l.txt", TIMES.replace("\n", f"{unit}\n"))
    assert loaded.graph.weights is None
    assert find_use(loaded, "time")[:2] == ("time of a link", "time")
    assert loaded.report.num_duplicates == 1
    assert len(loaded.graph.link_table.links) == 4
    times = sorted(int(f"{line.split()[2]}{unit}") for line in TIMES.splitlines())
    assert values_of(loaded, "time") == times
    assert loaded.graph.link_table.columns["time"].unit == f"unix {'ms' if unit else 's'}"


def test_numbers_that_are_no_times_stay_weights(tmp_path):
    text = TIMES.replace("1082040961", "3")
    assert read(tmp_path, "l.txt", text).graph.weights is not None
    assert are_times(["631152000"])
    assert not are_times(["631151999"])
    assert not are_times(["2208988801"])


def test_the_weight_is_chosen_or_left_out(tmp_path):
    text = "source,target,calls,count\na,b,2,5\nb,c,3,6\n"
    assert read(tmp_path, "l.csv", text).graph.weights.tolist() == [5, 6]
    assert read(tmp_path, "l.csv", text, weight="calls").graph.weights.tolist() == [2, 3]
    loaded = read(tmp_path, "l.csv", text, weight="none")
    assert loaded.graph.weights is None
    assert find_use(loaded, "count") == ("left out", "number", "chosen")
    graph = nx.Graph([("a", "b", {"weight": 1, "calls": 7})])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    loaded = load_graph(tmp_path / "g.graphml", weight="calls")
    assert loaded.graph.weights.tolist() == [7]
    assert find_use(loaded, "weight")[0] == "number of a link"
    with pytest.raises(InputError, match=r"weight must be a column; got cost; columns are: "):
        load_graph(tmp_path / "g.graphml", weight="cost")
    with pytest.raises(InputError, match="--weight must be none"):
        read(tmp_path, "g.net", PAJEK, weight="cost")


def test_what_a_column_of_the_links_means(tmp_path):
    text = "source,target,trust,day,how\na,b,-1,2024-01-02,\nb,c,4,2024-02-03,\nc,d,5,2024-02-09,\n"
    loaded = read(tmp_path, "l.csv", text)
    assert find_use(loaded, "trust")[2].startswith("a rating with a sign (33 % negative)")
    assert find_use(loaded, "day") == ("time of a link", "time", "by its values")
    assert find_use(loaded, "how") == ("left out", "text", "empty")
    assert values_of(loaded, "trust") == [-1, 4, 5]
    assert values_of(loaded, "day") == ["2024-01-02", "2024-02-03", "2024-02-09"]


# -- two modes ---------------------------------------------------------------------------------


def test_person_1_and_event_1_are_two_nodes(tmp_path):
    loaded = read(tmp_path, "out.txt", BIPARTITE)
    assert (loaded.graph.num_nodes, loaded.graph.num_edges) == (7, 7)
    assert loaded.graph.node_ids[:5] == ("1", "2", "3", "4", "right 1")
    assert loaded.report.modes == {"left": 4, "right": 3}
    assert frozenset({"1", "right 1"}) in links_of(loaded)


def test_columns_of_people_and_things_are_two_modes(tmp_path):
    loaded = read(tmp_path, "l.csv", "user_id,movie_id,rating\n1,1,5\n2,1,3\n3,2,4\n")
    assert links_of(loaded) == {
        frozenset(pair) for pair in (("1", "movie 1"), ("2", "movie 1"), ("3", "movie 2"))
    }
    assert loaded.report.modes == {"user": 3, "movie": 2}
    assert loaded.graph.num_nodes == 5
    apart = read(tmp_path, "m.csv", "person,event\nann,e1\nbo,e1\ncy,e2\n", layout=HEADER)
    assert apart.graph.node_ids == ("ann", "e1", "bo", "cy", "e2")
    assert apart.report.modes == {"person": 3, "event": 2}
    assert read(tmp_path, "n.csv", "user_id,friend_id\n1,2\n2,3\n").report.modes == {}


@pytest.mark.parametrize("kind", ["graphml", "gml"])
@pytest.mark.parametrize("column", ["bipartite", "type"])
def test_a_column_that_every_link_crosses_names_two_modes(tmp_path, kind, column):
    graph = nx.davis_southern_women_graph()
    values = nx.get_node_attributes(graph, "bipartite")
    words = {0: "woman", 1: "event"} if column == "type" else {0: 0, 1: 1}
    graph.graph.clear()
    for node in graph:
        graph.nodes[node].clear()
        graph.nodes[node][column] = words[values[node]]
    path = tmp_path / f"g.{kind}"
    getattr(nx, f"write_{kind}")(graph, path)
    names = ("woman", "event") if column == "type" else ("bipartite 0", "bipartite 1")
    assert load_graph(path).report.modes == {names[0]: 18, names[1]: 14}
    first, second, *_ = [n for n in graph if values[n] == 0]
    graph.add_edge(first, second)
    getattr(nx, f"write_{kind}")(graph, path)
    assert load_graph(path).report.modes == {}


def test_pajek_names_the_size_of_its_first_mode(tmp_path):
    text = '*Vertices 3 2\n1 "a"\n2 "b"\n3 "x"\n*Edges\n1 3\n2 3\n'
    assert read(tmp_path, "g.net", text).report.modes == {"mode 1": 2, "mode 2": 1}


# -- empty ends --------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["nan", "NaN", "null", "NULL", "None", "none", "NA", "N/A", "\\N"])
def test_the_word_for_no_value_is_no_person(tmp_path, word):
    text = f"source,target\na,b\nb,c\nd,{word}\n"
    with pytest.raises(FormatError, match=r"two node ids in every row.*in line 4"):
        read(tmp_path, "l.csv", text)
    table = pd.DataFrame({"source": ["a", "b"], "target": ["b", word]})
    table.to_parquet(tmp_path / "l.parquet")
    with pytest.raises(FormatError, match="two node ids in every row"):
        load_graph(tmp_path / "l.parquet")


def test_people_may_be_called_so(tmp_path):
    """In quotes, as R writes texts; declared by the node table; or written as a name."""
    quoted = read(tmp_path, "q.csv", 'source,target\n"NA","b"\n"b","c"\n')
    assert quoted.graph.node_ids == ("NA", "b", "c")
    with pytest.raises(FormatError, match="'NA' in line 4"):
        read(tmp_path, "r.csv", 'source,target\n"NA","b"\n"b","c"\nNA,"c"\n')
    nodes = write(tmp_path, "n.csv", "id,x\nNA,1\nb,2\nc,1\n")
    declared = read(tmp_path, "d.csv", "source,target\nNA,b\nb,c\n", nodes_path=nodes)
    assert declared.graph.node_ids == ("NA", "b", "c")
    assert read(tmp_path, "s.csv", "source,target\nNull,b\nb,Na\n").graph.num_nodes == 3


def test_null_words_in_other_columns_stay(tmp_path):
    assert read(tmp_path, "l.csv", "source,target,x\na,b,NA\nb,c,nan\n").graph.num_edges == 2


# -- matrices ----------------------------------------------------------------------------------

MATRICES = {
    "named": (NAMED, "Anna-Bo Anna-Cy Bo-Cy Cy-Di"),
    "plain": (PLAIN, "1-2 1-3 2-3 3-4"),
    "blanks": (PLAIN.replace(",", " "), "1-2 1-3 2-3 3-4"),
    "as R writes it": ("A B C\nA 0 1 1\nB 1 0 0\nC 1 0 0\n", "A-B A-C"),
    "header only": ("A,B,C\n0,1,1\n1,0,0\n1,0,0\n", "A-B A-C"),
    "rows only": ("A,0,1,1\nB,1,0,0\nC,1,0,0\n", "A-B A-C"),
    "numbered": (",1,2,3\n1,0,1,1\n2,1,0,0\n3,1,0,0\n", "1-2 1-3"),
    "directed": (",a,b,c\na,0,1,0\nb,0,0,1\nc,0,0,0\n", "a-b b-c"),
    "blank cells": (",a,b,c\na,,1,\nb,1,,1\nc,,1,\n", "a-b b-c"),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_are_read(tmp_path, name):
    text, wanted = MATRICES[name]
    loaded = read(tmp_path, "m.csv", text)
    assert links_of(loaded) == pairs(wanted)
    assert loaded.graph.weights is None
    assert loaded.report.num_reciprocal == 0
    assert any("matrix" in note for note in loaded.report.notes)


def test_cells_of_a_matrix_are_weights(tmp_path):
    loaded = read(tmp_path, "m.csv", ";a;b;c\na;0;1,5;0\nb;1,5;0;2\nc;0;2;0\n")
    assert loaded.graph.weights.tolist() == [1.5, 2]
    weightless = read(tmp_path, "m.csv", ";a;b;c\na;0;1,5;0\nb;1,5;0;2\nc;0;2;0\n", weight="none")
    assert weightless.graph.weights is None


def test_a_long_list_of_links_is_not_taken_apart_as_a_matrix():
    """A header in quotes, or R's column of row names, had every line split: gigabytes."""
    rows = "".join(f"{i},{i + 2},{i + 3}\n" for i in range(100_000))
    for header in ("from,to", ",from,to"):
        tracemalloc.start()
        assert find_matrix(f"{header}\n{rows}", ",") is None
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 5_000_000


@pytest.mark.parametrize("text", ["0 1 0\n1 0 1\n0 1 0\n", ",E1,E2\nEve,1,0\nLaura,0,1\n"])
def test_a_matrix_of_too_many_cells_is_not_taken_apart(monkeypatch, text):
    separator = "," if "," in text else " "
    assert find_matrix(text, separator) is not None
    monkeypatch.setattr(matrix_text, "MAX_TEXT_CELLS", 5)
    assert find_matrix(text, separator) is None


def test_a_matrix_of_two_modes(tmp_path):
    loaded = read(tmp_path, "m.csv", ",E1,E2,E3\nEve,1,0,1\nLaura,1,1,0\n")
    assert links_of(loaded) == pairs("Eve-E1 Eve-E3 Laura-E1 Laura-E2")
    assert loaded.report.modes == {"rows": 2, "columns": 3}


@pytest.mark.parametrize(
    "text",
    [
        "1 2 0.5\n2 3 0.25\n3 4 0.5\n",  # three links with weights
        ",source,target,weight\n0,1,2,0.5\n1,2,3,0.25\n2,3,4,1\n",  # with an index, as by pandas
        "a,b,c\n1,2,3\n2,3,4\n",
    ],
)
def test_links_are_no_matrix(tmp_path, text):
    path = write(tmp_path, "l.csv", text)
    given = {"source": "a", "target": "b"} if text.startswith("a") else {}
    assert "matrix" not in " ".join(load_graph(path, **given).report.notes)


# -- Pajek, GraphML, GEXF, DL, JSON ------------------------------------------------------------


def test_pajek_with_tabs_has_labels(tmp_path):
    loaded = read(tmp_path, "g.net", PAJEK)
    assert loaded.graph.node_ids == ("Anna Berg", "Anna Cole", "Bo Dahl")
    assert loaded.graph.weights.tolist() == [1, 2]


def test_labels_of_links_of_pajek_are_kinds(tmp_path):
    loaded = read(tmp_path, "g.net", LABELLED)
    assert links_of(loaded) == pairs("a-b b-c")
    assert find_use(loaded, "label")[:2] == ("kind of a link", "class")
    assert values_of(loaded, "label") == ["friend of", "kin"]
    with pytest.raises(FormatError, match=r"\*Partition.*save the network alone"):
        read(tmp_path, "g.net", "*Vertices 2\n*Partition x\n1\n2\n")


def test_hexadecimal_doubles_are_numbers(tmp_path):
    loaded = read(tmp_path, "g.graphml", HEXADECIMAL)
    assert loaded.graph.feature_names == ("age",)
    assert loaded.graph.dense_features().ravel().tolist() == [31.25, 42]
    assert loaded.graph.weights.tolist() == [3]
    assert find_use(loaded, "pos", "nodes") == ("left out", "text", "holds lists (1 value)")


GEXF = """<gexf><graph mode="dynamic">
<attributes class="node" mode="dynamic"><attribute id="p" title="party"/></attributes>
<attributes class="edge" mode="dynamic"><attribute id="w" title="Weight"/></attributes><nodes>
<node id="a" start="2009" end="2010"><attvalues><attvalue for="p" value="red" end="2009"/>
<attvalue for="p" value="blue" start="2009"/></attvalues></node>
<node id="b"><spells><spell start="1"/><spell start="3"/></spells></node></nodes><edges>
<edge source="a" target="b" start="2009"><attvalues><attvalue for="w" value="3"/>
<attvalue for="w" value="5"/></attvalues></edge></edges></graph></gexf>"""


def test_what_changes_in_time_in_gexf_is_counted(tmp_path):
    loaded = read(tmp_path, "g.gexf", GEXF)
    assert loaded.graph.column("party").classes == ("blue",)
    assert loaded.graph.weights.tolist() == [5]
    assert sorted(loaded.report.notes) == [
        "1 spell of edges (start and end) not used",
        "1 value of edges in 'Weight' before the last, which stays, not used",
        "1 value of nodes in 'party' before the last, which stays, not used",
        "3 spells of nodes (start and end) not used",
    ]


DLS = {
    "edges": (DL, "ann-bo ann-cy"),
    "numbered": ("dl n=3\nformat=edgelist1\ndata:\n1 2 5\n2 3 1\n", "1-2 2-3"),
    "full": ("dl n=3 format=fullmatrix\nlabels:\na,b,c\ndata:\n0 1 0\n1 0 1\n0 1 0\n", "a-b b-c"),
    "embedded": (
        'DL N = 3\nFORMAT = EDGELIST1\nLABELS EMBEDDED\nDATA:\nann bo 1\nbo "c y" 1\n',
        "ann-bo bo-c y",
    ),
    "listed and embedded": (
        "DL n=3\nformat = edgelist1\nlabels:\nann, bo, cy\nlabels embedded:\ndata:\n"
        "cy ann\nbo cy 2\n",
        "ann-cy bo-cy",
    ),
    "full embedded": ("dl n=2 \nlabels embedded\ndata:\n x y\nx 0 1\ny 1 0\n", "x-y"),
    "lists": ("dl n=3 format=nodelist1\ndata:\n1 2 3\n2 3\n", "1-2 1-3 2-3"),
}


@pytest.mark.parametrize("name", DLS)
@pytest.mark.parametrize("file", ["g.txt", "g.dl"])
def test_ucinet(tmp_path, name, file):
    text, wanted = DLS[name]
    loaded = read(tmp_path, file, text)
    found = {frozenset(p.split("-")) for p in wanted.replace("c y", "c~y").split()}
    assert {frozenset(e.replace(" ", "~") for e in link) for link in links_of(loaded)} == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dl nr=3 nc=2 format=edgelist2\ndata:\n1 2\n", "one square network.*edgelist2.*CSV"),
        ("dl n=3 format=edgelist1\n1 2\n", "after DATA"),
        ("dl n=2 format=edgelist1\ndata:\n1 3\n", "from 1 to 2"),
        ('dl n=2 format=edgelist1\ndata:\n"1 2\n', r"number its vertices.*'\"1'"),
        ('*Vertices 2\n*Edges\n1" 2\n', r"number its vertices.*'1\"'"),
        ("dl n=2 format=edgelist1\ndata:\n1\n", "two nodes"),
        ("dl n=2\ndata:\n0 1 1\n", "2 × 2 cells"),
        ("dl n=3\nlabels:\na,a,b\ndata:\n0 1 0 1 0 1 0 1 0\n", "3 distinct labels"),
        ("dl n=999999999 format=edgelist1\ndata:\n1 2\n", "at most"),
    ],
)
def test_ucinet_and_pajek_are_refused_with_what_to_do(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, "g.net" if text.startswith("*") else "g.txt", text)


@pytest.mark.parametrize(
    ("nodes", "links", "wanted"),
    [
        ([{"name": "ann"}, {"name": "bo"}], [{"source": 0, "target": 1}], "ann-bo"),
        ([{"x": 1}, {"x": 2}], [{"source": 0, "target": 1}], "0-1"),
        ([{"id": "a"}, {"id": "b"}], [{"source": 0, "target": 1}], "a-b"),
        ([{"id": 1}, {"id": 0}, {"id": 7}], [{"source": 0, "target": 7}], "0-7"),
        ([{"id": "a"}, {"id": "b"}], [{"source": {"id": "a"}, "target": {"id": "b"}}], "a-b"),
        ([{"id": 5}, {"id": 6}], [{"from": 5, "to": 6}], "5-6"),
    ],
)
def test_json_by_place_and_by_id(tmp_path, nodes, links, wanted):
    loaded = read(tmp_path, "g.json", json.dumps({"nodes": nodes, "links": links}))
    assert links_of(loaded) == pairs(wanted)


@pytest.mark.parametrize("end", [0.5, 1e999, [0], True, "0", 2, -1])
def test_an_end_that_is_no_place_is_refused(tmp_path, end):
    links = [{"source": 0, "target": 1}, {"source": end, "target": 1}]
    content = {"nodes": [{"name": "ann"}, {"name": "bo"}], "links": links}
    with pytest.raises(FormatError, match="ends of links must be places of nodes, from 0"):
        read(tmp_path, "g.json", json.dumps(content))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.json", '[{"type": "node", "id": "0", "labels": ["P"]}]'),
        ("g.json", '{"type":"node","id":"0"}\n{"type":"relationship","id":"0"}\n'),
        ("g.txt", '{"type":"node","id":"0"}\n{"type":"relationship","id":"0"}\n'),
        ("g.csv", '"_id","_labels","name","_start","_end","_type"\n"1",":P","a",,,\n'),
    ],
)
def test_other_exports_of_neo4j_are_refused_with_what_to_do(tmp_path, name, text):
    with pytest.raises(FormatError, match=r"apoc\.export\.graphml\.all"):
        read(tmp_path, name, text)


# -- ids ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["4.91701E+11", "4,9E11", "x"], "2 ids in scientific notation, such as '4.91701E\\+11'"),
        (["Ann@x.org", "ann@x.org"], "1 pair of ids differ in case only"),
        (["ann berg", "annberg", "ann  berg"], "2 pairs of ids differ in blanks only"),
        (["+491701", "00491701"], "zeros or the form of a phone number only"),
        (["+49 170-1", "491701"], "zeros or the form of a phone number only"),
        (["0123", "123"], "zeros or the form of a phone number only"),
        (["раvel", "pavel"], "look-alike letters only"),
        (["ann\u200b", "ann"], "look-alike letters only"),
        (["nan", "a"], "called 'nan'"),
    ],
)
def test_ids_that_may_be_wrong(ids, said):
    (warning,) = find_id_warnings(ids)
    assert pd.Series([warning]).str.contains(said).all()


def test_other_ids_give_no_warning():
    assert find_id_warnings(["1", "2", "10", "1e", "a1", "a-1", "Ann", "Anna", "p.1", "p1"]) == []


def test_blanks_that_are_taken_away_are_told(tmp_path):
    table = pd.DataFrame({"source": ["ann ", "ann", "bo"], "target": ["bo", "cy", "cy"]})
    table.to_parquet(tmp_path / "l.parquet")
    text = 'source,target\n"ann ",bo\nann,cy\nbo,cy\n'
    for loaded in (load_graph(tmp_path / "l.parquet"), read(tmp_path, "l.csv", text)):
        assert loaded.graph.node_ids == ("ann", "bo", "cy")
        assert loaded.report.id_warnings == [
            "1 id with blanks around were read without, such as 'ann ', and made one."
        ]


def test_warnings_of_ids_come_from_the_sandbox(tmp_path):
    loaded = load_in_sandbox(write(tmp_path, "l.csv", PHONES))
    assert "such as '4.91701E+11'" in loaded.report.id_warnings[0]
    assert loaded.report.columns[0].use == "source"


def test_a_hundred_thousand_ids_take_a_second():
    """A million take five, as measured: see tests/benchmarks/README.md."""
    ids = [f"+49170{i}" for i in range(100_000)]
    start = time.process_time()
    assert find_id_warnings(ids) == []
    assert time.process_time() - start < 1


def test_ids_of_a_column_of_the_graph_file(tmp_path):
    nodes = write(tmp_path, "n.csv", PARTIES)
    loaded = read(tmp_path, "g.graphml", IGRAPH, nodes_path=nodes)
    assert loaded.graph.node_ids == ("Anna", "Bo", "Cy")
    assert loaded.graph.num_edges == 2
    assert loaded.graph.column("party").codes.tolist() == [1, 0, 1]
    assert "ids were taken from column 'name' of the graph file" in loaded.report.notes
    chosen = read(tmp_path, "g.graphml", IGRAPH, graph_id="name")
    assert chosen.graph.node_ids == ("Anna", "Bo", "Cy")
    assert read(tmp_path, "g.graphml", IGRAPH).graph.node_ids == ("n0", "n1", "n2")
    with pytest.raises(InputError, match=r"column 'x' of ids must be in.*columns are: name"):
        read(tmp_path, "g.graphml", IGRAPH, graph_id="x")
    with pytest.raises(InputError, match=r"value of its own.*--graph-id"):
        read(tmp_path, "g.graphml", IGRAPH.replace("Bo", "Anna"), graph_id="name")


# -- links given several times -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("merge", "wanted"),
    [
        (None, [0.5, 0.75, 0.5]),
        ("max", [0.5, 0.75, 0.5]),
        ("sum", [0.75, 1.25, 0.5]),
        ("mean", [0.375, 0.625, 0.5]),
        ("min", [0.25, 0.5, 0.5]),
        ("first", [0.5, 0.75, 0.5]),
        ("count", [2, 2, 1]),
    ],
)
def test_unequal_weights_are_merged_as_chosen(tmp_path, merge, wanted):
    loaded = read(tmp_path, "l.tsv", TWICE, merge=merge)
    assert loaded.graph.node_ids == ("DB2", "DB1", "DB3", "DB4")
    assert loaded.graph.weights.tolist() == wanted
    assert loaded.report.num_reciprocal == 2
    told = [note for note in loaded.report.notes if "unequal weights" in note]
    if merge is None:
        assert told == [
            "2 links given several times with unequal weights: the largest stays "
            "(--merge sum, mean, min or first)"
        ]
    elif merge != "count":
        assert told == [f"2 links given several times with unequal weights: merged by {merge}"]


def test_a_pair_given_once_each_way_is_one_link(tmp_path):
    both = "a\tb\t2\nb\ta\t2\nb\tc\t3\nc\tb\t3\n"
    for merge, wanted in (("sum", [2, 3]), ("mean", [2, 3]), ("max", [2, 3])):
        assert read(tmp_path, "l.tsv", both, merge=merge).graph.weights.tolist() == wanted
    assert read(tmp_path, "l.tsv", both, merge="count").graph.weights is None
    twice = "a\tb\t2\na\tb\t2\nb\tc\t3\nc\tb\t3\n"  # the same way twice is two rows
    assert read(tmp_path, "l.tsv", twice, merge="sum").graph.weights.tolist() == [4, 6]


def test_without_weights_only_a_count_changes_anything(tmp_path):
    text = "a,b\na,b\nb,c\n"
    for merge in (None, "sum", "mean"):
        assert read(tmp_path, "l.csv", text, merge=merge).graph.weights is None
    assert read(tmp_path, "l.csv", text, merge="count").graph.weights.tolist() == [2, 1]
    ones = "a\tb\t1\na\tb\t1\nb\tc\t1\n"
    assert read(tmp_path, "l.tsv", ones).graph.weights is None
    assert read(tmp_path, "l.tsv", ones, merge="sum").graph.weights.tolist() == [2, 1]


def test_a_wrong_weight_is_told_whatever_is_merged(tmp_path):
    text = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 5\n2 1 -1\n2 3 1\n"
    for merge in (None, "max", "min", "count"):
        with pytest.raises(InputError, match="finite and not negative"):
            read(tmp_path, "g.mtx", text, merge=merge)
