"""Ids that may be wrong: nearly the same twice, cut by a spreadsheet, or the word for no value.

Normal forms are compared by their hashes in one pass: a million ids take seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import normalize

import numpy as np

from core.words import count_noun

_WORDS = r"nan NaN NAN NaT null NULL nil None none NA N/A n/a <NA> #N/A \N"
NULL_WORDS = frozenset(_WORDS.split())
"""What programs write for an empty cell. A name such as Null or Na is written otherwise."""
EXAMPLES = 3
_EXPONENT = re.compile(r"[+-]?\d([.,]\d+)?[eE]\+?\d+")
_DIALLED = re.compile(r"\+?[\d()/.\-]*\d")
_LOOKALIKES = str.maketrans(
    "авекмнорстухіјѕοανιρτυκχ\u200b\u200c\u200d\ufeff\u00ad", "abekmhopctyxijsoaviptukx     "
)
"""Cyrillic and Greek letters in the form of Latin ones, and characters that are not seen."""


def find_id_warnings(ids: Sequence[str]) -> list[str]:
    """Warnings with counts and examples, which are about people: for the screen only."""
    found = []
    cut = [i for i in ids if ("E" in i or "e" in i) and _EXPONENT.fullmatch(i)]
    if cut:
        found.append(
            f"{count_noun(len(cut), 'id')} in scientific notation, such as '{cut[0]}': a "
            "spreadsheet has cut the digits, and several people may be one. Export the column as "
            "text."
        )
    empty = [i for i in ids if i in NULL_WORDS]
    if empty:
        found.append(
            f"A node is called '{empty[0]}', as programs write an empty value. If nobody is called "
            "so, remove its links."
        )
    return [*found, *_find_alike(ids)]


def _find_alike(ids: Sequence[str]) -> Iterator[str]:
    """Warnings on ids with one normal form, by what sets them apart."""
    hashes = np.fromiter((hash(_make_form(i)) for i in ids), np.int64, len(ids))
    order = np.argsort(hashes, kind="stable")
    is_same = hashes[order[1:]] == hashes[order[:-1]]
    kinds: dict[str, list[tuple[str, str]]] = {}
    for row in np.flatnonzero(is_same).tolist():
        first, second = sorted((ids[order[row]], ids[order[row + 1]]))
        kinds.setdefault(_describe_pair(first, second), []).append((first, second))
    for kind, pairs in kinds.items():
        shown = ", ".join(f"'{a}' and '{b}'" for a, b in pairs[:EXAMPLES])
        yield (
            f"{count_noun(len(pairs), 'pair')} of ids differ in {kind} only, such as {shown}: each "
            "is a node of its own. If they are the same, write them alike."
        )


def _make_form(text: str) -> str:
    """The id without case, blanks, look-alikes, and of a dialled number its marks and zeros."""
    if text.isdecimal() and text[0] != "0" and text.isascii():
        return text
    form = text if text.isascii() else normalize("NFKC", text)
    form = form.casefold() if form.isascii() else form.casefold().translate(_LOOKALIKES)
    form = "".join(form.split())
    if _DIALLED.fullmatch(form):
        return re.sub(r"\D", "", form).lstrip("0")
    return form


def _describe_pair(first: str, second: str) -> str:
    if first.casefold() == second.casefold():
        return "case"
    if "".join(first.split()) == "".join(second.split()):
        return "blanks"
    if first.isascii() and second.isascii():
        digits = all(_DIALLED.fullmatch("".join(text.split())) for text in (first, second))
        return "zeros or the form of a phone number" if digits else "case and blanks"
    return "look-alike letters"
