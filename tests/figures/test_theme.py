"""Colours are stable, risk darkens steadily, numbers are written as people read them."""

from __future__ import annotations

import re
from pathlib import Path

import plotly.graph_objects as go
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.audit.asked.release_info import ReleaseInfo
from core.figures.theme import make_legend_room, shorten_names, style_figure, wrap_text
from core.findings.numbers import format_estimate, format_interval, format_number
from core.findings.palette import (
    OKABE_ITO,
    ORIGINAL_GREY,
    RISK_SCALE,
    escape_text,
    ink_on,
    release_color,
    release_symbol,
    risk_color,
)
from core.results import Estimate


def luminance(color: str) -> float:
    """Relative luminance of WCAG 2."""
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("names", "lines"), [(1, 2), (4, 2), (5, 3), (6, 3)])
def test_a_legend_has_room_for_each_of_its_lines(names, lines):
    """Five families were written over the title of the chart beside the ROC curve."""
    figure = go.Figure([go.Bar(name="x" * 10) for _ in range(names)])  # two columns of 108 pixels
    figure.add_bar(name="a" * 40, showlegend=False)
    style_figure(figure, "light", 400, "title")
    top, height = figure.layout.margin.t, figure.layout.height
    make_legend_room(figure, width=416, left=150, least=2)
    assert figure.layout.margin.t - top == figure.layout.height - height == 21 * (lines - 1)


def test_risk_changes_its_lightness_steadily():
    levels = [luminance(risk_color(i / 50)) for i in range(51)]
    assert levels == sorted(levels, reverse=True)
    assert len(set(levels)) == 51
    ends = [RISK_SCALE[0], RISK_SCALE[-1], RISK_SCALE[-1]]
    assert [risk_color(v) for v in (0, 1, 7)] == ends


def test_numbers_stand_out_on_every_risk():
    for i in range(201):
        color = risk_color(i / 200)
        levels = sorted((luminance(color), luminance(ink_on(color))))
        assert (levels[1] + 0.05) / (levels[0] + 0.05) >= 4.5


def test_risk_scale_shares_no_colour_with_releases():
    assert not set(RISK_SCALE) & {*OKABE_ITO, ORIGINAL_GREY}


def test_a_defense_keeps_its_colour_and_settings_are_tints():
    ids = ["original", "a", "b:epsilon=1", "b:epsilon=2", "c"]
    made = list(map(ReleaseInfo, ids))
    colors, symbols = release_color(made), release_symbol(made)
    assert colors["original"] == ORIGINAL_GREY
    assert [colors["a"], colors["b:epsilon=1"], colors["c"]] == list(OKABE_ITO[:3])
    assert colors["b:epsilon=2"] not in (colors["b:epsilon=1"], colors["a"], colors["c"])
    assert luminance(colors["b:epsilon=2"]) > luminance(colors["b:epsilon=1"])
    assert symbols["b:epsilon=1"] == symbols["b:epsilon=2"] != symbols["a"]


def test_many_defenses_stay_apart_by_colour_or_symbol():
    ids = [f"d{i}" for i in range(24)]
    made = list(map(ReleaseInfo, ids))
    colors, symbols = release_color(made), release_symbol(made)
    assert len({(colors[i], symbols[i]) for i in ids}) == len(ids)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.844, "0.84"),
        (0.0, "0.00"),
        (1.0, "1.00"),
        (0.096, "0.10"),
        (0.05, "0.050"),
        (0.0031, "0.0031"),
        (0.00004, "4.0 × 10⁻⁵"),
        (-0.00004, "−4.0 × 10⁻⁵"),
        (12.3, "12"),
        (1234, "1,234"),
        (-0.25, "−0.25"),
        (None, "–"),
        (float("nan"), "–"),
        (-1e-9, "0.00"),
    ],
)
def test_format_number(value, text):
    assert format_number(value) == text


@example(0.095)
@example(0.00015)
@example(0.00995)
@given(st.floats(1e-6, 1e6))
def test_format_number_is_true_to_five_percent(value):
    text = format_number(value).replace(",", "").replace(" × 10", "e")
    shown = float(text.translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")))
    assert shown == pytest.approx(value, rel=0.051)


def test_format_estimate_shows_interval_or_reason():
    assert format_estimate(Estimate(0.844, 0.8, 0.884, 10)) == "0.84 [0.80, 0.88]"
    assert format_estimate(Estimate(0.844, None, None, 10)) == "0.84"
    assert format_estimate(Estimate(None, None, None, 10, how="too few pairs")) == "too few pairs"
    assert format_interval(0.5, float("nan"), 0.6) == "0.50"


def test_escape_text():
    assert escape_text("<b>&</b>") == "&lt;b&gt;&amp;&lt;/b&gt;"


def test_a_setting_is_not_broken_for_a_letter_but_a_long_name_is():
    assert wrap_text("Random deletion (strength = 0.3)", 15, 3).replace("\u00a0", " ") == (
        "Random deletion<br>(strength = 0.3)"
    )
    assert max(map(len, wrap_text("x" * 300, 15, 3).split("<br>"))) <= 15


@given(st.lists(st.text("ab (=,", min_size=1, max_size=60), unique=True, max_size=8))
def test_shortened_names_stay_apart(names):
    shown = shorten_names(names, 16)
    assert len(set(shown)) == len(names)
    assert all(len(text) <= 16 for text, name in zip(shown, names, strict=True) if text != name)


def test_percentages_have_one_notation():
    """ "44 %": nothing lets Python, Plotly or Streamlit write "44%" by a format of its own."""
    root = Path(__file__).parents[2]
    own = r"\w:[.~\d]*%}|tickformat=\"[^\"]*%|tickformat\": \"[^\"]*%|format=\"percent\""
    for path in (*root.glob("core/**/*.py"), *root.glob("pages/**/*.py")):
        style = r"(width|left):{[\w.]+:\.1%}"  # CSS knows no other notation
        text = re.sub(style, "", path.read_text(encoding="utf-8"))
        assert not re.search(own, text), path
