"""Which attack does best, and does it beat guessing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.audit.scenarios import Threat
from core.figures.chart import Chart
from core.figures.theme import INKS, make_empty_figure, style_figure
from core.findings.labels import axis_title, chance_level
from core.findings.numbers import format_interval
from core.findings.palette import Theme, escape_text, release_color
from core.findings.ranking import compute_ranking, interval_lengths
from core.findings.tables import UNITS, describe_sample, list_metrics, list_releases
from core.release import ORIGINAL


def attack_ranking(
    results: pd.DataFrame,
    threat: Threat,
    release: str = ORIGINAL,
    metrics: Sequence[str] | None = None,
    theme: Theme = "light",
) -> Chart:
    """A bar per attack of `threat` on `release`, best on top, one panel a metric.

    Bars start at chance where the metric has a chance level; the whisker is the interval; the
    dashed line is the best baseline attacker, the dotted one chance. Baseline attackers are hollow.
    metrics: by default the headline metric and TPR at 1 % FPR.
    """
    available = list_metrics(results, "attack", threat)
    if metrics is None:
        metrics = [*available[:1], *(m for m in ("tpr_at_fpr_0.01",) if m in available[1:])]
    table = compute_ranking(results, threat, release, metrics)
    if table.empty:
        return Chart(make_empty_figure("No finished attack on this release yet.", theme), table, "")
    figure = make_subplots(1, len(metrics), shared_yaxes=True, horizontal_spacing=0.06)
    color = release_color(list_releases(results))[release]
    ink = INKS[theme]
    for column, metric in enumerate(metrics, start=1):
        rows = table[table.metric == metric]
        _add_bars(figure, rows, metric, color, ink.text, column)
        _add_inverted(figure, rows[rows.is_inverted], color, ink.muted, column)
        baselines = rows[rows.is_baseline]
        if not baselines.empty:
            figure.add_vline(
                x=baselines.strength.max(),
                line={"dash": "dash", "width": 1.5, "color": ink.text},
                row=1,
                col=column,
            )
        if chance_level(metric) is not None:
            figure.add_vline(
                x=chance_level(metric),
                line={"dash": "dot", "width": 1, "color": ink.muted},
                row=1,
                col=column,
            )
        figure.update_xaxes(
            title_text=axis_title(metric).replace("   ", "<br>"), nticks=5, row=1, col=column
        )
    order = [escape_text(t) for t in dict.fromkeys(table.title)]
    style_figure(figure, theme, height=110 + 34 * len(order), bargap=0.35)
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=order[::-1],
        showgrid=False,
        tickfont={"color": ink.text},
    )
    note = (
        f"{describe_sample(table, UNITS[threat])} Dashed: best baseline attacker; dotted: chance."
    )
    if table.is_inverted.any():
        note += " Clearly below one half: ranked by the diamond, its strength inverted."
    return Chart(figure, table, note)


def _add_bars(
    figure: go.Figure, rows: pd.DataFrame, metric: str, color: str, ink: str, column: int
) -> None:
    base = chance_level(metric) or 0.0
    above, below = interval_lengths(rows)
    labels = [format_interval(*row) for row in rows[["value", "low", "high"]].to_numpy()]
    figure.add_bar(
        x=(rows.value - base).to_numpy(),
        y=[escape_text(title) for title in rows.title],
        base=base,
        orientation="h",
        marker={
            "color": ["rgba(0,0,0,0)" if baseline else color for baseline in rows.is_baseline],
            "line": {"color": color, "width": 1.5},
        },
        error_x={
            "type": "data",
            "array": above,
            "arrayminus": below,
            "color": ink,
            "thickness": 1.3,
            "width": 4,
        },
        customdata=np.array([labels, rows.method.tolist()]).T,
        hovertemplate="%{y}<br>%{customdata[0]}<extra></extra>",
        showlegend=False,
        row=1,
        col=column,
    )


def _add_inverted(figure: go.Figure, rows: pd.DataFrame, color: str, ink: str, column: int) -> None:
    """A diamond where an attack that is clearly wrong stands once it is inverted."""
    if rows.empty:
        return
    figure.add_scatter(
        x=rows.strength.to_numpy(),
        y=[escape_text(title) for title in rows.title],
        mode="markers+text",
        text=["inverted"] * len(rows),
        textposition="middle right",
        textfont={"color": ink, "size": 12},
        showlegend=False,
        cliponaxis=False,
        marker={"symbol": "diamond-open", "size": 10, "color": color, "line": {"width": 2}},
        hovertemplate="%{y}<br>inverted %{x:.2f}<extra></extra>",
        row=1,
        col=column,
    )
