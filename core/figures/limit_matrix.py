"""Releases against limits in one picture: how far each figure is from its limit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, style_figure, wrap_text
from core.findings.facts import STATE_TITLES, LimitState
from core.findings.labels import metric_title
from core.findings.numbers import format_limited
from core.findings.palette import STATE_COLORS, Theme, escape_text
from core.findings.policy import Limit
from core.findings.verdict import SEVERITY, Check, ReleaseVerdict, Verdict, find_least_severe
from core.findings.verdict_words import DECISION_TITLES, find_subject

MARKS: dict[LimitState, str] = {"met": "✓", "not_proven": "!", "exceeded": "✗", "not_tested": "–"}
FARTHEST = 10.0
"""Multiple of the limit, or its inverse, at which a colour is full."""
LEAST = 0.001
"""Smallest multiple that is written."""
COLUMNS = 10
"""Limits beside each other, so that their figures are legible at 1024 pixels."""
GROUPS = {
    "link": "Withheld links",
    "included": "Released links",
    "attribute": "Private values",
    "identity": "Re-identified",
    "release": "Guarantee",
}
HEADS = {
    "auc": "AUC",
    "class_advantage_share": "Worst class exposed",
    "recovered_at_precision_0.9": "Right in 9 of 10",
    "expected_found": "Share found",
    "group_gap": "Gap of groups",
    "epsilon_edge": "ε of edge\u2011DP",
    "epsilon_link": "ε of link\u2011local",
    "epsilon_node": "ε of node\u2011DP",
}
"""Threat, metric → what stands above its limits; a cell tells the whole title on hover."""
ROW_PX, SECTION_PX, LINE_PX, GAP_PX, FOOT_PX = 34, 24, 15, 8, 16
"""Of a release, of a decision above its releases, of a line above the limits."""
LETTER_SIZE = 12
LONE, BETWEEN = 1.6, 0.15
"""Width of the only limit of its group and between groups, in widths of a limit."""
_NAME, _LINE = 26, 84
"""Letters of a release on one line, and of all limits at 1024 pixels."""


@dataclass(frozen=True)
class _Row:
    """A release, or the title of those below it."""

    text: str
    release: ReleaseVerdict | None = None


def limit_matrix(verdict: Verdict, names: dict[str, str], theme: Theme = "light") -> Chart:
    """Releases (rows) × limits (columns), the state in each cell with its multiple of the limit;
    the colour is the state's, fuller the farther the figure is from the limit. First the release
    that is recommended, or comes nearest, then the others by their decision. More limits than
    `COLUMNS` are drawn in several matrices below each other.

    names  release id → short name. A limit that does not apply to a release has an empty cell; an
    optional one that no release was tested against is named in the note.
    """
    limits = {c.limit.name: c.limit for r in verdict.releases for c in r.checks}
    if not limits:
        return make_empty_chart("The policy sets no limit for this audit.", theme)
    table_rows = [
        (limits[check.limit.name].title, names[release.release], STATE_TITLES[check.state],
         check.evidence.value, check.limit.limit)
        for release in verdict.releases
        for check in release.checks
    ]  # fmt: skip
    table = pd.DataFrame(table_rows, columns=["limit", "release", "state", "value", "most"])
    untested = _list_untested(verdict, limits)
    drawn = [limit for limit in limits.values() if limit.title not in untested]
    drawn.sort(key=lambda limit: list(GROUPS).index(limit.threat))
    rows = _list_rows(verdict, names)
    parts = [drawn[start : start + COLUMNS] for start in range(0, len(drawn), COLUMNS)]
    sizes = [ROW_PX if row.release else SECTION_PX for row in rows]
    short = _shorten(drawn)
    heads = [_write_heads(part, short) for part in parts]
    tops = [_measure_head(*texts) for texts in heads]
    height = sum(sizes) * len(parts) + max(tops) * (len(parts) - 1)
    spacing = max(tops) / height if len(parts) > 1 else 0.0
    figure = make_subplots(rows=len(parts), cols=1, vertical_spacing=spacing)
    style_figure(figure, theme, tops[0] + height + FOOT_PX)
    ink = INKS[theme].text
    font = {"color": ink, "size": LETTER_SIZE}
    ends = np.cumsum([0, *sizes])
    for number, (part, texts) in enumerate(zip(parts, heads, strict=True), 1):
        at = {"row": number, "col": 1}
        figure.add_trace(_draw_cells(rows, ends, part, theme), **at)
        _label_limits(figure, part, *texts, number, font)
        figure.update_yaxes(range=[ends[-1], 0], **at)
    figure.update_layout(margin={"t": tops[0]})
    figure.update_xaxes(side="top", tickangle=0, ticks="", showgrid=False, tickfont=font)
    figure.update_yaxes(
        tickvals=(ends[:-1] + ends[1:]) / 2,
        ticktext=[row.text for row in rows],
        ticks="",
        showgrid=False,
        tickfont=font,
    )
    legend = ", ".join(f"{mark} {STATE_TITLES[state]}" for state, mark in MARKS.items())
    note = f"{escape_text(legend)}; ✗ 2: twice the limit. Fuller colours are farther from it."
    if untested:
        note += f" No release was tested against: {'; '.join(untested)}."
    return Chart(figure, table, note)


def _list_untested(verdict: Verdict, limits: dict[str, Limit]) -> list[str]:
    """Titles of optional limits that no release was tested against, unless these are all."""
    tested = {c.limit.name for r in verdict.releases for c in r.checks if c.state != "not_tested"}
    found = [x.title for name, x in limits.items() if x.optional and name not in tested]
    return found if len(found) < len(limits) else []


def _list_rows(verdict: Verdict, names: dict[str, str]) -> list[_Row]:
    """Releases in the order of the docstring, each decision above those it is of."""
    subject, nearest = find_subject(verdict), find_least_severe(verdict)
    is_choice = sum(release.is_tested for release in verdict.offered) > 1

    def rank(release: ReleaseVerdict) -> tuple[bool, int, bool, float]:
        gravest = max((check.severity for check in release.checks), default=0.0)
        last = release.made.is_data_independent
        return release is not subject, SEVERITY[release.decision], last, gravest

    def head(release: ReleaseVerdict) -> str:
        decision = DECISION_TITLES[release.decision]
        if release is not subject:
            return decision
        if release.release == verdict.recommended:
            return f"Recommended: {decision}"
        is_nearest = is_choice and nearest == [release.release]
        return f"Nearest: {decision}" if is_nearest else decision

    rows = []
    for title, found in groupby(sorted(verdict.releases, key=rank), head):
        rows.append(_Row(f"<b>{title}</b>"))
        rows += [_Row(wrap_text(names[one.release], _NAME, 2), one) for one in found]
    return rows


def _shorten(limits: Sequence[Limit]) -> dict[str, str]:
    """Name of each limit → its short title, or the whole one where two would have the same."""
    short = {x.name: (x.threat, HEADS.get(x.metric, metric_title(x.metric))) for x in limits}
    times = Counter(short.values())
    return {x.name: x.title if times[short[x.name]] > 1 else short[x.name][1] for x in limits}


def _write_heads(limits: Sequence[Limit], short: dict[str, str]) -> tuple[list[str], list[str]]:
    """What stands above each limit, and above the first of each group."""
    groups, widths = [limit.threat for limit in limits], _measure_widths(limits)
    unit = _LINE / sum(widths)
    heads = [
        wrap_text(short[x.name], max(7, int(unit * width)), 4)
        for x, width in zip(limits, widths, strict=True)
    ]
    titles = []
    for index, group in enumerate(groups):
        is_first = index == 0 or groups[index - 1] != group
        room = int(unit * sum(w for w, g in zip(widths, groups, strict=True) if g == group))
        titles.append(f"<b>{wrap_text(GROUPS[group], max(7, room), 2)}</b>" if is_first else "")
    return heads, titles


def _measure_widths(limits: Sequence[Limit]) -> list[float]:
    groups = [limit.threat for limit in limits]
    return [LONE if groups.count(group) == 1 else 1.0 for group in groups]


def _find_edges(limits: Sequence[Limit]) -> tuple[np.ndarray, list[int]]:
    """Edges of the columns, those between groups included, and where each limit's column is."""
    edges, columns = [0.0], []
    for index, (limit, width) in enumerate(zip(limits, _measure_widths(limits), strict=True)):
        if index and limits[index - 1].threat != limit.threat:
            edges.append(edges[-1] + BETWEEN)
        columns.append(len(edges) - 1)
        edges.append(edges[-1] + width)
    return np.array(edges), columns


