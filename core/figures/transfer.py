"""Matrix of every attack on every release."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from plotly.subplots import make_subplots

from core.audit.asked.release_info import ReleaseInfo, list_names, list_short_titles
from core.audit.asked.scenarios import Threat
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, TOP_PIXELS, style_figure, wrap_text
from core.findings.inverted_scores import MARK
from core.findings.labels import THREAT_WORDS, chance_level, is_lower_safer, metric_title
from core.findings.numbers import format_number, format_row
from core.findings.palette import Theme, escape_text, ink_on, risk_color, risk_colorscale
from core.findings.tables import attack_rows, describe_sample, list_made, select_results
from core.findings.tradeoff import compute_transfer

COLUMNS = 5
"""Releases beside each other, so that their names are legible at 1024 pixels."""

ROW_PX, LINE_PX, GAP_PX = 30, 18, 14

_WIDTH = 15
"""Characters per line of a release's name."""

MAX_TITLED = 4
"""Releases above which the title would be a table."""
SCALED_ROWS = 4
"""Rows from which a colour scale has the height for its marks; each cell states its value."""


def transfer_matrix(
    results: pd.DataFrame, metric: str, threat: Threat, theme: Theme = "light"
) -> Chart:
    """Attacks (rows) × releases (columns), original first; values in the cells. More releases than
    `COLUMNS` continue in matrices below each other.

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
            "" if v != v else f'<span style="color:{ink_on(color)}">{format_number(v)}{mark}</span>'
            for v, mark, color in zip(*row, strict=True)
        ]
        for row in zip(values, marks, colors, strict=True)
    ]
    by_id = list_made(results)
    made = [by_id[release] for release in releases]
    names = list_short_titles(made)
    heads = [wrap_text(names[release], _WIDTH, 4) for release in releases]
    hover = np.array(_transfer_hover(results, metric, table, names))
    number = math.ceil(len(releases) / COLUMNS)
    columns = math.ceil(len(releases) / number)
    head = LINE_PX * (1 + max(text.count("<br>") for text in heads)) + GAP_PX
    height = ROW_PX * len(table) * number + head * (number - 1)
    spacing = head / height if number > 1 else 0.0
    figure = make_subplots(rows=number, cols=1, vertical_spacing=spacing)
    for row in range(number):
        shown = slice(row * columns, (row + 1) * columns)
        figure.add_heatmap(
            z=strengths[:, shown],
            x=np.arange(len(heads[shown])),
            y=[escape_text(t) for t in table.title],
            coloraxis="coloraxis",
            xgap=2,
            ygap=2,
            text=[line[shown] for line in text],
            texttemplate="%{text}",
            textfont={"size": 13},
            customdata=hover[:, shown],
            hovertemplate="%{y} on %{customdata}<extra></extra>",
            row=row + 1,
            col=1,
        )
        figure.update_xaxes(
            tickvals=np.arange(len(heads[shown])),
            ticktext=heads[shown],
            range=[-0.5, columns - 0.5],
            row=row + 1,
            col=1,
        )
    title = _describe_strongest(strengths, made, metric)
    style_figure(figure, theme, head + height + GAP_PX, title)
    bar = {"title": {"text": metric_title(metric)}, "thickness": 12, "outlinewidth": 0}
    figure.update_layout(
        coloraxis={
            **{"cmin": low, "cmax": top, "colorscale": risk_colorscale(), "colorbar": bar},
            "showscale": len(table) * number >= SCALED_ROWS,
        },
        margin={"t": figure.layout.margin.t - TOP_PIXELS + head},
    )
    figure.update_xaxes(
        side="top", showgrid=False, tickangle=0, ticks="", tickfont={"color": ink.text, "size": 12}
    )
    figure.update_yaxes(
        autorange="reversed", showgrid=False, ticks="", tickfont={"color": ink.text}
    )
    rows, unit = attack_rows(results, metric, threat), THREAT_WORDS[threat].unit
    note = describe_sample(rows, unit, intervals="")
    if np.isnan(values).any():
        note += " Empty: not run on that release."
    if (strengths > values).any():
        note += f" {MARK} clearly below one half: coloured by its strength inverted."
    return Chart(figure, table, note)


def _describe_strongest(strengths: np.ndarray, releases: list[ReleaseInfo], metric: str) -> str:
    """ "Strongest attack: 0.15 on Original, 0.13 on Random deletion"; of many releases the range on
    those after the first."""
    if not is_lower_safer(metric):
        return ""
    names = list_names(releases)
    known = {
        release.id: float(np.nanmax(column))
        for release, column in zip(releases, strengths.T, strict=True)
        if not np.isnan(column).all()
    }
    parts = [f"{format_number(value)} on {names[release]}" for release, value in known.items()]
    if len(parts) > MAX_TITLED:
        others = list(known.values())[1:]
        ends = " to ".join(map(format_number, (min(others), max(others))))
        parts = [parts[0], f"{ends} on the {len(others)} others"]
    return f"Strongest attack: {', '.join(parts)}"


def _transfer_hover(
    results: pd.DataFrame, metric: str, table: pd.DataFrame, names: Mapping[str, str]
) -> list[list[str]]:
    rows = select_results(results, metric).set_index(["method", "release"])
    rows = rows[~rows.index.duplicated()]
    texts = {key: format_row(r) for key, r in zip(rows.index, rows.itertuples(), strict=True)}
    return [
        [
            f"{escape_text(name)}<br>{texts.get((attack, release), 'no value')}"
            for release, name in names.items()
        ]
        for attack in table.attack
    ]
