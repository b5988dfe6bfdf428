"""The command line's options for files that do not fit, and its way through the reading process."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from core.cli.arguments import load_input
from core.cli.main import build_parser, main
from core.data.loaded import LoadedGraph
from core.errors import InputError


def load(path: Path, *options: str) -> tuple[LoadedGraph, list[str]]:
    words = ["publish", "--graph", str(path), "--defense", "x", "--out", "y", *options]
    said: list[str] = []
    return load_input(build_parser().parse_args(words), said.append), said


def test_undeclared_nodes_and_text_weights(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    path.write_text(
        '<graphml><key id="w" for="edge" attr.name="weight"/><graph><node id="a"/>'
        '<edge source="a" target="z"><data key="w">strong</data></edge></graph></graphml>'
    )
    with pytest.raises(InputError, match="such as 'z'"):
        load(path)
    with pytest.raises(InputError, match=r"strong.*leave the weights out"):
        load(path, "--add-undeclared-nodes")
    loaded, said = load(path, "--add-undeclared-nodes", "--weight", "none")
    assert loaded.graph.node_ids == ("a", "z")
    assert loaded.graph.weights is None
    assert any("1 nodes that were not declared were added" in line for line in said)


def test_a_bomb_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 12_000_000))
    words = ["publish", "--graph", str(path), "--defense", "random_rewiring"]
    assert main([*words, "--out", str(tmp_path / "out.csv")]) != 0
    shown = capsys.readouterr().err.strip()
    assert "must unpack to at most 100 times its size" in shown
    assert "internal error" not in shown
    assert len(shown.splitlines()) == 1
