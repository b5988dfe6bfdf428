"""Text for the pages: escaped user text, table cells and durations."""

from __future__ import annotations

import re

from core.words import cut_text

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$:~&^=])")


def escape(text: object, limit: int = 60) -> str:
    """Escape user text as inert Markdown on one line, cut at `limit` characters."""
    line = "".join(c for c in " ".join(str(text).split()) if c.isprintable())
    return _MARKDOWN.sub(r"\\\1", cut_text(line, limit))


def format_cell(text: object, limit: int = 200) -> str:
    """Escape a table cell whose intervals and `name = value` pairs are not broken across lines."""
    line = escape(text, limit).replace(" \\= ", "\u00a0\\=\u00a0")
    return re.sub(r", (?=[^\]]*\])", ",\u00a0", line)


def show_seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60} min"
