"""Text for the report: inert and printable, with bold parts marked."""

from __future__ import annotations

import unicodedata
from typing import Any

from core.words import cut_text

_COVERED = (
    (0x20, 0x7E),
    (0xA0, 0xAC),
    (0xAE, 0x17F),
    (0x391, 0x3A1),
    (0x3A3, 0x3A9),
    (0x3B1, 0x3C9),
    (0x410, 0x44F),
    (0x2013, 0x2014),
    (0x2018, 0x201A),
    (0x201C, 0x201E),
    (0x2020, 0x2022),
    (0x2026, 0x2026),
    (0x2190, 0x2193),
    (0x2212, 0x2212),
    (0x2248, 0x2248),
    (0x2264, 0x2265),
    (0xFFFD, 0xFFFD),
)
"""Code points covered by the template's own fonts."""

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that are invisible or change how neighbouring text is read."""


def clean_text(value: object, limit: int = 400) -> str:
    """One printable line; invisible and reordering characters are shown as code points."""
    text = "".join(
        f"<U+{ord(c):04X}>" if unicodedata.category(c) in _HIDDEN and c not in "\n\t" else c
        for c in str(value)
    )
    return cut_text(" ".join(text.split()), limit)


def is_covered(character: str) -> bool:
    """Whether the report's font has the character."""
    code = ord(character)
    return any(low <= code <= high for low, high in _COVERED)


def escape_uncovered(content: Any) -> Any:
    """The same JSON content with every character without a glyph as its code point."""
    if isinstance(content, str):
        return "".join(c if is_covered(c) else f"<U+{ord(c):04X}>" for c in content)
    if isinstance(content, dict):
        return {key: escape_uncovered(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [escape_uncovered(value) for value in content]
    return content


def split_strong(sentence: str) -> list[dict[str, Any]]:
    """ "a **b** c" → spans {text, strong}."""
    return [
        {"text": clean_text_keep_ends(part), "strong": index % 2 == 1}
        for index, part in enumerate(sentence.split("**"))
        if part
    ]


def clean_text_keep_ends(part: str) -> str:
    """As `clean_text`, but blanks at either end of a span are kept."""
    body = clean_text(part, 2000)
    start = " " if part[:1].isspace() else ""
    end = " " if part[-1:].isspace() and body else ""
    return f"{start}{body}{end}"
