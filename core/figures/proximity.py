"""Proximity of the ends of withheld links, beside that of links and of unlinked pairs."""

from __future__ import annotations

from typing import Any

import pandas as pd

from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import (
    INKS,
    add_line,
    error_bars,
    fit_rows,
    format_releases,
    make_panels,
    style_figure,
)
from core.findings.numbers import format_interval
from core.findings.pair_profile import KINDS, METRICS, compute_pair_table
from core.findings.palette import Theme, release_color
from core.findings.tables import describe_sample, list_made


def pair_profile(results: pd.DataFrame, theme: Theme = "light") -> Chart:
    """One panel per measure, one row per release: withheld links, unlinked pairs, released links.

    The line between hidden and absent pairs is the signal available to an attacker.
    """
    table = compute_pair_table(results)
    if table.empty:
        return make_empty_chart("No pairs have been measured yet.", theme, table)
    metrics = [metric for metric in METRICS if metric in set(table.metric)]
    made = list_made(results)
    order = [release for release in made if release in set(table.release)]
    colors, ink = release_color(made.values()), INKS[theme]
    names = format_releases(made.values())
    figure = make_panels([""] * len(metrics))
    looks = {
        "hidden": {"symbol": "circle", "size": 11},
        "absent": {"symbol": "circle-open", "size": 11},
        "visible": {"symbol": "line-ns-open", "size": 12},
    }
    for column, metric in enumerate(metrics, start=1):
        wide = table[table.metric == metric].set_index(["release", "kind"])
        for release in order:
            ends = [wide.value.get((release, kind)) for kind in ("hidden", "absent")]
            if None not in ends:
                at: dict[str, Any] = {"opacity": 0.5, "row": 1, "col": column}
                add_line(figure, ends, [names[release]] * 2, colors[release], 3, **at)
        for kind, look in looks.items():
            rows = wide[wide.index.get_level_values("kind") == kind].reset_index()
            figure.add_scatter(
                x=rows.value.to_numpy(),
                y=[names[release] for release in rows.release],
                mode="markers",
                name=KINDS[kind],
                legendgroup=kind,
                showlegend=False,
                marker={**look, "color": [colors[r] for r in rows.release], "line": {"width": 2}},
                error_x=error_bars(rows.value, rows.low, rows.high, thickness=1.1, color=ink.muted),
                text=[format_interval(*v) for v in rows[["value", "low", "high"]].to_numpy()],
                hovertemplate="%{y}<br>%{fullData.name}: %{text}<extra></extra>",
                row=1,
                col=column,
            )
        figure.update_xaxes(title_text=METRICS[metric], nticks=4, tickangle=0, row=1, col=column)
    for kind, look in looks.items():  # the legend in ink: colours tell releases apart
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=KINDS[kind],
            legendgroup=kind,
            marker={**look, "color": ink.text, "line": {"width": 2}},
        )
    row_pixels = fit_rows([names[r] for r in order], 44)
    style_figure(figure, theme, 180 + row_pixels * len(order))
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=[names[r] for r in order[::-1]],
        tickfont={"color": ink.text},
    )
    note = describe_sample(table, "pair", "whiskers show")
    return Chart(figure, table, f"{note} Steps are means over the pairs that a path connects.")
