"""User text is inert where it is shown or exported."""

from __future__ import annotations

import pandas as pd
import pytest

from core.words import count_noun
from pages.ui.chart import write_csv
from pages.ui.text import escape, show_seconds


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[a](javascript:x)",
        "$x^2$",
        ":red[x]",
        "**b**",
        "`c`",
        "![i](http://x/y.png)",
        "# h",
        ":material/home:",
    ],
)
def test_markup_is_escaped(text: str) -> None:
    shown = escape(text)
    for mark in "<[$:*`!#":
        assert shown.count(mark) == shown.count("\\" + mark)
    assert shown.replace("\\", "") == text


def test_text_becomes_one_short_line() -> None:
    assert escape("a\nb\tc") == "a b c"
    assert len(escape("x" * 500, 20)) == 20
    assert escape("a\u202eb\x00c") == "abc"


def test_formulas_in_csv_are_inert() -> None:
    table = pd.DataFrame({"node": ["=1+1", "@x", "plain"], "risk": [0.1, -0.2, 0.3]})
    lines = write_csv(table).decode().splitlines()
    assert lines == ["node,risk", "'=1+1,0.1", "'@x,-0.2", "plain,0.3"]


def test_counts_and_times() -> None:
    assert count_noun(1, "entry", "entries") == "1 entry"
    assert count_noun(1200, "node") == "1,200 nodes"
    assert show_seconds(59) == "59 s"
    assert show_seconds(61) == "1 min 01 s"
    assert show_seconds(3700) == "1 h 1 min"
