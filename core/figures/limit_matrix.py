"""Releases against limits in one picture: how far each figure is from its limit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, style_figure, wrap_text
from core.findings.facts import STATE_TITLES, LimitState
from core.findings.numbers import format_limited
from core.findings.palette import STATE_COLORS, Theme, escape_text
from core.findings.verdict import Check, ReleaseVerdict, Verdict
from core.findings.verdict_words import DECISION_TITLES

MARKS: dict[LimitState, str] = {"met": "✓", "not_proven": "!", "exceeded": "✗", "not_tested": "–"}
FARTHEST = 10.0
"""Multiple of the limit, or its inverse, at which a colour is full."""
LEAST = 0.001
"""Smallest multiple that is written."""
COLUMNS = 4
"""Releases beside each other, so that their names are legible at 1024 pixels."""
HEAD_SIZE = 12
"""Pixels of the letters of their names."""
ROW_PX, LINE_PX, GAP_PX, FOOT_PX = 34, 18, 12, 16
_WRAP, _LINE, _NAME = 22, 60, 48
"""Letters of a release on one line, of all of them at 1024 pixels, and of a limit."""


def limit_matrix(verdict: Verdict, names: dict[str, str], theme: Theme = "light") -> Chart:
    """Limits (rows) × releases (columns), the state in each cell with its multiple of the limit;
    the colour is the state's, fuller the farther the figure is from the limit. More releases than
    `COLUMNS` are drawn in several matrices below each other.

    names  release id → short name. A limit that does not apply to a release has an empty
    cell, one that applies to none of a matrix no row.
    """
    limits = {c.limit.name: c.limit.title for r in verdict.releases for c in r.checks}
    if not limits:
        return make_empty_chart("The policy sets no limit for this audit.", theme)
    number = math.ceil(len(verdict.releases) / COLUMNS)
    columns = math.ceil(len(verdict.releases) / number)
    letters = min(_WRAP, _LINE // columns)
    heads = [
        f"<b>{wrap_text(DECISION_TITLES[release.decision], letters, 2)}</b><br>"
        f"{wrap_text(names[release.release], letters, 4)}"
        for release in verdict.releases
    ]
    parts = [slice(row * columns, (row + 1) * columns) for row in range(number)]
    own = [_select_limits(verdict.releases[part], limits) for part in parts]
    tops = [_measure_head(heads[part]) for part in parts]
    rows, head = [len(each) for each in own], max(tops)
    height = ROW_PX * sum(rows) + head * (number - 1)
    spacing = head / height if number > 1 else 0.0
    figure = make_subplots(rows=number, cols=1, vertical_spacing=spacing, row_heights=rows)
    for row, (part, titles) in enumerate(zip(parts, own, strict=True), 1):
        cells = _draw_cells(verdict.releases[part], titles, theme)
        figure.add_trace(cells, row, 1)
        figure.update_xaxes(
            tickvals=cells.x, ticktext=heads[part], range=[-0.5, columns - 0.5], row=row, col=1
        )
    style_figure(figure, theme, tops[0] + height + FOOT_PX)
    ink = INKS[theme].text
    figure.update_layout(margin={"t": tops[0]})
    figure.update_xaxes(
        side="top", tickangle=0, ticks="", showgrid=False,
        tickfont={"color": ink, "size": HEAD_SIZE},
    )  # fmt: skip
    figure.update_yaxes(autorange="reversed", ticks="", showgrid=False, tickfont={"color": ink})
    table_rows = [
        (limits[check.limit.name], names[release.release], STATE_TITLES[check.state],
         check.evidence.value, check.limit.limit)
        for release in verdict.releases
        for check in release.checks
    ]  # fmt: skip
    table = pd.DataFrame(table_rows, columns=["limit", "release", "state", "value", "most"])
    legend = ", ".join(f"{mark} {STATE_TITLES[state]}" for state, mark in MARKS.items())
    note = f"{escape_text(legend)}; × 2: twice the limit. Fuller colours are farther from it."
    return Chart(figure, table, note)


def _select_limits(releases: Sequence[ReleaseVerdict], limits: dict[str, str]) -> dict[str, str]:
    """Those that apply to one of these releases."""
    found = {check.limit.name for release in releases for check in release.checks}
    return {name: title for name, title in limits.items() if name in found}


def _measure_head(heads: Sequence[str]) -> int:
    """Pixels of the names above a matrix."""
    return LINE_PX * (1 + max(text.count("<br>") for text in heads)) + GAP_PX


def _draw_cells(
    releases: Sequence[ReleaseVerdict], limits: dict[str, str], theme: Theme
) -> go.Heatmap:
    checks = [{c.limit.name: c for c in release.checks} for release in releases]
    cells = [[own.get(name) for own in checks] for name in limits]
    return go.Heatmap(
        z=[[np.nan if check is None else _place(check) for check in row] for row in cells],
        x=np.arange(len(releases)),
        y=[wrap_text(title, _NAME, 2) for title in limits.values()],
        zmin=0,
        zmax=1,
        colorscale=_make_scale(theme),
        showscale=False,
        xgap=3,
        ygap=3,
        text=[["" if check is None else _write(check) for check in row] for row in cells],
        texttemplate="%{text}",
        textfont={"size": 14, "color": INKS[theme].text},
        hovertemplate="%{y}<br>%{text}<extra></extra>",
    )


def _place(check: Check) -> float:
    """Place on the scale of colours: a third of it a state, the ends full."""
    if check.state == "not_tested":
        return float("nan")
    if check.state == "not_proven":
        return 0.5
    steps = abs(math.log(max(check.severity, 1 / FARTHEST))) / math.log(FARTHEST)
    far = min(steps, 1.0) / 3.01
    return 1 / 3.01 - far if check.state == "met" else 2.01 / 3.01 + far


def _make_scale(theme: Theme) -> list[list[float | str]]:
    met, open_, exceeded = (
        STATE_COLORS[theme][state] for state in ("met", "not_proven", "exceeded")
    )
    return [
        [0.0, met[1]],
        [1 / 3, met[0]],
        [1 / 3, open_[0]],
        [2 / 3, open_[0]],
        [2 / 3, exceeded[0]],
        [1.0, exceeded[1]],
    ]


def _write(check: Check) -> str:
    """ "✗ × 1.4", "✓ × <0.001", "–"."""
    mark = MARKS[check.state]
    if check.evidence.value is None:
        return mark
    if 0 < check.severity < LEAST:
        return f"{mark} × &lt;{LEAST}"
    multiple, _ = format_limited(check.severity, 1.0)
    return f"{mark} × {multiple}"
