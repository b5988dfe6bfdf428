"""Columns of links are read as given from every format that has them, direction included."""

from __future__ import annotations

import datetime
import json
import sqlite3
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from core.cli.main import main
from core.data.link_columns import find_use
from core.data.link_values import ReadColumn, parse_values
from core.data.loaded import LoadedGraph
from core.data.readers import load_graph
from core.data.sandbox import load_in_sandbox
from core.errors import InputError
from core.link_table import LinkColumn

SHARED = Path(__file__).parents[3] / "shared" / "cases"
ROWS = [
    ("ann", "bo", "2024-01-02T10:00:05", "call", 3, 0.5),
    ("bo", "ann", "2024-01-02T11:30:00", "mail", 1, 1.5),
    ("bo", "cy", "2024-02-03T00:00:00", "call", 2, -2.25),
    ("cy", "di", "2024-02-03T00:00:01", "mail", 7, 9.0),
]
NAMES = ("caller", "callee", "at", "how", "turns", "mood")


def events(loaded: LoadedGraph) -> list[tuple]:
    """(ids, values by column name) of each row, ids as an unordered pair."""
    graph, table = loaded.graph, loaded.graph.link_table
    columns = {name: column.format_values().tolist() for name, column in table.columns.items()}
    found = []
    for row, link in enumerate(table.links.tolist()):
        ends = tuple(sorted(graph.node_ids[end] for end in graph.edges[link]))
        found.append((ends, *sorted((name, values[row]) for name, values in columns.items())))
    return sorted(found, key=str)


def expected() -> list[tuple]:
    rows = [(tuple(sorted(row[:2])), *sorted(zip(NAMES[2:], row[2:], strict=True))) for row in ROWS]
    return sorted(rows, key=str)


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize(
    ("first", "why"),
    [
        (lambda _row: "", "empty{}"),
        (lambda row: f"t{row}", "every value is distinct{}: a name or number of the link"),
        (lambda _row: "undirected", "no link has a direction{}"),
    ],
)
def test_first_cells_are_not_said_to_be_the_column(tmp_path, form, first, why):
    pairs = [(f"a{i}", f"a{j}") for i in range(60) for j in range(i)]
    for size in (900, 1500):
        cells = [first(row) if row < 1000 else "xy"[row % 2] for row in range(size)]
        rows = [(*pair, cell) for pair, cell in zip(pairs, cells, strict=False)]
        table = pd.DataFrame(rows, columns=["source", "target", "promo"])
        path = tmp_path / f"links{size}.{form}"
        {"csv": table.to_csv, "parquet": table.to_parquet, "arrow": table.to_feather}[form](
            path, **({"index": False} if form == "csv" else {})
        )
        uses = {use.name: use for use in load_graph(path).report.columns}
        where = " in the first 1,000 cells" if size == 1500 else ""
        assert uses["promo"].why == why.format(where), size


def write_table(folder: Path, kind: str) -> Path:
    table = pd.DataFrame(ROWS, columns=NAMES)
    path = folder / f"l.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    elif kind == "txt":
        table.to_csv(path, index=False, sep=" ")
    elif kind == "quoted.csv":
        text = ",".join(NAMES) + "\n"
        text += "".join(", ".join(f'"{cell}"' for cell in row) + "\n" for row in ROWS)
        path.write_text(text)  # blanks before quotes: row by row
    elif kind == "parquet":
        table.assign(at=pd.to_datetime(table["at"]).astype("datetime64[ns]")).to_parquet(path)
    else:
        table.to_feather(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "txt", "quoted.csv", "parquet", "feather"])
def test_tables_keep_every_row(tmp_path, kind):
    loaded = load_graph(write_table(tmp_path, kind))
    assert events(loaded) == expected()
    assert loaded.graph.num_edges == 3
    assert loaded.graph.weights is None
    columns = loaded.graph.link_table.columns
    assert columns["turns"].values.dtype == np.int64
    assert columns["mood"].values.dtype == np.float64
    assert (columns["at"].kind, columns["at"].unit) == ("time", "s")
    uses = {c.name: c.use for c in loaded.report.columns}
    assert uses["at"] == "time of a link"
    assert uses["how"] == "kind of a link"
    assert uses["turns"] == uses["mood"] == "number of a link"


