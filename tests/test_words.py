"""The project speaks the field's words: none of the retired ones is an identifier, option or term.

The table of words stands in the contribution guide. A word is retired where a newcomer had to learn
it; the pattern says in which form.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

RETIRED_NAMES = (
    "aware",
    "desk",
    "elsewhere",
    "foreign_reader",
    "known_graph",
    "material",
    "opening",
    "rail",
    "replay",
    "safely",
    "spreading",
    "stakes",
    "surroundings",
    "twin",
    "twins",
    "turned",
    "verifying",
    "workplace",
)
"""Whole words of an identifier, such as `twins` in `pair_twins`."""

PUBLISHED = {"uniqueness_aware", "UniquenessAware"}
"""Names of methods as their authors have them."""

RETIRED_VERBS = ("tell", "say", "name")
"""First word of a function's name."""

RETIRED_PHRASES = (
    "hidden links?",
    "links inside",
    "included links?",
    "null attackers?",
    "false alarms?",
    "releases held",
    "knowing the defense",
    "may it leave",
    "data-free twins?",
    "turned round",
    "inference of identit(?:y|ies)",
    "surroundings",
)
"""What pages, report, help and options no longer print."""

SOURCES = [
    path
    for folder in ("core", "pages", "tests/benchmarks")
    for path in ROOT.glob(f"{folder}/**/*.py")
] + [ROOT / "app.py"]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "tests/benchmarks/README.md",
    *ROOT.glob("assets/help/*.md"),
    *ROOT.glob("assets/deploy/*.md"),
    *ROOT.glob(".github/*.md"),
]


def list_names(text: str) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def list_strings(text: str) -> str:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join(token.string for token in tokens if token.type == tokenize.STRING)


def find_retired_names(names: set[str]) -> set[str]:
    """The identifiers that hold a retired word, snake case and camel case alike."""
    found = set()
    for name in names - PUBLISHED:
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")
        if set(words) & set(RETIRED_NAMES):
            found.add(name)
    return found


def find_retired_phrases(text: str) -> list[str]:
    return re.findall(rf"\b(?:{'|'.join(RETIRED_PHRASES)})\b", text, re.IGNORECASE)


def list_where(find: Callable[[Path], Collection[str]]) -> dict[str, Collection[str]]:
    """Source file → what is found there, of those where something is."""
    found = {str(path.relative_to(ROOT)): find(path) for path in SOURCES}
    return {name: words for name, words in found.items() if words}


# One test for all files: at this number, a test for each costs more than what it does.
def test_no_identifier_holds_a_retired_word() -> None:
    def find(path: Path) -> list[str]:
        text = path.read_text(encoding="utf-8")
        names = find_retired_names(list_names(text) | {path.stem})
        return [*names, *find_retired_phrases(list_strings(text))]

    assert list_where(find) == {}


def test_functions_have_the_fields_verbs() -> None:
    def find(path: Path) -> set[str]:
        defined = re.findall(r"^\s*def _?([a-z]+)_", path.read_text(encoding="utf-8"), re.M)
        return set(defined) & set(RETIRED_VERBS)

    assert list_where(find) == {}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_holds_a_retired_phrase(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    table = re.search(r"## Words\n.*?(?=\n## )", text, re.DOTALL)
    assert find_retired_phrases(text.replace(table[0], "") if table else text) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_holds_marks_of_a_merge(path: Path) -> None:
    """The change log kept three for a while."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if re.match(r"(<{7}|={7}|>{7})( |$)", line)] == []


def test_no_option_holds_a_retired_word() -> None:
    from core.cli.main import build_parser

    help_text = [build_parser().format_help()]
    for action in build_parser()._actions:
        for parser in (action.choices or {}).values():
            parser.complete()
            help_text.append(parser.format_help())
    text = "\n".join(help_text)
    assert find_retired_phrases(text) == []
    options = re.findall(r"--[a-z-]+", text)
    assert find_retired_names({option.strip("-").replace("-", "_") for option in options}) == set()


def test_a_retired_word_is_found() -> None:
    assert find_retired_names({"pair_twins", "SafelyRead", "intertwined"}) == {
        "pair_twins",
        "SafelyRead",
    }
    assert find_retired_phrases("TPR at 1 % FPR, False alarms, hidden\nlinks") == ["False alarms"]
