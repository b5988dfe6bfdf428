"""What the upload form takes a file for, before anybody corrects it."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
import streamlit as st

from pages.ui import page, upload
from tests.pages.conftest import OpenApp


@pytest.mark.parametrize(
    ("name", "header", "is_links"),
    [
        ("people_target.csv", "id,class", False),
        ("people.csv", "id,target", False),
        ("friends.csv", "source,target", True),
        ("friends.csv", "a,b", True),
    ],
)
def test_a_lone_table_of_classes_is_no_list_of_links(
    tmp_path: Path, name: str, header: str, is_links: bool
) -> None:
    """Read as links, 28,281 classes once became 28,280 links."""
    path = tmp_path / name
    path.write_text("\n".join([header, *(f"{i},{i % 2 + 50}" for i in range(50))]) + "\n")
    assert upload._find_links([path]) == (path if is_links else None)
    if not is_links:
        assert upload._propose_part(path) == upload.TARGETS


def test_links_are_found_beside_a_table_of_classes(tmp_path: Path) -> None:
    links, classes = tmp_path / "edges.csv", tmp_path / "target.csv"
    links.write_text("source,target\n" + "".join(f"{i // 3},{i}\n" for i in range(30)))
    classes.write_text("id,target\n" + "".join(f"{i},{i % 2}\n" for i in range(30)))
    assert upload._find_links([classes, links]) == links


@pytest.mark.parametrize(
    "header", ["payer,payee,amount", "no,lender,borrower", "lender,borrower,rate"]
)
def test_links_are_the_file_whose_columns_hold_ids_of_the_other(tmp_path: Path, header: str):
    """Both were taken for tables of people, as "lender" is no name of an end."""
    links, people = tmp_path / "t.csv", tmp_path / "people.csv"
    rows = {
        "payer,payee,amount": "\n".join(f"P{i},P{i * 3 % 40},{i}" for i in range(40)),
        "no,lender,borrower": "\n".join(f"{i},P{i % 20},P{i * 3 % 40}" for i in range(40)),
        "lender,borrower,rate": "\n".join(f"P{i % 20},P{i * 3 % 40},{i % 7}" for i in range(40)),
    }[header]
    links.write_text(f"{header}\n{rows}\n")
    people.write_text("id,age,city\n" + "".join(f"P{i},{i % 50},C{i % 3}\n" for i in range(40)))
    assert upload._find_links([people, links]) == links


def test_of_two_tables_of_people_none_is_a_list_of_links(tmp_path: Path) -> None:
    """In the second case each table's numbers are among the other's ids."""
    paths = tmp_path / "one.csv", tmp_path / "two.csv"
    for is_number in (False, True):
        for path in paths:
            cities = [i % 3 if is_number else f"C{i % 3}" for i in range(40)]
            rows = "".join(f"{i},{i % 5},{city}\n" for i, city in enumerate(cities))
            path.write_text(f"id,age,city{is_number}\n{rows}")
        assert upload._find_links([*paths]) is None


class Upload:
    """A file as the uploader hands it over."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.file_id = name, f"{name}-{hash(text)}"
        self._content = text.encode()
        self.size = len(self._content)

    def getbuffer(self) -> bytes:
        return self._content


def show(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, *files: Upload):
    def take(*_args: object, key: str = "", **_options: object) -> list[Upload] | None:
        return list(files) if key == "upload" else None  # the Data page has uploaders as well

    monkeypatch.setattr(upload.st, "file_uploader", take)
    return open_app("overview")


def test_semicolons_and_decimal_commas_are_read(open_app: OpenApp, audited, monkeypatch) -> None:
    rows = "".join(f"{i};{(i + 1) % 60};0,5\n" for i in range(60))
    app = show(open_app, monkeypatch, Upload("links.csv", f"von;nach;gewicht\n{rows}"))
    chosen = {box.label: box.value for box in app.selectbox}
    assert chosen["Separator"] == "semicolon"
    assert chosen["Decimal mark"] == "comma"
    assert chosen["Header row"] == "yes"
    app.button(key="load-upload").click().run()
    assert not app.exception
    assert audited[0].load_graph(app.session_state["graph"]).num_nodes == 60


def test_what_has_two_readings_is_asked_before_it_is_loaded(
    open_app: OpenApp, audited, monkeypatch
) -> None:
    words = ["ada", "cleo", "dora", "emil", "fritz", "gerd", "hanna", "ines", "jan"]
    names = "".join(f"{words[i % 9]},{words[(i + 1 + i // 9) % 9]}\n" for i in range(40))
    app = show(open_app, monkeypatch, Upload("links.csv", f"anna,bert\n{names}"))
    box = next(box for box in app.selectbox if box.label == "Header row")
    assert box.value is None
    assert app.button(key="load-upload").disabled
    assert any("Choose above how" in item.value for item in app.caption)
    box.set_value("yes").run()
    assert not app.button(key="load-upload").disabled
    app.button(key="load-upload").click().run()
    assert audited[0].load_graph(app.session_state["graph"]).num_nodes == 9


