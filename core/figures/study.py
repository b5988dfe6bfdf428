"""How attacks do as one circumstance is varied: a line an attack, an audit a point."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.audit.studies import StudyKind
from core.audit.view import AuditView
from core.figures.chart import Chart
from core.figures.ranking import interval_lengths
from core.figures.theme import (
    INKS,
    OKABE_ITO,
    Theme,
    escape_text,
    format_interval,
    format_percent,
    make_empty_figure,
    style_figure,
)
from core.findings.labels import (
    ORIGINAL,
    Threat,
    chance_level,
    is_null,
    method_title,
    metric_title,
)
from core.findings.tables import attack_rows, describe_sample, list_threats, main_metric

COLUMNS = ["share", "threat", "method", "metric", "value", "low", "high", "n", "seeds"]
MAX_LINES = len(OKABE_ITO)
UNITS = {"link": "pair", "attribute": "node"}


def compute_study(points: Sequence[tuple[float, AuditView]]) -> pd.DataFrame:
    """The headline metric of every attack on the original at each point; `COLUMNS`."""
    parts = []
    for share, view in points:
        for threat in list_threats(view.results):
            metric = main_metric(view.results, threat)
            if metric is not None:
                rows = attack_rows(view.results, metric, threat)
                rows = rows[rows.release == ORIGINAL].assign(share=share, metric=metric)
                parts.append(rows[COLUMNS])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def study_lines(
    table: pd.DataFrame, threat: Threat, kind: StudyKind, theme: Theme = "light"
) -> Chart:
    """A line an attack of one threat, the strongest six in colour; null attackers dashed."""
    rows = table[table.threat == threat]
    if rows.empty:
        return Chart(make_empty_figure("No point is finished yet.", theme), rows, "")
    metric, ink = rows.metric.iloc[0], INKS[theme]
    order = rows.groupby("method").value.max().sort_values(ascending=False).index
    real = [method for method in order if not is_null(method)]
    shown = [*real[:MAX_LINES], *(method for method in order if is_null(method))]
    figure = go.Figure()
    for method in shown:
        line = rows[rows.method == method].sort_values("share")
        above, below = interval_lengths(line)
        null = is_null(method)
        color = ink.muted if null else OKABE_ITO[real.index(method)]
        labels = [format_interval(*row) for row in line[["value", "low", "high"]].to_numpy()]
        figure.add_scatter(
            x=line.share.to_numpy(),
            y=line.value.to_numpy(),
            mode="lines+markers",
            name=escape_text(method_title(method)),
            customdata=labels,
            line={
                "color": color,
                "width": 1.4 if null else 2.2,
                "dash": "dash" if null else "solid",
            },
            marker={"color": color, "size": 6},
            error_y={
                "type": "data",
                "array": above,
                "arrayminus": below,
                "thickness": 1,
                "width": 3,
                "color": color,
                "visible": not null,
            },
            hovertemplate="%{x:.0%}: %{customdata}<extra>%{fullData.name}</extra>",
        )
    if chance_level(metric) is not None:
        figure.add_hline(
            y=chance_level(metric), line={"dash": "dot", "width": 1, "color": ink.muted}
        )
    style_figure(figure, theme, 400)
    figure.update_xaxes(title_text=kind.axis, tickformat=".0%", tickvals=list(kind.shares))
    if kind.key == "known":  # from 1 % to 50 %: equal steps are equal factors
        figure.update_xaxes(type="log")
    figure.update_yaxes(title_text=f"{metric_title(metric)}   ↓ safer")
    note = f"{describe_sample(rows, UNITS[threat])} Dashed: null attackers; dotted: chance."
    if len(real) > MAX_LINES:
        note += f" The strongest {MAX_LINES} of {len(real)} attacks; the table has all."
    return Chart(figure, rows.reset_index(drop=True), note)


def describe_study(table: pd.DataFrame, threat: Threat, kind: StudyKind) -> str:
    """One sentence: the best attack's figure at both ends of what was varied."""
    rows = table[(table.threat == threat) & ~table.method.map(is_null).astype(bool)]
    if rows.empty:
        return ""
    ends = []
    for share in (rows.share.min(), rows.share.max()):
        here = rows[rows.share == share]
        best = here.loc[here.value.idxmax()]
        value = format_interval(best.value, best.low, best.high)
        ends.append(f"{value} at {format_percent(share)} ({method_title(best.method)})")
    if rows.share.nunique() == 1:
        return f"The best attack's {metric_title(rows.metric.iloc[0])} is {ends[0]}."
    return (
        f"The best attack's {metric_title(rows.metric.iloc[0])} goes from {ends[0]} to {ends[1]}."
    )
