"""The glossary: one entry a term, short, and every term that code explains is in it."""

from __future__ import annotations

import ast
from pathlib import Path

from core.findings.glossary import HELP, explain_term, load_glossary

ROOT = Path(__file__).parents[2]
MAX_WORDS = 60


def test_terms_are_sorted_unique_and_short() -> None:
    terms = list(load_glossary())
    assert terms == sorted(set(terms), key=str.lower)
    text = (HELP / "glossary.md").read_text(encoding="utf-8")
    assert text.count("\n## ") == len(terms)
    for term in terms:
        assert 4 <= len(explain_term(term).split()) <= MAX_WORDS, term


def test_every_term_that_code_explains_is_in_the_glossary() -> None:
    asked = []
    for path in [*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("explain_term"):
                asked += [a.value for a in node.args if isinstance(a, ast.Constant)]
    assert set(asked) <= set(load_glossary())


def test_the_page_of_each_topic_has_its_file() -> None:
    for topic in ("first_audit", "glossary", "formats", "policies", "methods", "deployment"):
        text = (HELP / f"{topic}.md").read_text(encoding="utf-8")
        assert text.startswith("# ")
        assert len(text.split()) > 60
