"""Whoever makes one column coarser, to be careful, hands out that one and no other."""

from __future__ import annotations

import csv
from argparse import Namespace

import pandas as pd
import pytest

from core import load_graph, publish
from core.audit.asked.spec_parts import fill_published
from core.cli.audit_spec import read_fields
from core.cli.main import build_parser, main

IDS = [f"c{number}" for number in range(12)]


@pytest.fixture
def files(tmp_path, monkeypatch) -> list[str]:
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    links = {"source": IDS[:-1], "target": IDS[1:], "weight": range(1, 12)}
    pd.DataFrame(links).to_csv(tmp_path / "l.csv", index=False)
    nodes = {"id": IDS, "income": [1000 * i for i in range(12)], "age": range(30, 42)}
    nodes |= {"city": ["x", "y"] * 6, "use": ["a", "b", "b"] * 4}
    pd.DataFrame(nodes).to_csv(tmp_path / "n.csv", index=False)
    return [str(tmp_path / "l.csv"), str(tmp_path / "n.csv")]


def read_header(path) -> list[str]:
    with path.open(newline="") as file:
        return next(csv.reader(file))


@pytest.mark.parametrize(
    ("more", "columns"),
    [
        (["--generalize", "income:bin=5000"], ["income"]),
        (["--generalize", "income:bin=5000", "--utility", "use"], ["income", "use"]),
        (["--generalize", "link.weight:bin=5"], []),
        (["--generalize", "age:bin=5", "--publish-columns", "age,income"], ["age", "income"]),
    ],
)
def test_the_command_publishes_no_other_column(files, tmp_path, capsys, more, columns):
    asked = ["publish", "--graph", files[0], "--nodes", files[1], "--private", "city"]
    asked += ["--defense", "random_deletion:strength=0.1", "--out", str(tmp_path / "r.csv")]
    assert main([*asked, *more]) == 0
    assert sorted(read_header(tmp_path / "r.nodes.csv")) == sorted(["id", *columns])
    assert read_header(tmp_path / "r.csv") == ["source", "target", "weight"]
    assert "No other column is." in capsys.readouterr().err


def test_scripts_and_audits_mean_the_same(files, tmp_path):
    graph, out = load_graph(files[0], nodes_path=files[1]), tmp_path / "s.csv"
    publish(graph, "random_deletion", out, private="city", generalize=["income:bin=5000"])
    assert read_header(tmp_path / "s.nodes.csv") == ["id", "income"]
    asked = ["audit", "--graph", files[0], "--generalize", "income:bin=5000", "--out", "o"]
    options: Namespace = build_parser().parse_args(asked)
    options.spec = None
    assert read_fields(options)["publish_columns"] == ["income"]


def test_chosen_columns_stay_chosen():
    for fields in ({}, {"generalize": ()}, {"publish_columns": (), "generalize": ("a:bin=2",)}):
        assert fill_published(fields) == fields
