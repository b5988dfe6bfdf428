"""Glossary of the field's terms for tooltips, the Help page and the report."""

from __future__ import annotations

from functools import cache
from pathlib import Path

HELP = Path(__file__).parents[2] / "assets" / "help"


@cache
def load_glossary() -> dict[str, str]:
    """Term → one-paragraph explanation, in alphabetical order."""
    _, *entries = (HELP / "glossary.md").read_text(encoding="utf-8").split("\n## ")
    pairs = (entry.partition("\n") for entry in entries)
    return {term.strip(): " ".join(text.split()) for term, _, text in pairs}


def explain_term(term: str) -> str:
    """Explanation of a term; raises KeyError for an unknown one."""
    return load_glossary()[term]
