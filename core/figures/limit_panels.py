"""Releases side by side: one panel per limit, one row per release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.audit.asked.release_info import ReleaseInfo
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import (
    INKS,
    add_line,
    add_rule,
    fit_rows,
    format_releases,
    style_figure,
    wrap_text,
)
from core.findings.facts import STATE_TITLES
from core.findings.numbers import format_limited
from core.findings.palette import WITHIN_FILL, Theme, escape_text, release_color
from core.words import count_noun

PANELS = 3
"""Panels per row."""

SYMBOLS = {"met": "circle", "not proven": "circle-open", "exceeded": "x"}
_ROW_PIXELS, _HEAD_PIXELS = 36, 96
_TOP_PIXELS, _BOTTOM_PIXELS = 72, 34
_WRAP, _TITLE_LINES = 25, 3


def compare_releases(
    table: pd.DataFrame, releases: Sequence[ReleaseInfo], theme: Theme = "light", earlier: str = ""
) -> Chart:
    """`compute_comparison` as small multiples; `releases`: all of the audit, for their colours.

    Filled: met; open: not proven; cross: exceeded. The dashed line is the limit, the panel beyond
    it is shaded. Small diamonds: values of the earlier audit.
    """
    if table.empty:
        return make_empty_chart("No limit was measured yet.", theme, table)
    names = list(dict.fromkeys(table.name))
    shown = [made.id for made in releases if made.id in set(table.release)]
    colors, place = release_color(releases), {r: i for i, r in enumerate(shown)}
    columns = min(PANELS, len(names))
    rows = math.ceil(len(names) / columns)
    titles = format_releases(releases)
    row_pixels = fit_rows([titles[release] for release in shown], _ROW_PIXELS)
    plots = rows * row_pixels * len(shown) + (rows - 1) * _HEAD_PIXELS
    height = plots + _TOP_PIXELS + _BOTTOM_PIXELS
    figure = make_subplots(
        rows=rows,
        cols=columns,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=_HEAD_PIXELS / plots if rows > 1 else 0,
        subplot_titles=[
            wrap_text(table[table.name == name].title.iloc[0], _WRAP, _TITLE_LINES)
            for name in names
        ],
    )
    for index, name in enumerate(names):
        at = {"row": index // columns + 1, "col": index % columns + 1}
        _add_panel(figure, table[table.name == name], place, colors, theme, at)
    style_figure(
        figure,
        theme,
        height,
        _describe_exceeded(table, shown),
        showlegend=False,
        hovermode="closest",
        margin={"t": _TOP_PIXELS, "b": _BOTTOM_PIXELS},
    )
    figure.update_annotations(font={"size": 12})
    figure.update_yaxes(
        range=[len(shown) - 0.5, -0.5],
        tickvals=list(range(len(shown))),
        ticktext=[titles[release] for release in shown],
        showgrid=False,
        ticklabelstandoff=8,  # a point at 0 reaches out to the left
    )
    note = (
        "Points: highest value over all attacks. Lines: 95 % intervals, up to the highest end of "
        "any attack. "
        "Filled: met; open: not proven; cross: exceeded. Green: within the limit. ← safer."
    )
    if table.before.notna().any():
        note += f" Small diamond: {earlier or 'the earlier audit'}."
    return Chart(figure, table.drop(columns=["made", "by"]), note)


def _describe_exceeded(table: pd.DataFrame, releases: list[str]) -> str:
    """ "2 of 3 releases exceed at least one limit"."""
    count = table[table.state == STATE_TITLES["exceeded"]].release.nunique()
    verb = "exceeds" if count == 1 else "exceed"
    who = f"{count} of {count_noun(len(releases), 'release')}"
    if 1 < count == len(releases):
        who = f"All {count} releases"
    return f"{who} {verb} at least one limit"


def _add_panel(
    figure: go.Figure,
    part: pd.DataFrame,
    place: dict[str, int],
    colors: dict[str, str],
    theme: Theme,
    at: dict[str, Any],
) -> None:
    limit = float(part.limit.iloc[0])
    top = 1.12 * max(float(np.nanmax(part[["value", "high", "before"]].to_numpy())), limit, 1e-9)
    low = min(float(np.nanmin(part[["value", "low"]].to_numpy())), 0.0)
    ink = INKS[theme]
    old = part[part.before.notna()]
    figure.add_scatter(
        x=old.before,
        y=old.release.map(place).to_numpy(float) + 0.28,
        mode="markers",
        marker={"symbol": "diamond", "size": 6, "color": ink.muted},
        hovertemplate="earlier: %{x:.3g}<extra></extra>",
        **at,
    )
    tints = [colors[release] for release in part.release]
    for row, color in zip(part.itertuples(), tints, strict=True):
        add_line(figure, [row.low, row.high], [place[row.release]] * 2, color, **at)
    figure.add_scatter(
        x=part.value,
        y=part.release.map(place).to_numpy(float),
        mode="markers",
        marker={
            "symbol": [SYMBOLS[state] for state in part.state],
            "size": 11,
            "color": tints,
            "line": {"width": 2, "color": tints},
        },
        text=[_describe(row) for row in part.itertuples()],
        hovertemplate="%{text}<extra></extra>",
        cliponaxis=False,
        **at,
    )
    # A panel must have its points before it takes shapes.
    figure.add_vrect(x0=low, x1=limit, fillcolor=WITHIN_FILL, line_width=0, layer="below", **at)
    add_rule(figure, theme, "dash", x=limit, **at)
    figure.update_xaxes(range=[low, top], nticks=4, tickangle=0, **at)


def _describe(row: Any) -> str:
    value, most = format_limited(row.value, row.limit, row.low, row.high)
    by = "" if row.by is None else f", by {row.by.title}"
    return escape_text(f"{row.made.title}: {value}, {row.state}, at most {most}{by}")
