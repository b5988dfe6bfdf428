"""Attacks as one condition varies: one line per attack, one audit per point."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from core.audit.asked.attack import Attack
from core.audit.asked.scenarios import Threat
from core.audit.studies import StudyKind
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, add_line, add_rule, error_bars, style_figure
from core.findings.labels import THREAT_WORDS, chance_level, metric_title
from core.findings.numbers import format_interval, format_number
from core.findings.palette import OKABE_ITO, Theme, escape_text
from core.findings.tables import describe_sample

MAX_LINES = len(OKABE_ITO)


def study_lines(
    table: pd.DataFrame,
    threat: Threat,
    kind: StudyKind,
    theme: Theme = "light",
    names: Mapping[float, str] | None = None,
) -> Chart:
    """One line per attack of a threat, the strongest six in colour; baseline attackers dashed.

    names  of the points, if these are not shares
    """
    rows = table[table.threat == threat]
    if rows.empty:
        return make_empty_chart("No point is finished yet.", theme, rows)
    metric, ink = rows.metric.iloc[0], INKS[theme]
    by_id = {attack.id: attack for attack in rows.attack}
    ranked = rows.groupby("method").value.max().sort_values(ascending=False).index
    order = [by_id[method] for method in ranked]
    real = [attack for attack in order if not attack.is_baseline]
    shown = [*real[:MAX_LINES], *(attack for attack in order if attack.is_baseline)]
    figure = go.Figure()
    for attack in shown:
        line = rows[rows.method == attack.id].sort_values("share")
        baseline = attack.is_baseline
        color = ink.muted if baseline else OKABE_ITO[real.index(attack)]
        labels = [format_interval(*row) for row in line[["value", "low", "high"]].to_numpy()]
        add_line(
            figure,
            (1 if names else 100) * line.share,
            line.value,
            color,
            1.4 if baseline else 2.2,
            "dash" if baseline else "solid",
            attack.title,
            mode="lines+markers",
            customdata=labels,
            marker={"color": color, "size": 6},
            error_y=error_bars(
                line.value, line.low, line.high, color=color, thickness=1, visible=not baseline
            ),
            hovertemplate="%{x:.3~g} %: %{customdata}<extra>%{fullData.name}</extra>",
        )
    if chance_level(metric) is not None:
        add_rule(figure, theme, "dot", y=chance_level(metric))
    style_figure(figure, theme, 400, _describe_ends(rows, real, metric))
    shares = [100 * share for share in kind.shares]
    figure.update_xaxes(ticksuffix=" %", title_text=kind.axis, tickvals=shares)
    if names:
        titles = [escape_text(name) for name in names.values()]
        figure.update_xaxes(ticksuffix="", tickvals=list(names), ticktext=titles)
        figure.update_traces(mode="markers", hovertemplate="%{customdata}<extra>%{fullData.name}")
    if kind.key == "known":  # from 1 % to 50 %: equal steps are equal factors
        figure.update_xaxes(type="log")
    figure.update_yaxes(title_text=f"{metric_title(metric)}   ↓ safer")
    sample = describe_sample(rows, THREAT_WORDS[threat].unit)
    note = f"{sample} Dashed: baseline attackers; dotted: chance."
    if len(real) > MAX_LINES:
        note += f" The strongest {MAX_LINES} of {len(real)} attacks; the table has all."
    return Chart(figure, rows.reset_index(drop=True).drop(columns="attack"), note)


def _describe_ends(rows: pd.DataFrame, real: list[Attack], metric: str) -> str:
    """Values of the strongest attack at the first and the last point."""
    if not real:
        return ""
    line = rows[rows.method == real[0].id].sort_values("share")
    first, last = line.value.iloc[0], line.value.iloc[-1]
    return (
        f"{real[0].title}: {metric_title(metric)} from {format_number(first)} to "
        f"{format_number(last)}"
    )