def test_database_tables_and_the_sandbox_keep_them(tmp_path, capsys):
    with sqlite3.connect(tmp_path / "calls.db") as base:
        pd.DataFrame(ROWS, columns=NAMES).to_sql("calls", base, index=False)
    base.close()
    address = f"sqlite:///{tmp_path / 'calls.db'}#calls"
    assert main(["inspect", address, "--json"]) == 0
    uses = {c["name"]: c["use"] for c in json.loads(capsys.readouterr().out)["columns"]}
    assert uses["at"] == "time of a link"
    boxed = load_in_sandbox(write_table(tmp_path, "csv"))
    assert events(boxed) == expected()
    assert boxed.graph.content_hash == load_graph(tmp_path / "l.csv").graph.content_hash


@pytest.mark.parametrize("kind", ["graphml", "gexf", "gml", "json"])
@pytest.mark.parametrize("is_directed", [False, True])
def test_documents_keep_every_row_and_the_direction_that_they_declare(tmp_path, kind, is_directed):
    graph = (nx.MultiDiGraph if is_directed else nx.MultiGraph)()
    for i, j, at, how, turns, mood in ROWS:
        graph.add_edge(i, j, at=at, how=how, turns=turns, mood=mood)
    path = tmp_path / f"g.{kind}"
    if kind == "json":
        path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    else:
        getattr(nx, f"write_{kind}")(graph, path)
    loaded = load_graph(path, ignore=["node_label", "label"])
    found = [tuple(pair for pair in row if pair[0] != "direction") for row in events(loaded)]
    names = {name for row in found for name, _ in row[1:]}
    assert set(NAMES[2:]) <= names
    keep = {*NAMES[2:]}
    found = [(row[0], *(pair for pair in row[1:] if pair[0] in keep)) for row in found]
    assert found == expected()
    ways = loaded.graph.link_table.columns.get("direction")
    assert (ways is not None) == is_directed
    if is_directed:
        for (i, j), way in zip(read_ends(loaded), ways.format_values(), strict=True):
            assert graph.has_edge(*((i, j) if way == "→" else (j, i)))


def read_ends(loaded):
    graph = loaded.graph
    for link in graph.link_table.links.tolist():
        yield tuple(graph.node_ids[end] for end in graph.edges[link])


def test_a_directed_pajek_and_links_that_say_so_themselves(tmp_path):
    nx.write_pajek(nx.DiGraph([("a", "b"), ("c", "b"), ("b", "c")]), tmp_path / "g.net")
    loaded = load_graph(tmp_path / "g.net")
    ways = loaded.graph.link_table.columns["direction"].format_values()
    found = {(*ends, way) for ends, way in zip(read_ends(loaded), ways, strict=True)}
    order = loaded.graph.node_ids
    wanted = set()
    for i, j in [("a", "b"), ("c", "b"), ("b", "c")]:
        wanted.add((i, j, "→") if order.index(i) < order.index(j) else (j, i, "←"))
    assert found == wanted
    nx.write_pajek(nx.Graph([("a", "b")]), tmp_path / "u.net")
    assert load_graph(tmp_path / "u.net").graph.link_table is None
    mixed = '<gexf><graph><nodes><node id="a"/><node id="b"/><node id="c"/></nodes><edges>'
    mixed += '<edge source="b" target="a" type="directed"/><edge source="b" target="c"/>'
    (tmp_path / "m.gexf").write_text(mixed + "</edges></graph></gexf>")
    ways = load_graph(tmp_path / "m.gexf").graph.link_table.columns["direction"]
    assert ways.format_values().tolist() == ["←", "↔"]
    graphml = '<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
    graphml += '<node id="c"/><edge source="a" target="b" directed="true"/>'
    graphml += '<edge source="c" target="b"/></graph></graphml>'
    (tmp_path / "m.graphml").write_text(graphml)
    ways = load_graph(tmp_path / "m.graphml").graph.link_table.columns["direction"]
    assert ways.format_values().tolist() == ["→", "↔"]
    (tmp_path / "t.csv").write_text("Source,Target,Type\na,b,Directed\nc,b,Undirected\n")
    ways = load_graph(tmp_path / "t.csv").graph.link_table.columns["Type"]
    assert ways.format_values().tolist() == ["→", "↔"]
    (tmp_path / "t.csv").write_text("Source,Target,Type\na,b,Undirected\nc,b,Undirected\n")
    assert load_graph(tmp_path / "t.csv").graph.link_table is None


