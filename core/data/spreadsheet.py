"""Cells that a spreadsheet would run as formulas: an apostrophe makes them text, and back."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r]")


def escape_cell(text: str) -> str:
    """The text with an apostrophe before a leading =, +, −, @, tab or return."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_cell(text: str) -> str:
    """The text that `escape_cell` was given."""
    return text[1:] if _ESCAPED.match(text) else text