def test_the_id_column_is_the_one_that_matches_the_links(open_app: OpenApp, monkeypatch) -> None:
    links = "".join(f"n{i},n{(i + 1) % 30}\n" for i in range(30))
    nodes = "".join(f"{i + 500},n{i},{i % 2}\n" for i in range(30))
    files = (
        Upload("links.csv", f"source,target\n{links}"),
        Upload("people.csv", f"id,new_id,team\n{nodes}"),
    )
    app = show(open_app, monkeypatch, *files)
    assert next(b for b in app.selectbox if b.label == "Id column").value == "new_id"


ICIJ = "node_id_start,node_id_end,rel_type,link,status,sourceID\n" + "".join(
    f"{9000 + i},{9000 + (i + 1) % 30},officer_of,officer of,,Panama Papers\n" for i in range(30)
)


def test_ends_are_proposed_by_their_values_and_unused_columns_told(
    open_app: OpenApp, audited, monkeypatch
) -> None:
    nodes = "node_id,country\n" + "".join(
        f"{9000 + i},{'no' if i % 2 else 'se'}\n" for i in range(30)
    )
    app = show(open_app, monkeypatch, Upload("people.csv", nodes), Upload("links.csv", ICIJ))
    chosen = {box.label: box.value for box in app.selectbox}
    assert next(v for k, v in chosen.items() if k.startswith("links")) == upload.LINKS
    assert chosen["Column of the source"] == "node_id_start"
    assert chosen["Column of the target"] == "node_id_end"
    assert chosen["Column of the weight"] == "none"
    said = [item.value for item in app.caption]
    assert any("sourceID is kind of a link: 1 kind" in text for text in said)
    assert "Read as: 9000 – 9001; 9001 – 9002; 9002 – 9003." in said
    app.button(key="load-upload").click().run()
    assert not app.exception
    graph = audited[0].load_graph(app.session_state["graph"])
    assert (graph.num_nodes, graph.num_edges) == (30, 30)
    report = app.session_state["load_reports"][app.session_state["graph"]]
    assert {column.name: column.use for column in report.columns}["sourceID"] == "kind of a link"
    assert graph.link_table.columns["sourceID"].classes == ("Panama Papers",)


def test_unsure_ends_are_asked_before_loading(open_app: OpenApp, audited, monkeypatch) -> None:
    rows = "".join(f"a{i},b{i},c{(i + 1) % 30}\n" for i in range(30))
    app = show(open_app, monkeypatch, Upload("links.csv", f"x,y,z\n{rows}"))
    boxes = {box.label: box for box in app.selectbox}
    assert boxes["Column of the source"].value is None
    assert app.button(key="load-upload").disabled
    boxes["Column of the source"].set_value("x").run()
    assert not any("Read as:" in item.value for item in app.caption)
    boxes = {box.label: box for box in app.selectbox}
    boxes["Column of the target"].set_value("z").run()
    assert any("Read as: a0 – c1; a1 – c2;" in item.value for item in app.caption)
    app.button(key="load-upload").click().run()
    assert not app.exception
    assert audited[0].load_graph(app.session_state["graph"]).node_ids[:2] == ("a0", "c1")


def test_a_graph_file_may_name_its_unknown_values(open_app: OpenApp, audited, monkeypatch) -> None:
    network = nx.cycle_graph(60)
    teams = {node: ["unknown", "red", "blue"][node % 3] for node in network}
    nx.set_node_attributes(network, teams, "team")
    text = "\n".join(nx.generate_graphml(network))
    app = show(open_app, monkeypatch, Upload("g.graphml", text))
    box = next(box for box in app.multiselect if box.key == "unknown")
    assert box.options == []
    app.session_state["unknown"] = ["unknown"]
    app.button(key="load-upload").click().run()
    assert not app.exception
    graph = audited[0].load_graph(app.session_state["graph"])
    assert graph.column("team").classes == ("blue", "red")


def test_the_use_of_each_column_is_on_the_data_page(
    open_app: OpenApp, example: str, monkeypatch
) -> None:
    from core.data.loaded import ColumnUse, LoadReport

    app = open_app("data", graph=example)
    graph_hash = app.session_state["graph"]
    use = ColumnUse("links", "since", "left out", "time", "the time of a link")
    report = LoadReport(columns=[use], modes={"people": 3, "events": 2}, id_warnings=["Odd ids."])
    app.session_state["load_reports"] = {graph_hash: report}
    app.session_state["loaded"] = True
    from pages.ui import cache

    cache.compute_profile.clear()
    app.run()
    assert not app.exception
    assert any(
        "joins two modes: “people” (3) and “events” (2). Only" in c.value for c in app.caption
    )
    state = {"load_reports": {graph_hash: report}, "graph": graph_hash}
    monkeypatch.setattr(st, "session_state", state)
    assert page.find_uses() == {"input_columns": [use]}
    state["graph"] = "another"
    assert page.find_uses() == {}
    assert any("Odd ids" in warning.value for warning in app.warning)
    tables = [frame.value for frame in app.dataframe if "why" in frame.value]
    assert tables[0].why.tolist() == ["the time of a link"]
    cache.compute_profile.clear()
