"""The terms of the field: one glossary for tooltips, the Help page and the report."""

from __future__ import annotations

from functools import cache
from pathlib import Path

HELP = Path(__file__).parents[2] / "assets" / "help"


@cache
def load_glossary() -> dict[str, str]:
    """Term → its explanation in one paragraph, in alphabetical order."""
    _, *entries = (HELP / "glossary.md").read_text(encoding="utf-8").split("\n## ")
    pairs = (entry.partition("\n") for entry in entries)
    return {term.strip(): " ".join(text.split()) for term, _, text in pairs}


def explain_term(term: str) -> str:
    """What a term means; raises KeyError for one that the glossary lacks."""
    return load_glossary()[term]
