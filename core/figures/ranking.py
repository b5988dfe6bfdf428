"""Ranking of attacks, with baseline attackers and chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.audit.scenarios import Threat
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, add_rule, error_bars, make_panels, style_figure
from core.findings.beat_baseline import compare_with_baseline
from core.findings.inverted_scores import describe_strength
from core.findings.labels import THREAT_WORDS, axis_title, chance_level, method_title, release_title
from core.findings.numbers import format_interval, format_number
from core.findings.palette import Theme, escape_text, release_color
from core.findings.ranking import compute_ranking
from core.findings.tables import describe_sample, list_metrics, list_releases
from core.release import ORIGINAL
from core.words import format_percent

FEW_ALARMS = "tpr_at_fpr_0.01"
PERCENTAGES = ("tpr_at_fpr", "expected_found", "hits_at", "recovered_at", "released_tpr_at_fpr")
"""Prefixes of metrics that are shares of the secrets."""


def attack_ranking(
    results: pd.DataFrame,
    threat: Threat,
    release: str = ORIGINAL,
    metrics: Sequence[str] | None = None,
    theme: Theme = "light",
) -> Chart:
    """One bar per attack of `threat` on `release`, best on top, one panel per metric.

    Bars start at chance if the metric has a chance level; whiskers are intervals; the dashed line
    is the best baseline attacker, the dotted one chance. Baseline attackers are hollow. Shares are
    per cent. metrics: by default TPR at 1 % FPR, else the headline metric.
    """
    if metrics is None:
        available = list_metrics(results, "attack", threat)
        metrics = [FEW_ALARMS] if FEW_ALARMS in available else available[:1]
    table = compute_ranking(results, threat, release, metrics)
    if table.empty:
        return make_empty_chart("No finished attack on this release yet.", theme, table)
    figure = make_panels([""] * len(metrics), horizontal_spacing=0.06)
    color = release_color(list_releases(results))[release]
    ink = INKS[theme]
    for column, metric in enumerate(metrics, start=1):
        scale = find_scale(metric)
        rows = table[table.metric == metric]
        rows = rows.assign(**{c: rows[c] * scale for c in ("value", "low", "high", "strength")})
        _add_bars(figure, rows, metric, color, ink.text, column)
        _add_inverted(figure, rows[rows.is_inverted], color, ink.muted, column)
        baselines = rows[rows.is_baseline]
        if not baselines.empty:
            add_rule(figure, theme, "dash", x=baselines.strength.max(), row=1, col=column)
        if chance_level(metric) is not None:
            chance = scale * (chance_level(metric) or 0.0)
            add_rule(figure, theme, "dot", x=chance, row=1, col=column)
        figure.update_xaxes(
            title_text=axis_title(metric).replace("   ", "<br>"),
            nticks=5,
            rangemode="tozero" if chance_level(metric) is None else "normal",
            ticksuffix=" %" if scale == 100 else "",
            row=1,
            col=column,
        )
    order = [escape_text(t) for t in dict.fromkeys(table.title)]
    title = _describe_best(results, threat, release, metrics[0])
    style_figure(figure, theme, 110 + 34 * len(order), title, bargap=0.35)
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=order[::-1],
        showgrid=False,
        tickfont={"color": ink.text},
    )
    sample = describe_sample(table, THREAT_WORDS[threat].unit)
    note = f"{sample} Dashed: best baseline attacker; dotted: chance."
    if table.is_inverted.any():
        note += " Clearly below one half: ranked by the diamond, its strength inverted."
    return Chart(figure, table, note)


def find_scale(metric: str) -> int:
    """100 for a metric shown as a percentage, else 1."""
    return 100 if metric.startswith(PERCENTAGES) else 1


def _describe_best(results: pd.DataFrame, threat: Threat, release: str, metric: str) -> str:
    """The strongest attack beside the best baseline attacker; a lead only if beyond noise."""
    compared = compare_with_baseline(results, threat, release, [metric])
    if not compared:
        return ""
    found, how = compared[0], format_percent if find_scale(metric) == 100 else format_number
    where = "" if release == ORIGINAL else f" on {release_title(release)}"
    reached = describe_strength(metric, how(found.best.value))
    text = f"{method_title(found.best.method)} {reached}{where}"
    if found.baseline is None:
        return text
    noise = "" if found.beats or found.gap <= 0 else ", within noise"
    return f"{text}, the best baseline attacker {how(found.baseline.value)}{noise}"


def _add_bars(
    figure: go.Figure, rows: pd.DataFrame, metric: str, color: str, ink: str, column: int
) -> None:
    base = find_scale(metric) * (chance_level(metric) or 0.0)
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
        error_x=error_bars(rows.value, rows.low, rows.high, 4, color=ink),
        customdata=np.array([labels, rows.method.tolist()]).T,
        hovertemplate="%{y}<br>%{customdata[0]}<extra></extra>",
        showlegend=False,
        row=1,
        col=column,
    )


def _add_inverted(figure: go.Figure, rows: pd.DataFrame, color: str, ink: str, column: int) -> None:
    """A diamond at the inverted value of an attack clearly below chance."""
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