def test_plain_lists_have_no_table_and_their_old_hash(tmp_path):
    (tmp_path / "l.csv").write_text("source,target,weight\na,b,2\nb,a,3\nb,c,1\n")
    graph = load_graph(tmp_path / "l.csv").graph
    assert graph.link_table is None
    assert graph.content_hash == (
        "cf406e8da744c14339cd9abe92d9fddab39919d3032151ee225c442e32d1244f"
    )


def parse(cells, role="", is_stated=False, decimal=".") -> LinkColumn:
    chosen = ReadColumn("x", role, "", "", is_stated)
    return parse_values(cells, chosen, "file 'f'", decimal)


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "", "3"], "number", [1.0, "", 3.0]),
        (["9007199254740993", "1"], "number", [9007199254740993, 1]),
        (["9007199254740993", ""], "category", ["9007199254740993", ""]),
        (["99999999999999999999", "1"], "category", ["99999999999999999999", "1"]),
        (["1.5", "NA", "-2"], "number", [1.5, "", -2.0]),
        (["007", "12"], "category", ["007", "12"]),
        (["inf", "1.5"], "category", ["inf", "1.5"]),
        (["a", "", "b"], "category", ["a", "", "b"]),
        (["1082040961", "1082155839"], "time", [1082040961, 1082155839]),
        (["1082040961", "", "1082155839"], "time", [1082040961, "", 1082155839]),
        (["1082040961000", "1082155839001"], "time", [1082040961000, 1082155839001]),
        (["2024-01-02", ""], "time", ["2024-01-02", ""]),
        (["2024-01-02 10:30", "2024-01-02"], "time", ["2024-01-02T10:30", "2024-01-02T00:00"]),
        (["2024-01-02T10:30:01.25Z"], "time", ["2024-01-02T10:30:01.250"]),
        (["2024-01-02T10:30:01+02:00"], "time", ["2024-01-02T08:30:01"]),
        (["3.2.2024", "13.12.2024"], "time", ["2024-02-03", "2024-12-13"]),
        (["13/2/2024", "3/2/2024"], "time", ["2024-02-13", "2024-02-03"]),
        (["2/13/2024", "2/3/2024"], "time", ["2024-02-13", "2024-02-03"]),
        (["2/3/2024", "3/2/2024"], "category", ["2/3/2024", "3/2/2024"]),
        (["2024-02-31", "2024-01-01"], "category", ["2024-02-31", "2024-01-01"]),
        (["Directed", "mutual"], "direction", ["→", "↔"]),
        (["→", "←"], "direction", ["→", "←"]),
        (["->", "<-", "<->"], "direction", ["→", "←", "↔"]),
    ],
)
def test_all_cells_decide(cells, kind, values):
    column = parse(cells)
    shown = ["" if value != value else value for value in column.format_values().tolist()]
    assert (column.kind, shown) == (kind, values)


def test_the_caller_states_times_and_kinds():
    assert parse(["2001", "2002"]).kind == "number"
    assert parse(["2001", "2002"], "time", True).kind == "time"
    assert parse(["1", "2"], "kind", True).classes == ("1", "2")
    assert parse(["1082040961"], "kind", True).classes == ("1082040961",)
    assert parse(["1,5", "2"], decimal=",").values.tolist() == [1.5, 2]
    assert parse(["x", "y"], "time").kind == "category"  # guessed by a sample, so no error
    for cells in (["x", "y"], ["1.5", "2"]):
        with pytest.raises(InputError, match=r"'f': --time must hold dates.*got x; correct"):
            parse(cells, "time", True)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_arrow_are_those_of_pandas(unit):
    import pyarrow as pa

    texts = pd.Series(["2024-01-02 10:00:05", None, "1969-12-31 23:59:59"])
    column = parse(pa.array(pd.to_datetime(texts).astype(f"datetime64[{unit}]")))
    assert column.unit == "s"
    wanted = [
        datetime.datetime(2024, 1, 2, 10, 0, 5),
        None,
        datetime.datetime(1969, 12, 31, 23, 59, 59),
    ]
    assert column.format_values().tolist() == ["" if t is None else t.isoformat() for t in wanted]
    days = parse(pa.array([datetime.date(2024, 1, 2), None]))
    assert days.format_values().tolist() == ["2024-01-02", ""]


