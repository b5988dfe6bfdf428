"""`inspect`, and the options on reading a file that it shares with audits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.main import main
from core.data.catalogue import load_dataset
from core.data.writers import write_release
from core.release import Release

ICIJ = """node_id_start,node_id_end,rel_type,sourceID
1,11,address,Panama Papers
2,13,officer,Panama Papers
13,12,officer,Paradise Papers
"""


def inspect(path: Path, *options: str, capsys: pytest.CaptureFixture[str]) -> tuple[dict, str]:
    assert main(["inspect", str(path), "--json", *options]) == 0
    shown = capsys.readouterr()
    return json.loads(shown.out), shown.err


def test_every_column_has_its_use(tmp_path, capsys):
    path = tmp_path / "l.csv"
    path.write_text(ICIJ)
    found, said = inspect(path, capsys=capsys)
    uses = {column["name"]: (column["use"], column["kind"]) for column in found["columns"]}
    assert uses == {
        "node_id_start": ("source", "id"),
        "node_id_end": ("target", "id"),
        "rel_type": ("kind of a link", "class"),
        "sourceID": ("kind of a link", "class"),
    }
    assert (found["nodes"], found["links"], found["modes"]) == (5, 3, {})
    assert found["merged"]["reverse_directions"] == 0
    assert "column of the links 'sourceID': kind of a link (class), 2 kinds" in said
    assert main(["inspect", str(path)]) == 0
    assert "links  node_id_start  source" in capsys.readouterr().out


def test_options_state_ends_weight_and_merging(tmp_path, capsys):
    path = tmp_path / "l.csv"
    path.write_text("a,b,n,source\n1,2,5,7\n2,1,3,7\n2,3,4,8\n")
    options = ["--source", "a", "--target", "b", "--weight", "n", "--merge", "sum"]
    found, said = inspect(path, *options, capsys=capsys)
    uses = [c["use"] for c in found["columns"]]
    assert uses == ["source", "target", "weight", "number of a link"]
    assert "1 link given several times with unequal weights: merged by sum" in said
    assert main(["inspect", str(path), "--source", "x"]) == 2
    assert "source must be a column" in capsys.readouterr().err


def test_modes_and_node_columns(tmp_path, capsys):
    path, nodes = tmp_path / "out.txt", tmp_path / "n.csv"
    path.write_text("% bip unweighted\n1 1\n2 1\n")
    found, said = inspect(path, capsys=capsys)
    assert found["modes"] == {"left": 2, "right": 1}
    assert "every link joins two modes: “left” (2) and “right” (1)" in said
    path.write_text("1 2\n2 3\n")
    nodes.write_text("id,team,name\n1,x,ann\n2,y,bo\n3,x,cy\n")
    found, _ = inspect(path, "--nodes", str(nodes), "--private", "team", capsys=capsys)
    uses = {c["name"]: c["use"] for c in found["columns"] if c["table"] == "nodes"}
    assert uses == {"id": "id", "team": "private", "name": "left out"}


def test_examples_of_ids_are_on_standard_error_only(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    path = tmp_path / "calls.csv"
    rows = [f"4.91{i}E+11,p{j},1\n" for i in range(8) for j in range(i, 8)]
    path.write_text("caller,callee,count\n" + "".join(rows))
    assert main(["inspect", str(path), "--json"]) == 0
    shown = capsys.readouterr()
    assert "4.910E+11" in shown.err
    assert "E+11" not in shown.out
    words = ["audit", "--graph", str(path), "--attack", "common_neighbors", "--repeats", "1"]
    assert main([*words, "--out", str(tmp_path / "out")]) in (0, 1, 3)
    said = capsys.readouterr().err
    assert "4.910E+11" in said
    assert "column of the links 'caller': source (id), by its name and values" in said
    text = (tmp_path / "out" / "audit.json").read_text()
    assert "scientific notation" not in text
    assert "E+11" not in text
    found = {c["name"]: (c["use"], c["published"]) for c in json.loads(text)["columns"]}
    assert found == {
        "caller": ("source", True),
        "callee": ("target", True),
        "count": ("weight", False),  # all of them 1
    }


def test_judge_reads_the_release_by_options_of_its_own(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    graph = load_dataset("karate").graph
    (path, *_) = write_release(Release(graph), tmp_path, "r", {}, ["csv"])
    original = tmp_path / "o.csv"
    original.write_text(path.read_text().replace('"source","target"', '"p","q"', 1))
    words = ["judge", str(original), str(path), "--source", "p", "--target", "q"]
    words += ["--out", str(tmp_path / "out")]
    assert main(words) == 2
    assert "source must be a column; got p" in capsys.readouterr().err
    words += ["--release-source", "source", "--release-target", "target"]
    assert main(words) in (0, 1, 3)


def test_secrets_have_their_use_and_many_features_are_one_line(tmp_path, capsys):
    path, nodes = tmp_path / "l.csv", tmp_path / "n.csv"
    path.write_text("source,target\n1,2\n2,3\n")
    names = ["id", "age", "team", *(f"w{i}" for i in range(25))]
    rows = [[i, 30 + i, "ab"[i % 2], *(i * j for j in range(25))] for i in range(1, 4)]
    nodes.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")
    words = ("--nodes", str(nodes), "--private", "team", "--private", "age")
    found, said = inspect(path, *words, capsys=capsys)
    assert len(found["columns"]) == len(names) + 2
    for line in ("'team': private (class)", "'age': private (number)", "'25 features': feature"):
        assert line in said
    assert "'w3'" not in said
