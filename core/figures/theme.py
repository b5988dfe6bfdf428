"""Colours, type and number formats that all pages and the report share.

Risk has one sequential scale, used for nothing else. The original is grey, a defense keeps one
colour of the Okabe–Ito palette (Okabe & Ito 2008; its yellow is left out, it vanishes on white).
Baseline attackers are dashed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from core.findings.labels import short_titles
from core.findings.palette import FONT, Theme, escape_text


@dataclass(frozen=True)
class Ink:
    """Colours of text, lines and empty cells in one theme."""

    text: str
    muted: str
    grid: str
    empty: str
    surface: str


INKS: dict[str, Ink] = {
    "light": Ink("#262730", "#6b7280", "#e6e8ec", "#eef0f3", "#ffffff"),
    "dark": Ink("#fafafa", "#a3a8b4", "#31353f", "#2a2e38", "#0e1117"),
}


def style_figure(figure: go.Figure, theme: Theme, height: int = 420, **layout: Any) -> go.Figure:
    """Transparent background, one typeface, quiet grid."""
    ink = INKS[theme]
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 14, "color": ink.text},
        height=height,
        margin={"l": 10, "r": 16, "t": 36, "b": 10},
        hoverlabel={"font": {"family": FONT}},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "title": None},
    )
    axis = {
        "gridcolor": ink.grid,
        "zeroline": False,
        "automargin": True,
        "linecolor": ink.grid,
        "tickfont": {"color": ink.muted},
        "title": {"font": {"size": 14}, "standoff": 8},
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    figure.update_layout(**layout)
    figure.update_annotations(font={"family": FONT, "color": ink.text})
    return figure


_LINE_PIXELS = 19
MAX_WORD = 24
"""Letters of a word that is kept whole, even where a line is meant to be shorter."""


def wrap_text(text: str, width: int, max_lines: int) -> str:
    """Escaped, on so many lines at most; what does not fit ends in an ellipsis."""
    for joint in (" = ", " %"):  # no line ends within a setting or before a unit
        text = text.replace(joint, joint.replace(" ", "\u00a0"))
    whole = [len(word) for word in text.split(" ") if len(word) <= MAX_WORD]
    width = max([width, *whole])  # a setting is not broken for a letter or two
    lines = textwrap.wrap(text, width, max_lines=max_lines, placeholder=" …")
    return "<br>".join(map(escape_text, lines))


def name_releases(releases: Iterable[str], width: int = 20) -> dict[str, str]:
    """Release → its short name on at most three lines, for the axis of a figure."""
    return {r: wrap_text(title, width, 3) for r, title in short_titles(releases).items()}


def fit_rows(names: Iterable[str], least: int) -> int:
    """Pixels a row on whose axis these names stand, so that lines of two do not meet."""
    return max([least, *(_LINE_PIXELS * (name.count("<br>") + 1) + 6 for name in names)])


def make_empty_figure(message: str, theme: Theme = "light", height: int = 240) -> go.Figure:
    """A figure that only says why there is nothing to see."""
    figure = go.Figure()
    figure.add_annotation(
        text=escape_text(message), showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper"
    )
    style_figure(figure, theme, height)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure
