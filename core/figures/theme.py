"""Shared style of all figures: colours, layout, percent axes, titles and fitted names."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.audit.asked.release_info import ReleaseInfo, list_short_titles
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
GROUND = INKS["light"]
"""Below and on whatever risk colours, in either theme: pale, since darkest is most exposed."""


TITLE_LETTERS = 96
"""Characters per line of a title: what fits in 700 pixels at 15 px."""
HALF_LETTERS = 58
"""Of a figure that stands beside another."""

TOP_PIXELS, _TITLE_PIXELS = 36, 21
NARROW_PX, HALF_PX = 680, 465
"""Width of a figure on a page of 1024 pixels, and of one beside another on a page of 1440."""
_LEGEND_PX, _GAP_PX = 21, 7
"""Height of a line of the legend, and from the title's room to the first one."""
LETTER_PX, _MARK_PX = 6.6, 42
"""Conservative width of a letter, and of what stands beside a name in the legend."""


def style_figure(
    figure: go.Figure,
    theme: Theme,
    height: int,
    title: str = "",
    letters: int = TITLE_LETTERS,
    **layout: Any,
) -> go.Figure:
    """Apply transparent background, one typeface and a quiet grid.

    title    the finding, above everything else, which moves down for it.
    letters  of a line of it
    height   of the figure without its title, in pixels
    """
    ink = INKS[theme]
    room = 0
    if title:
        text = wrap_text(title, letters, 3)
        lines = text.count("<br>") + 1
        room = _TITLE_PIXELS * lines + 10
        height += room
        figure.update_layout(
            title={
                "text": text,
                "font": {"family": FONT, "size": 15, "color": ink.text},
                "x": 0,
                "xanchor": "left",
                "xref": "container",  # the plot's own left end depends on its longest label
                "y": 1,
                "yref": "container",
                "yanchor": "top",
                # plotly draws a title of several lines half a line above its place
                "pad": {"t": 6 if lines == 1 else 6 + _TITLE_PIXELS // 2, "l": 4},
            }
        )
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 14, "color": ink.text},
        height=height,
        margin={"l": 10, "r": 16, "t": TOP_PIXELS, "b": 10},
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
    figure.update_layout(margin={"t": figure.layout.margin.t + room})
    figure.update_annotations(font={"family": FONT, "color": ink.text})
    return figure


def make_legend_room(figure: go.Figure, width: float, left: float, least: int = 1) -> None:
    """Room below the title for as many lines as the legend takes where the figure is narrowest;
    its columns are as wide as its longest name. It begins right below the title: where it takes
    fewer lines, what is left of the room lies between it and the plot.

    width  of the figure in pixels; left: of its labels beside the plot
    least  number of lines
    """
    names = [trace.name for trace in figure.data if trace.name and trace.showlegend is not False]
    column = LETTER_PX * max(map(len, names), default=0) + _MARK_PX
    lines = math.ceil(len(names) / max(1, int((width - left - figure.layout.margin.r) // column)))
    room = _LEGEND_PX * (max(lines, least) - 1)
    top, height = figure.layout.margin.t, figure.layout.height + room
    place = {"yref": "container", "y": 1 - (top - TOP_PIXELS + _GAP_PX) / height, "yanchor": "top"}
    figure.update_layout(height=height, margin={"t": top + room}, legend=place)


def error_bars(
    value: Any, low: Any, high: Any, width: int = 3, thickness: float = 1.3, **look: Any
) -> dict[str, Any]:
    """Whiskers from `low` to `high`, arrays or numbers; none if an end is missing."""
    value, low, high = (np.atleast_1d(np.asarray(v, float)) for v in (value, low, high))
    return {
        "type": "data",
        "array": np.clip(np.nan_to_num(high - value), 0, None),
        "arrayminus": np.clip(np.nan_to_num(value - low), 0, None),
        "width": width,
        "thickness": thickness,
        **look,
    }


def shorten_names(names: Iterable[str], limit: int) -> list[str]:
    """Each name in at most `limit` characters, cut in the middle if two would become equal.

    Names that cannot be distinguished even so stay whole.
    """
    whole = list(names)
    shown = [_cut(name, limit, 0) for name in whole]
    for tail in range(limit // 3, limit - 3, 2):
        times = Counter(shown)
        if max(times.values(), default=1) == 1:
            return shown
        shown = [
            text if times[text] == 1 else _cut(name, limit, tail)
            for name, text in zip(whole, shown, strict=True)
        ]
    return [
        text if shown.count(text) == 1 else name for name, text in zip(whole, shown, strict=True)
    ]


def _cut(name: str, limit: int, tail: int) -> str:
    if len(name) <= limit:
        return name
    head = name[: limit - 1 - tail].rstrip(" ,(")
    return f"{head}…{name[len(name) - tail :]}" if tail else f"{head}…"


_LINE_PIXELS = 19
MAX_WORD = 24
"""Length of a word that is kept whole even on a shorter line."""


def wrap_text(text: str, width: int, max_lines: int) -> str:
    """Escaped and wrapped to a maximum number of lines; overflow ends in an ellipsis."""
    for joint in (" = ", " %"):  # no line ends within a setting or before a unit
        text = text.replace(joint, joint.replace(" ", "\u00a0"))
    whole = [len(word) for word in text.split(" ") if len(word) <= MAX_WORD]
    width = max([width, *whole])  # a setting is not broken for a letter or two
    lines = textwrap.wrap(text, width, max_lines=max_lines, placeholder=" …")
    return "<br>".join(map(escape_text, lines))


def format_releases(releases: Iterable[ReleaseInfo], width: int = 20) -> dict[str, str]:
    """Release id → its short name on at most three lines, for an axis."""
    return {r: wrap_text(title, width, 3) for r, title in list_short_titles(releases).items()}


def fit_rows(names: Iterable[str], least: int) -> int:
    """Pixels per row of an axis with these names, so that lines of two do not overlap."""
    return max([least, *(_LINE_PIXELS * (name.count("<br>") + 1) + 6 for name in names)])


def add_line(
    figure: go.Figure,
    x: Any,
    y: Any,
    color: str,
    width: float = 2.0,
    dash: str = "solid",
    name: str = "",
    **more: Any,
) -> None:
    """A line, in the legend if it has a name; hover text by `hovertemplate`."""
    hover = {} if "hovertemplate" in more else {"hoverinfo": "skip"}
    shown = {"mode": "lines", "showlegend": bool(name), **hover, **more}
    line = {"color": color, "width": width, "dash": dash, **shown.pop("line", {})}
    figure.add_scatter(x=x, y=y, name=escape_text(name), line=line, **shown)


def add_rule(
    figure: go.Figure,
    theme: Theme,
    dash: str,
    x: float | None = None,
    y: float | None = None,
    **at: Any,
) -> None:
    """A straight line across a panel: dashed for limits and baselines, dotted for chance."""
    ink, is_dashed = INKS[theme], dash == "dash"
    color, width = (ink.text, 1.3) if is_dashed else (ink.muted, 1.0)
    line = {"dash": dash, "width": width, "color": color}
    if x is not None:
        figure.add_vline(x=x, line=line, **at)
    if y is not None:
        figure.add_hline(y=y, line=line, **at)


def title_panel(
    figure: go.Figure, row: int, text: str, theme: Theme, x: float, yanchor: str, **at: Any
) -> None:
    """A title in bold at the top left of one of the panels below each other."""
    figure.add_annotation(
        text=f"<b>{escape_text(text)}</b>",
        x=x,
        xref="paper",
        xanchor="left",
        y=figure.get_subplot(row, 1).yaxis.domain[1],
        yref="paper",
        yanchor=yanchor,
        showarrow=False,
        font={"size": 14, "color": INKS[theme].text},
        **at,
    )


def make_panels(titles: Iterable[str], **layout: Any) -> go.Figure:
    """Panels beside each other on one vertical axis, each below its title."""
    heads = [escape_text(title) for title in titles]
    shared = {"shared_yaxes": True, "horizontal_spacing": 0.04, **layout}
    return make_subplots(1, len(heads), subplot_titles=heads if any(heads) else None, **shared)
