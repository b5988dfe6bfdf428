"""Matrix of every attack on every release."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.audit.asked.release_info import ReleaseInfo, list_names, list_short_titles
from core.audit.asked.scenarios import Threat
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, format_releases, style_figure
from core.findings.inverted_scores import MARK
from core.findings.labels import THREAT_WORDS, chance_level, is_lower_safer, metric_title
from core.findings.numbers import format_number, format_row
from core.findings.palette import Theme, escape_text, ink_on, risk_color, risk_colorscale
from core.findings.tables import attack_rows, describe_sample, list_made, select_results
from core.findings.tradeoff import compute_transfer

MAX_UPRIGHT = 3
"""Number of releases up to which names are wrapped; more are slanted."""

MAX_WRITTEN = 14
"""Number of releases up to which cells have room for their values; more show them on hover."""

SLANT, LETTER_PIXELS = 35, 6.6
"""Degrees of slanted names, and the mean width of their letters."""

_WIDTH = 17
"""Characters per line of a release's name."""

MAX_TITLED = 4
"""Releases above which the title would be a table."""


def transfer_matrix(
    results: pd.DataFrame, metric: str, threat: Threat, theme: Theme = "light"
) -> Chart:
    """Attacks (rows) × releases (columns), original first; values in the cells.

    Table: attack, title, then one column per release (NaN: no value).
    """
    table = compute_transfer(results, metric, threat)
    if table.empty:
        return make_empty_chart("No finished attack yet.", theme, table)
    releases = [c for c in table.columns if c not in ("attack", "title")]
    values = table[releases].to_numpy(float)
    strengths = compute_transfer(results, metric, threat, "strength")[releases].to_numpy(float)
    ink = INKS[theme]
    low = chance_level(metric) or 0.0
    if not metric.startswith(("auc", "accuracy")):
        low, top = 0.0, max(float(np.nanmax(values)), 1e-9)
    else:
        top = 1.0
    marks = np.where(strengths > values, MARK, "")
    shares = np.nan_to_num((strengths - low) / (top - low))
    colors = [[risk_color(share) for share in row] for row in shares]
    text = [
        [
            "" if v != v else f'<span style="color:{ink_on(color)}">{v:.2f}{mark}</span>'
            for v, mark, color in zip(*row, strict=True)
        ]
        for row in zip(values, marks, colors, strict=True)
    ]
    is_long = len(releases) > MAX_UPRIGHT
    by_id = list_made(results)
    made = [by_id[release] for release in releases]
    names = format_releases(made, _WIDTH)
    if is_long:
        names = {r: escape_text(title) for r, title in list_short_titles(made).items()}
    hover = _transfer_hover(results, metric, table, releases)
    figure = go.Figure(
        go.Heatmap(
            z=strengths,
            x=[names[release] for release in releases],
            y=[escape_text(t) for t in table.title],
            zmin=low,
            zmax=top,
            colorscale=risk_colorscale(),
            xgap=2,
            ygap=2,
            text=text,
            texttemplate="%{text}" if len(releases) <= MAX_WRITTEN else None,
            customdata=hover,
            hovertemplate="%{y} on %{x}<br>%{customdata}<extra></extra>",
            colorbar={"title": {"text": metric_title(metric)}, "thickness": 12, "outlinewidth": 0},
        )
    )
    rise = max(map(len, names.values())) * LETTER_PIXELS * math.sin(math.radians(SLANT))
    room = round(rise) if is_long else 0  # below the title, which makes none for them
    title = _describe_strongest(strengths, made, metric)
    style_figure(figure, theme, 150 + 34 * len(table) + room // 2, title)
    figure.update_layout(margin={"t": figure.layout.margin.t + room})
    figure.update_traces(textfont={"size": 13})
    figure.update_layout(plot_bgcolor=INKS["light"].empty)
    figure.update_xaxes(
        side="top", showgrid=False, tickangle=-SLANT if is_long else 0, tickfont={"color": ink.text}
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, tickfont={"color": ink.text})
    rows, unit = attack_rows(results, metric, threat), THREAT_WORDS[threat].unit
    note = describe_sample(rows, unit, intervals="")
    if (strengths > values).any():
        note += f" {MARK} clearly below one half: coloured by its strength inverted."
    return Chart(figure, table, note)


def _describe_strongest(strengths: np.ndarray, releases: list[ReleaseInfo], metric: str) -> str:
    """ "Strongest attack: 0.15 on Original, 0.13 on Random deletion"; "" with many releases."""
    if len(releases) > MAX_TITLED or not is_lower_safer(metric):
        return ""
    names = list_names(releases)
    parts = [
        f"{format_number(float(np.nanmax(column)))} on {names[release.id]}"
        for release, column in zip(releases, strengths.T, strict=True)
        if not np.isnan(column).all()
    ]
    return f"Strongest attack: {', '.join(parts)}"


def _transfer_hover(
    results: pd.DataFrame, metric: str, table: pd.DataFrame, releases: list[str]
) -> list[list[str]]:
    rows = select_results(results, metric).set_index(["method", "release"])
    rows = rows[~rows.index.duplicated()]
    texts = {key: format_row(r) for key, r in zip(rows.index, rows.itertuples(), strict=True)}
    return [
        [texts.get((attack, release), "no value") for release in releases]
        for attack in table.attack
    ]