def _measure_head(heads: Sequence[str], groups: Sequence[str]) -> int:
    """Pixels of the names above a matrix."""
    return sum(_measure_lines(texts) for texts in (heads, groups)) + 2 * GAP_PX


def _measure_lines(texts: Sequence[str]) -> int:
    return LINE_PX * max(text.count("<br>") + 1 for text in texts)


def _label_limits(
    figure: go.Figure,
    limits: Sequence[Limit],
    heads: Sequence[str],
    groups: Sequence[str],
    number: int,
    font: dict[str, object],
) -> None:
    """Names of the limits above their columns, those of the groups above these."""
    edges, columns = _find_edges(limits)
    middles = [(edges[i] + edges[i + 1]) / 2 for i in columns]
    axis = {"tickvals": middles, "ticktext": heads, "range": [0, edges[-1]]}
    figure.update_xaxes(row=number, col=1, **axis)
    plot = figure.get_subplot(number, 1)
    for column, title, limit in zip(columns, groups, limits, strict=True):
        if title:
            last = max(c for c, x in zip(columns, limits, strict=True) if x.threat == limit.threat)
            figure.add_annotation(
                text=title,
                x=(edges[column] + edges[last + 1]) / 2,
                xref=plot.xaxis.plotly_name.replace("axis", ""),
                y=plot.yaxis.domain[1],
                yref="paper",
                yanchor="bottom",
                yshift=_measure_lines(heads) + GAP_PX,
                showarrow=False,
                font=font,
            )


