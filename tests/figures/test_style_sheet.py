"""The style sheet of charts holds: one palette, one layout, and what it names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from core.figures import chart, theme
from core.findings import palette

ROOT = Path(__file__).parents[2]
MODULES = sorted(ROOT.glob("core/figures/*.py"))
SHEET = (ROOT / "assets/help/charts.md").read_text(encoding="utf-8")
COLOR = re.compile(r"#[0-9a-fA-F]{3,8}|rgba?\(.*|hsl.*")
BUILDERS = {"Figure", "make_subplots", "make_panels"}
STYLED = {"style_figure", "make_panels"}


def list_colors(source: str) -> list[str]:
    texts = (n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant))
    return [text for text in texts if isinstance(text, str) and COLOR.fullmatch(text)]


def list_calls(source: str) -> set[str]:
    functions = (n.func for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call))
    return {f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in functions}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_colours_come_from_the_palette(path):
    if path.stem != "theme":
        assert not list_colors(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_chart_has_the_shared_layout(path):
    called = list_calls(path.read_text(encoding="utf-8"))
    if BUILDERS & called and path.stem != "theme":
        assert STYLED & called


def test_a_literal_and_a_bare_figure_are_found():
    source = "import x\nx.Figure()\nx.add(color='#fff', fill='rgba(1,2,3,0.5)', note='# 3')\n"
    assert list_colors(source) == ["#fff", "rgba(1,2,3,0.5)"]
    assert BUILDERS & list_calls(source)
    assert not STYLED & list_calls(source)


def test_what_the_style_sheet_names_exists():
    named = [*re.findall(r"`(\w+)`", SHEET)]
    assert {"release_color", "style_figure"} <= set(named)
    assert not [
        name for name in named if not any(hasattr(m, name) for m in (chart, palette, theme))
    ]
