"""Workbooks and zips of tables: read as their tables are, or refused with what to do."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from core.data import table_archive
from core.data.loaded import LoadedGraph
from core.data.readers import load_graph, read_preview
from core.data.sandbox import load_in_sandbox
from core.errors import FormatError, InputError, ResourceError

LINKS = "source,target,weight\nann,bo,2\nbo,cy,3\ncy,di,1\n"
NODES = "id,age,city\nann,30,x\nbo,41,y\ncy,52,x\ndi,30,y\n"
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STYLES = f"""<styleSheet {MAIN}><numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy"/>
<numFmt numFmtId="171" formatCode='0.0 "days"'/></numFmts><cellXfs>
<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs>
</styleSheet>"""


def write_book(path: Path, more: str = "", **sheets: str) -> Path:
    """A workbook; sheets: name → the XML of its rows."""
    book = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="r{i}" Target="worksheets/sheet{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    )
    shared = "".join(f"<si><t>{text}</t></si>" for text in ("ann", "bo"))
    shared += "<si><r><t>cy</t></r><r><t>!</t></r></si>"
    book = f'<workbook {MAIN} xmlns:r="{REL}">{more}<sheets>{book}</sheets></workbook>'
    parts = {
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": f"<Relationships>{links}</Relationships>",
        "xl/sharedStrings.xml": f"<sst {MAIN}>{shared}</sst>",
        "xl/styles.xml": STYLES,
    }
    for number, rows in enumerate(sheets.values(), 1):
        sheet = f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"
        parts[f"xl/worksheets/sheet{number}.xml"] = sheet
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def write_rows(text: str) -> str:
    """Rows of inline texts and of numbers, of a table as CSV."""
    rows = ""
    for line in csv.reader(io.StringIO(text)):
        cells = [
            f"<c><v>{c}</v></c>"
            if re.fullmatch(r"\d+(\.\d+)?", c)
            else f'<c t="inlineStr"><is><t>{escape(c)}</t></is></c>'
            for c in line
        ]
        rows += f"<row>{''.join(cells)}</row>"
    return rows


def write_zip(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "."), text)
    return path


def check_same(loaded: LoadedGraph, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(LINKS)
    (tmp_path / "n.csv").write_text(NODES)
    plain = load_graph(tmp_path / "l.csv", nodes_path=tmp_path / "n.csv")
    assert loaded.graph.content_hash == plain.graph.content_hash
    assert [vars(c) for c in loaded.report.columns] == [vars(c) for c in plain.report.columns]


@pytest.mark.parametrize("order", [1, -1])
def test_links_and_nodes_of_one_file_are_told_apart(tmp_path, order):
    sheets = dict([("A", write_rows(LINKS)), ("B", write_rows(NODES))][::order])
    load = load_in_sandbox if order == 1 else load_graph
    check_same(load(write_book(tmp_path / "b.xlsx", Empty="", **sheets)), tmp_path)
    tables = dict([("x__csv", LINKS), ("y__csv", NODES), ("README__txt", "a b\n")][::order])
    loaded = load_graph(write_zip(tmp_path / "b.zip", **tables))
    check_same(loaded, tmp_path)
    assert loaded.report.source == "b.zip"
    assert "1 file of the zip not used: README.txt" in loaded.report.notes
    assert "links were read from 'x.csv', nodes from 'y.csv'" in loaded.report.notes


def test_a_workbook_of_nodes_beside_a_file_of_links(tmp_path):
    (tmp_path / "links.csv").write_text(LINKS)
    book = write_book(tmp_path / "n.xlsx", People=write_rows(NODES))
    (tmp_path / "links.csv").write_text(LINKS)
    loaded = load_graph(tmp_path / "links.csv", nodes_path=book)
    assert loaded.graph.feature_names == ("age",)
    assert list(read_preview(book, is_nodes=True).columns) == ["id", "age", "city"]
    lone = write_book(tmp_path / "l.xlsx", Ties=write_rows(LINKS))
    assert list(read_preview(lone).columns) == ["source", "target", "weight"]
    assert load_graph(lone).graph.num_edges == 3


def test_cells_are_what_the_spreadsheet_shows(tmp_path):
    rows = write_rows("source,target,day,moment,sum,long,flag,gone")
    rows += (
        '<row><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="C2" s="1"><v>45292</v>'
        '</c><c r="D2" s="2"><v>45292.5</v></c><c r="E2" s="3"><v>2.5</v></c>'
        '<c r="F2"><v>4.91701234567E11</v></c><c r="G2" t="b"><v>1</v></c></row>'
        '<row><c r="A3" t="s"><v>1</v></c><c r="B3" t="s"><v>2</v></c><c r="C3" s="1"><v>61</v></c>'
        '<c r="D3" s="2"><v>59</v></c><c r="E3" s="3"><v>1</v></c><c r="F3"><v>1.5E20</v></c>'
        '<c r="G3" t="b"><v>0</v></c></row>'
    )
    table = read_preview(write_book(tmp_path / "b.xlsx", S=rows))
    assert table.iloc[:, :7].to_numpy().tolist() == [
        ["ann", "bo", "2024-01-01", "2024-01-01 12:00:00", "2.5", "491701234567", "true"],
        ["bo", "cy!", "1900-03-01", "1900-02-28", "1", "1.5E20", "false"],
    ]
    later = write_book(tmp_path / "m.xlsx", '<workbookPr date1904="1"/>', S=rows)
    assert read_preview(later).iloc[0, 2] == "2028-01-02"


def test_rows_begin_where_the_cells_do(tmp_path):
    rows = '<row r="3"><c r="C3" t="str"><v>source</v></c><c r="D3" t="str"><v>target</v></c></row>'
    rows += "<row/>" + "".join(
        f'<row><c r="C{i}" t="str"><v>p{i}</v></c><c r="D{i}" t="str"><v>p{i + 1}</v></c></row>'
        for i in range(4, 7)
    )
    graph = load_graph(write_book(tmp_path / "b.xlsx", S=rows)).graph
    assert (graph.num_nodes, graph.num_edges) == (4, 3)


def test_a_zip_of_one_graph_file_is_that_graph(tmp_path):
    gml = "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
    path = write_zip(tmp_path / "g.zip", **{"inner/g__gml": gml, "__MACOSX/x__csv": "a"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/._g.gml", "junk")
    assert load_graph(path).graph.num_edges == 1


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"a__csv": LINKS, "b__csv": LINKS}, "one table of links.*2 tables, 0 like links|2 like"),
        ({"a__csv": LINKS, "b__csv": NODES, "c__csv": NODES}, "3 tables, 1 like links: 'a.csv'"),
        ({"a__pdf": "x"}, "one table of links; got none"),
        ({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}, "OpenDocument.*xlsx"),
        ({"../a__csv": LINKS}, "outside itself"),
        ({"a__zip": LINKS}, "got none"),
    ],
)
def test_other_zips_are_refused_with_what_to_do(tmp_path, members, message):
    with pytest.raises(FormatError, match=message):
        load_graph(write_zip(tmp_path / "g.zip", **members))


def test_limits_of_zips(tmp_path, monkeypatch):
    bomb = write_zip(tmp_path / "bomb.zip", a__csv="a,b\n" * 20_000_000)
    with pytest.raises(ResourceError, match="unpack to at most"):
        load_graph(bomb)
    monkeypatch.setattr(table_archive, "MAX_TABLES", 2)
    many = write_zip(tmp_path / "m.zip", **{f"t{i}__csv": LINKS for i in range(3)})
    with pytest.raises(ResourceError, match="at most 2 tables; got 3"):
        load_graph(many)
    monkeypatch.setattr(table_archive, "MAX_INFLATED", 10)
    with pytest.raises(ResourceError, match="must hold tables of at most"):
        load_graph(write_zip(tmp_path / "s.zip", a__csv=LINKS))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('<row><c t="s"><v>9</v></c></row>', "complete workbook.*shared text '9'"),
        ('<row><c t="s"><v>-1</v></c></row>', "shared text"),
        ('<row><c r="B1"><f>A1+1</f></c></row>', "values of its formulas; got B1"),
        ('<row><c r="B1"><v>x</v></c></row>', "numbers in its number cells.*B1: x"),
        ("<row><c>", "complete Excel workbook"),
        ('<row><c r="ZZZ1"><v>1</v></c></row>', "at most 10,000 columns"),
        ("", "one table of links; got none"),
    ],
)
def test_damaged_workbooks_are_refused(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        load_graph(write_book(tmp_path / "b.xlsx", S=rows))


def test_a_workbook_with_entities_or_without_parts_is_refused(tmp_path):
    rows = write_rows(LINKS)
    path = write_book(tmp_path / "b.xlsx", S=rows)
    for part, text in (
        ("xl/workbook.xml", '<!DOCTYPE a [<!ENTITY b "c">]><workbook>&b;</workbook>'),
        ("xl/_rels/workbook.xml.rels", "<Relationships/>"),
        (
            "xl/_rels/workbook.xml.rels",
            '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/>'
            '<Relationship Id="r2" Target="styles2.xml"/></Relationships>',
        ),
    ):
        changed = io.BytesIO()
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
            for name in old.namelist():
                new.writestr(name, text if name == part else old.read(name))
        (tmp_path / "c.xlsx").write_bytes(changed.getvalue())
        with pytest.raises(FormatError, match="complete Excel workbook"):
            load_graph(tmp_path / "c.xlsx")


def test_other_files_with_these_names_are_refused(tmp_path):
    (tmp_path / "b.xlsx").write_text(LINKS)
    with pytest.raises(FormatError, match="complete zip archive"):
        load_graph(tmp_path / "b.xlsx")
    write_zip(tmp_path / "l.csv", a__csv=LINKS)
    with pytest.raises(FormatError, match=r"call it \.zip or \.xlsx"):
        load_graph(tmp_path / "l.csv")
    for name, message in (("g.cypher", "apoc"), ("g.xls", "save it as .xlsx"), ("g.ods", ".xlsx")):
        (tmp_path / name).write_text("CREATE (:P);")
        with pytest.raises(FormatError, match=message):
            load_graph(tmp_path / name)


PAYMENTS = "payer,payee,amount\nann,bo,2\nbo,cy,3\ncy,di,1\nann,bo,5\nann,di,7\n"
PEOPLE = "customer,age,city\nann,30,x\nbo,41,y\ncy,52,x\ndi,30,y\n"


@pytest.mark.parametrize("order", [1, -1])
def test_ends_of_unusual_names_are_told_by_the_ids_of_the_other_table(tmp_path, order):
    (tmp_path / "l.csv").write_text(PAYMENTS)
    (tmp_path / "n.csv").write_text(PEOPLE)
    plain = load_graph(tmp_path / "l.csv", nodes_path=tmp_path / "n.csv").graph
    sheets = dict([("pay", write_rows(PAYMENTS)), ("crm", write_rows(PEOPLE))][::order])
    loaded = load_graph(write_book(tmp_path / "b.xlsx", **sheets))
    assert loaded.graph.content_hash == plain.content_hash
    assert (loaded.graph.num_nodes, loaded.graph.num_edges) == (4, 4)


def test_stated_ends_tell_the_table_of_links(tmp_path):
    people = "customer,boss,years\nann,bo,2\nbo,cy,3\ncy,ann,4\ndi,ann,5\n"
    book = write_book(tmp_path / "b.xlsx", pay=write_rows(people), crm=write_rows(PEOPLE))
    with pytest.raises(FormatError, match="say --source COLUMN --target COLUMN"):
        load_graph(write_zip(tmp_path / "b.zip", x__csv=PEOPLE, y__csv=PEOPLE))
    graph = load_graph(book, source="customer", target="boss").graph
    assert (graph.num_edges, list(graph.attributes)) == (4, ["city"])
    other = {"src": write_rows("from,to\nann,bo\nbo,cy\n"), "pay": write_rows(PAYMENTS)}
    graph = load_graph(
        write_book(tmp_path / "c.xlsx", **other),
        source="payer",
        target="payee",
        id_column="from",
        missing_nodes="add",
    ).graph
    assert graph.num_nodes == 4
