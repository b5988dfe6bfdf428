"""Texts are inert and printable; every allowed character has a glyph."""

from __future__ import annotations

import json

import pytest
import typst

from core.report.text import clean_text, escape_uncovered, is_covered, split_strong


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\u202eb", "a<U+202E>b"),
        ("a\x00b", "a<U+0000>b"),
        ("a\u200bb", "a<U+200B>b"),
        ("\ue000", "<U+E000>"),
        ("a\n\t b", "a b"),
        ("  x  ", "x"),
        ("Zoë", "Zoë"),
    ],
)
def test_clean_text(value, text):
    assert clean_text(value) == text


def test_long_text_is_cut():
    assert clean_text("x" * 900, 20) == "x" * 19 + "…"


def test_uncovered_characters_become_code_points_everywhere():
    content = {"a": ["漢 x", {"b": "😀"}], "n": 3, "t": True}
    assert escape_uncovered(content) == {"a": ["<U+6F22> x", {"b": "<U+1F600>"}], "n": 3, "t": True}
    assert escape_uncovered(escape_uncovered(content)) == escape_uncovered(content) != content


def test_strong_parts_keep_their_blanks():
    assert split_strong("a **b** c") == [
        {"text": "a ", "strong": False},
        {"text": "b", "strong": True},
        {"text": " c", "strong": False},
    ]


@pytest.mark.parametrize("font", ["Libertinus Serif", "DejaVu Sans Mono"])
def test_every_covered_character_has_a_glyph(font, tmp_path):
    covered = [chr(code) for code in range(0x21, 0x10000) if is_covered(chr(code))]
    assert len(covered) > 400
    (tmp_path / "c.json").write_text(json.dumps(covered))
    (tmp_path / "t.typ").write_text(
        '#set document(title: "t")\n#set text(font: "' + font + '", lang: "en")\n'
        '#for c in json("c.json") [#c ]\n'
    )
    typst.compile(  # PDF/UA refuses a text without a glyph
        str(tmp_path / "t.typ"),
        root=str(tmp_path),
        ignore_system_fonts=True,
        pdf_standards=["ua-1"],
        format="pdf",
    )
