"""Names, counts and times as the pages show them; numbers come from core.figures.theme."""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$:~&^=])")


def escape(text: object, limit: int = 60) -> str:
    """User text as inert Markdown on one line: no markup, links, colours, formulas or HTML."""
    line = "".join(c for c in " ".join(str(text).split()) if c.isprintable())
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return _MARKDOWN.sub(r"\\\1", line)


def show_seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60} min"
