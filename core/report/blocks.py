"""Building blocks of the report, as JSON for the template."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core.report.text import clean_text, split_strong

Block = dict[str, Any]


def paragraph(sentence: str) -> Block:
    """Text; `**…**` is bold."""
    return {"kind": "paragraph", "spans": split_strong(sentence)}


def note(sentence: str) -> Block:
    """Small print below a table or figure."""
    return {"kind": "note", "spans": split_strong(sentence)}


def warning(sentence: str) -> Block:
    """Framed warning."""
    return {"kind": "warning", "spans": split_strong(sentence)}


def bullets(sentences: Iterable[str]) -> Block:
    """A list of sentences."""
    return {"kind": "bullets", "items": [split_strong(sentence) for sentence in sentences]}


def heading(title: str) -> Block:
    """A heading within a section."""
    return {"kind": "heading", "text": clean_text(title)}


def facts(rows: Iterable[tuple[str, str]], mono: Sequence[str] = ()) -> Block:
    """Two columns, name and value; values of names in `mono` use a fixed pitch."""
    return {
        "kind": "facts",
        "rows": [
            {"name": clean_text(name), "value": clean_text(value, 900), "mono": name in mono}
            for name, value in rows
        ],
    }


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str,
    numeric: Sequence[int] = (),
    widths: Sequence[float] | None = None,
    inline: bool = False,
    limit: int = 400,
) -> Block:
    """columns: headings; numeric: indices aligned right; widths: shares of the line, or auto.

    inline: keep intervals beside their value; limit: characters per cell.
    """
    return {
        "kind": "table",
        "caption": clean_text(caption),
        "columns": [clean_text(column) for column in columns],
        "numeric": list(numeric),
        "widths": None if widths is None else list(widths),
        "inline": inline,
        "rows": [[clean_text(cell, limit) for cell in row] for row in rows],
    }


def figure(name: str, alt: str, caption: str, width: float = 1.0) -> Block:
    """The SVG `name` beside the template; width: share of the line."""
    return {
        "kind": "figure",
        "name": name,
        "alt": clean_text(alt, 1500),
        "caption": clean_text(caption, 600),
        "width": width,
    }


def beside(left: Block, right: Block) -> Block:
    """Two figures side by side, each of half the line."""
    return {"kind": "beside", "figures": [left, right]}


def card(title: str, badge: str, color: str, rows: Iterable[tuple[str, str]], text: str) -> Block:
    """A framed summary: colour bar, title, badge, rows and a closing sentence."""
    return {
        "kind": "card",
        "title": clean_text(title),
        "badge": clean_text(badge),
        "color": color,
        "rows": [{"name": clean_text(n), "value": clean_text(v)} for n, v in rows],
        "spans": split_strong(text),
    }
