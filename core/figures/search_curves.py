"""What a search tried: usefulness against the nearest limit, a line a defense."""

from __future__ import annotations

import plotly.graph_objects as go

from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, NARROW_PX, add_line, make_legend_room, style_figure
from core.findings.numbers import format_limited
from core.findings.palette import OKABE_ITO, SYMBOLS, WITHIN_FILL, Theme, escape_text
from core.search.outcome import tabulate_tried
from core.search.run import SearchProgress
from core.words import count_noun, format_percent

SIZES = {"screening": 7, "race": 10, "confirmation": 13}
LEFT_PX = 60
"""Room of the vertical axis."""
MOST_RISK = 4.0
"""Largest multiple of a limit that is drawn at its place; higher ones stand at the edge."""


def draw_search(progress: SearchProgress, theme: Theme = "light") -> Chart:
    """Releases of a search by what they keep and by their largest figure, as a multiple of its
    limit; larger points were audited at a later stage, hollow ones are without columns, and a ring
    marks a confirmed one."""
    table, ink = tabulate_tried(progress), INKS[theme]
    if table.empty:
        return make_empty_chart("Nothing was measured yet.", theme, table)
    figure = go.Figure()
    figure.add_vrect(x0=0, x1=1, fillcolor=WITHIN_FILL, line_width=0, layer="below")
    figure.add_vline(
        x=1,
        line={"dash": "dash", "width": 1.5, "color": ink.text},
        annotation={"text": "limit", "yanchor": "bottom", "textangle": 0},
        annotation_position="top",
    )
    named: dict[str, int] = {}
    for (defense, has_columns), rows in table.groupby(["defense", "has_columns"], sort=False):
        is_first = defense not in named
        number = named.setdefault(defense, len(named))
        color, symbol = OKABE_ITO[number % len(OKABE_ITO)], SYMBOLS[number % len(SYMBOLS)]
        x, y = rows.risk.clip(upper=MOST_RISK), 100 * rows.kept
        if len(rows) > 1:
            add_line(figure, x, y, color, 1.2)
        edge = [3 if done else 0 for done in rows.is_confirmed]
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            name=escape_text(defense),
            showlegend=is_first,
            cliponaxis=False,
            marker={
                "color": color,
                "symbol": symbol if has_columns else f"{symbol}-open",
                "size": [SIZES[stage] for stage in rows.stage],
                "line": {"width": edge, "color": ink.text},
            },
            text=[
                f"{escape_text(row.title)}, {row.stage}<br>keeps {format_percent(row.kept)}<br>"
                f"{escape_text(row.limit)}: {format_limited(row.risk, 1.0)[0]} times the limit"
                for row in rows.itertuples()
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    within = int((table.risk <= 1).sum())
    verb = "is" if within == 1 else "are"
    title = f"{within} of {count_noun(len(table), 'release')} tried {verb} within every limit"
    style_figure(figure, theme, 420, f"{title} by the figures measured")
    make_legend_room(figure, NARROW_PX, LEFT_PX)
    figure.update_xaxes(
        title_text="← safer   Largest figure, as a multiple of its limit", rangemode="tozero"
    )
    figure.update_yaxes(title_text="Usefulness kept", ticksuffix=" %", range=[-2, 104])
    note = (
        f"{count_noun(len(table), 'release')}, each at the last stage that audited it: larger "
        "points by more attackers and splits. Hollow: without columns. Lines join the strengths of "
        "one defense."
    )
    return Chart(figure, table, note)
