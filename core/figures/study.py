"""How attacks do as one circumstance is varied: a line an attack, an audit a point."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from core.audit.scenarios import Threat
from core.audit.studies import StudyKind
from core.figures.chart import Chart
from core.figures.theme import INKS, make_empty_figure, style_figure
from core.findings.labels import chance_level, is_baseline, method_title, metric_title
from core.findings.numbers import format_interval
from core.findings.palette import OKABE_ITO, Theme, escape_text
from core.findings.ranking import interval_lengths
from core.findings.tables import UNITS, describe_sample

MAX_LINES = len(OKABE_ITO)


def study_lines(
    table: pd.DataFrame,
    threat: Threat,
    kind: StudyKind,
    theme: Theme = "light",
    names: Mapping[float, str] | None = None,
) -> Chart:
    """A line an attack of one threat, the strongest six in colour; baseline attackers dashed.

    names  of the points, where these are no shares
    """
    rows = table[table.threat == threat]
    if rows.empty:
        return Chart(make_empty_figure("No point is finished yet.", theme), rows, "")
    metric, ink = rows.metric.iloc[0], INKS[theme]
    order = rows.groupby("method").value.max().sort_values(ascending=False).index
    real = [method for method in order if not is_baseline(method)]
    shown = [*real[:MAX_LINES], *(method for method in order if is_baseline(method))]
    figure = go.Figure()
    for method in shown:
        line = rows[rows.method == method].sort_values("share")
        above, below = interval_lengths(line)
        baseline = is_baseline(method)
        color = ink.muted if baseline else OKABE_ITO[real.index(method)]
        labels = [format_interval(*row) for row in line[["value", "low", "high"]].to_numpy()]
        figure.add_scatter(
            x=line.share.to_numpy(),
            y=line.value.to_numpy(),
            mode="lines+markers",
            name=escape_text(method_title(method)),
            customdata=labels,
            line={
                "color": color,
                "width": 1.4 if baseline else 2.2,
                "dash": "dash" if baseline else "solid",
            },
            marker={"color": color, "size": 6},
            error_y={
                "type": "data",
                "array": above,
                "arrayminus": below,
                "thickness": 1,
                "width": 3,
                "color": color,
                "visible": not baseline,
            },
            hovertemplate="%{x:.0%}: %{customdata}<extra>%{fullData.name}</extra>",
        )
    if chance_level(metric) is not None:
        figure.add_hline(
            y=chance_level(metric), line={"dash": "dot", "width": 1, "color": ink.muted}
        )
    style_figure(figure, theme, 400)
    figure.update_xaxes(title_text=kind.axis, tickformat=".0%", tickvals=list(kind.shares))
    if names:
        titles = [escape_text(name) for name in names.values()]
        figure.update_xaxes(tickformat=None, tickvals=list(names), ticktext=titles)
        figure.update_traces(mode="markers", hovertemplate="%{customdata}<extra>%{fullData.name}")
    if kind.key == "known":  # from 1 % to 50 %: equal steps are equal factors
        figure.update_xaxes(type="log")
    figure.update_yaxes(title_text=f"{metric_title(metric)}   ↓ safer")
    note = f"{describe_sample(rows, UNITS[threat])} Dashed: baseline attackers; dotted: chance."
    if len(real) > MAX_LINES:
        note += f" The strongest {MAX_LINES} of {len(real)} attacks; the table has all."
    return Chart(figure, rows.reset_index(drop=True), note)
