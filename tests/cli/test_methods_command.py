"""`methods`: text, JSON and Markdown; the table in the project is the command's output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.main import main
from core.registry import list_methods

TABLE = Path(__file__).parents[2] / ".github" / "METHODS.md"


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["methods", *arguments]) == 0
    return capsys.readouterr().out


def test_the_table_of_methods_is_what_the_command_writes(capsys):
    written = run("--markdown", capsys=capsys)
    assert TABLE.read_text() == written, "python -m core methods --markdown > .github/METHODS.md"


def test_every_form_names_every_method(capsys):
    keys = [method.info.key for method in list_methods()]
    assert [method["key"] for method in json.loads(run("--json", capsys=capsys))] == keys
    assert [line.split()[1] for line in run(capsys=capsys).splitlines()] == keys
    rows = [line for line in run("--markdown", capsys=capsys).splitlines() if line[:3] == "| `"]
    assert [row.split("`")[1] for row in rows] == keys


def test_forms_exclude_each_other(capsys):
    assert main(["methods", "--json", "--markdown"]) == 2