def test_numbers_of_the_rows_are_left_out():
    rows = pd.Series(range(5))
    assert find_use("id", rows)[0] == find_use("edge_id", rows)[0] == "left out"
    assert find_use("id", rows * 0)[0] == find_use("calls", rows)[0] == "number of a link"


def test_options_choose_ignore_and_name_what_is_missing(tmp_path, capsys):
    path = write_table(tmp_path, "csv")
    said = ["--time", "turns", "--kind", "mood", "--ignore", "at,how"]
    assert main(["inspect", str(path), "--json", *said]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert {c["name"]: c["use"] for c in columns[2:]} == {
        "at": "left out",
        "how": "left out",
        "turns": "time of a link",
        "mood": "kind of a link",
    }
    assert main(["inspect", str(path), "--time", "x"]) == 2
    assert "time must be a column; got x" in capsys.readouterr().err
    nx.write_graphml(nx.Graph([("a", "b", {"how": "call"})]), tmp_path / "g.graphml")
    loaded = load_graph(tmp_path / "g.graphml", ignore=["how"])
    assert loaded.graph.link_table is None
    with pytest.raises(InputError, match="kind must be a column; got x; columns are: how"):
        load_graph(tmp_path / "g.graphml", kind="x")
    (tmp_path / "g.sif").write_text("a\tknows\tb\nb\tlikes\tc\n")
    assert load_graph(tmp_path / "g.sif", ignore=["kind"]).graph.link_table is None
    with pytest.raises(InputError, match=r"--time must be left out"):
        load_graph(tmp_path / "g.sif", time="x")


def test_a_file_that_gives_each_row_once_each_way_has_each_event_once(tmp_path):
    both = "source,target,day\na,b,2024-01-01\nb,a,2024-01-01\na,b,2024-01-02\nb,a,2024-01-02\n"
    (tmp_path / "l.csv").write_text(both)
    assert len(load_graph(tmp_path / "l.csv").graph.link_table.links) == 2
    (tmp_path / "l.csv").write_text(both.replace("b,a,2024-01-02", "b,a,2024-01-03"))
    assert len(load_graph(tmp_path / "l.csv").graph.link_table.links) == 4
    (tmp_path / "l.csv").write_text(
        both.replace("day", "day,way").replace("\n", ",→\n").replace("way,→", "way")
    )
    assert len(load_graph(tmp_path / "l.csv").graph.link_table.links) == 4


def test_rows_follow_the_node_table(tmp_path):
    (tmp_path / "l.csv").write_text("source,target,how\nb,a,x\nc,a,y\nb,z,w\na,b,x\n")
    (tmp_path / "n.csv").write_text("id,age\nc,1\na,2\nb,3\n")
    loaded = load_graph(tmp_path / "l.csv", nodes_path=tmp_path / "n.csv", missing_nodes="drop")
    assert events(loaded) == [
        (("a", "b"), ("how", "x")),
        (("a", "b"), ("how", "x")),
        (("a", "c"), ("how", "y")),
    ]
    assert loaded.graph.link_table.columns["how"].classes == ("x", "y")


@pytest.mark.parametrize(
    ("case", "kinds"),
    [
        ("c05_snap_temporal.txt", {"time": "time"}),
        ("c06_sif.txt", {"column 2": "category"}),
        ("c24_cdr.csv", {"start_time": "time", "duration": "number"}),
    ],
)
def test_shared_cases_keep_their_columns(case, kinds):
    if not (SHARED / case).exists():
        pytest.skip("needs the folder of cases")
    columns = load_graph(SHARED / case).graph.link_table.columns
    assert {name: column.kind for name, column in columns.items()} == kinds


def test_times_in_the_weight_column_of_the_shared_case():
    path = SHARED / "k02_times.csv"
    if not path.exists():
        pytest.skip("needs the folder of cases")
    plain = load_graph(path).graph
    assert plain.link_table is None
    timed = load_graph(path, weight="none", time="weight").graph
    assert timed.weights is None
    assert sorted(timed.link_table.columns["weight"].values) == sorted(plain.weights)