def _draw_cells(
    rows: Sequence[_Row], ends: np.ndarray, limits: Sequence[Limit], theme: Theme
) -> go.Heatmap:
    edges, columns = _find_edges(limits)
    values = np.full((len(rows), len(edges) - 1), np.nan)
    texts, hover = np.full(values.shape, "", object), np.full(values.shape, "", object)
    for row, one in enumerate(rows):
        own = {} if one.release is None else {c.limit.name: c for c in one.release.checks}
        for column, limit in zip(columns, limits, strict=True):
            check = own.get(limit.name)
            if check is not None:
                values[row, column], texts[row, column] = _place(check), _write(check)
                hover[row, column] = f"{one.text}<br>{escape_text(limit.title)}"
    return go.Heatmap(
        z=values,
        x=edges,
        y=ends,
        zmin=0,
        zmax=1,
        colorscale=_make_scale(theme),
        showscale=False,
        xgap=3,
        ygap=3,
        text=texts,
        texttemplate="%{text}",
        textfont={"size": LETTER_SIZE, "color": INKS[theme].text},
        hovertext=hover,
        hovertemplate="%{hovertext}<br>%{text}<extra></extra>",
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
    """ "✗ 1.4", "✓ &lt;0.001", "–"."""
    mark = MARKS[check.state]
    if check.evidence.value is None:
        return mark
    if 0 < check.severity < LEAST:
        return f"{mark} &lt;{LEAST}"
    multiple, _ = format_limited(check.severity, 1.0)
    return f"{mark} {multiple}"
