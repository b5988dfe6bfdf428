"""Heatmap of attacks by nodes: who is exposed to which attack, a panel per release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo, list_names, list_short_titles
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import GROUND, INKS, shorten_names, style_figure, title_panel, wrap_text
from core.findings.exposure import count_exposed
from core.findings.numbers import format_number
from core.findings.palette import NO_FILL, Theme, escape_text, family_color, risk_colorscale
from core.findings.risk import SCALE_TITLES, Scale, Segment, align_attacks, list_segments
from core.words import begin_sentence, count_noun

MAX_CELLS = 10_000
"""Cells per panel; each is a transparent marker that can be clicked."""

WIDTH_PX = 1000
"""Of the plot on a wide page."""
MIN_COLUMN_PIXELS = 2.0

PANEL_PX, MIN_ROW_PX, MAX_ROW_PX = 190, 22, 44
"""Wished height of a panel, and bounds of a row's height."""
SCALE_PX = 120
"""Least height of all panels, which the scale with its title and three marks needs."""
HEAD_PX, FOOT_PX, GROUP_PX = 34, 52, 20
"""Above a panel for its title, below the last for the ranks, and for the names of groups."""

MAX_NAME, LINES, MAX_ID = 26, 52, 12
"""Letters of an attack on a line and on two, and of a node."""
TWO_LINES_PX = 34
"""Least height of a row where a name takes two lines."""
MAX_LETTERS = 76
"""Letters of node ids on the axis at 1024 pixels, with what parts them."""
MAX_RANKS = 8

GAP_SHARE = 0.012
"""Of the width, between nodes exposed beyond noise and others."""
MIN_LABELLED = 0.25
"""Share of the width below which a group between two others has no label."""

TOP_SHARE = 0.99
"""Quantile of the cells at which the colours end, so that one outlier does not pale the rest."""

LEAST_SPAN = 0.02


def risk_heatmap(
    tables: Mapping[ReleaseInfo, pd.DataFrame],
    by: Scale = "advantage",
    theme: Theme = "light",
    ranks: tuple[int, int] | None = None,
    max_cells: int = MAX_CELLS,
) -> Chart:
    """One panel per release, below each other: the same nodes from left to right in the same order,
    attacks as rows, so that their names lie horizontally however many there are; one scale.

    tables  release → `compute_heatmap` of the same nodes in the same order, original first
    ranks   only these ranks (first, last; from 1): few enough of them have one column each
    The scale is fitted to the cells shown, darkest where exposure is highest, on a pale ground in
    either theme. Nodes exposed beyond noise on the first release are set apart. With more nodes
    than columns, neighbouring ranks of a group share one that shows their mean. Transparent markers
    over the cells make them clickable; the `customdata` of each is [node, attack, first rank, last
    rank] (node: the first of the column). Empty cells: the node is not at stake under that attack.
    """
    shown = {release: table for release, table in tables.items() if len(table)}
    if ranks is not None:
        shown = {r: table[table["rank"].between(*ranks)] for r, table in shown.items()}
        shown = {release: table for release, table in shown.items() if len(table)}
    rows = align_attacks(shown)
    if not rows:
        return make_empty_chart("No node risk yet.", theme)
    first = next(iter(shown.values()))
    room = int(min(max_cells // len(rows), WIDTH_PX / MIN_COLUMN_PIXELS))
    groups = list_segments(first)
    starts = _choose_starts([one.size for one in groups], room)
    gap = max(1, round(GAP_SHARE * sum(map(len, starts))))
    places = _place_columns([len(each) for each in starts], gap)
    edges = np.append(np.concatenate(starts), len(first))
    panels = [
        _average(table, [row.forms.get(release) for row in rows], edges)
        for release, table in shown.items()
    ]
    low, top, is_cut = _fit_scale(panels, by)
    heads = [wrap_text(t, MAX_NAME, 2) for t in shorten_names([r.title for r in rows], LINES)]
    least = TWO_LINES_PX if any("<br>" in head for head in heads) else MIN_ROW_PX
    pixels = float(np.clip(PANEL_PX / len(rows), least, MAX_ROW_PX)) * len(rows)
    pixels = max(pixels, SCALE_PX / len(panels))
    height = round(len(panels) * (pixels + HEAD_PX) + FOOT_PX)
    figure = make_subplots(
        len(panels), 1, shared_xaxes=True, vertical_spacing=HEAD_PX / (height - HEAD_PX - FOOT_PX)
    )
    for number, (release, values) in enumerate(zip(shown, panels, strict=True), start=1):
        forms = [row.forms.get(release) for row in rows]
        figure.add_trace(_draw_cells(values, places), row=number, col=1)
        targets = _make_click_targets(values, places, edges, first, forms, pixels / len(rows))
        figure.add_trace(targets, row=number, col=1)
    style_figure(figure, theme, height, _describe_exposed(shown, by), showlegend=False)
    # No cut-off: a click anywhere in a cell finds the marker at its centre.
    figure.update_layout(
        plot_bgcolor=GROUND.empty,
        clickmode="event+select",
        hoverdistance=-1,
        hovermode="closest",
        coloraxis=_style_scale(low, top, is_cut, by),
        margin={"t": figure.layout.margin.t + GROUP_PX},
    )
    _label_panels(figure, list_short_titles(shown), theme)
    _label_rows(figure, heads, [row.attack for row in rows], theme)
    _label_columns(figure, first, places, edges)
    _set_apart(figure, groups, [len(each) for each in starts], gap, theme)

    def join() -> pd.DataFrame:
        parts = [t.assign(release=r.id) for r, t in shown.items()]
        attacks = {c: c.id for t in shown.values() for c in t.columns if isinstance(c, Attack)}
        return pd.concat(parts, ignore_index=True).rename(columns=attacks)

    is_folded = any(len(set(row.forms.values())) > 1 for row in rows)
    num_columns = len(edges) - 1
    return Chart(figure, join, _describe_columns(first, num_columns, len(rows), is_folded))


def _choose_starts(sizes: Sequence[int], room: int) -> list[np.ndarray]:
    """First row of each column, by group: a column per node, or as many as there is room for, at
    least one per group."""
    total, start, found = sum(sizes), 0, []
    for size in sizes:
        count = size if total <= room else max(1, room * size // total)
        found.append(start + np.linspace(0, size, count, endpoint=False).astype(int))
        start += size
    return found


def _place_columns(counts: Sequence[int], gap: int) -> np.ndarray:
    """Horizontal places of the columns, with gaps between groups."""
    starts = np.cumsum([0, *(count + gap for count in counts)])
    return np.concatenate([s + np.arange(c) for s, c in zip(starts, counts, strict=False)])


def _average(
    table: pd.DataFrame, attacks: Sequence[Attack | None], edges: np.ndarray
) -> np.ndarray:
    """(attacks, columns) mean of the known values of each column's nodes; NaN without one."""
    known = [
        np.full(len(table), np.nan) if a is None else table[a].to_numpy(float) for a in attacks
    ]
    values = np.stack(known)
    if len(edges) == values.shape[1] + 1:
        return values
    is_known = ~np.isnan(values)
    total = np.add.reduceat(np.where(is_known, values, 0.0), edges[:-1], axis=1)
    count = np.add.reduceat(is_known.astype(float), edges[:-1], axis=1)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def _fit_scale(panels: Sequence[np.ndarray], by: Scale) -> tuple[float, float, bool]:
    """Ends of the colour scale, and whether cells lie above it.

    An advantage starts at 0, a risk at its smallest value.
    """
    values = np.concatenate([panel.ravel() for panel in panels])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0, False
    low = 0.0 if by == "advantage" else float(values.min())
    positive = values[values > low]
    top = float(np.quantile(positive, TOP_SHARE)) if len(positive) else low
    top = max(top, low + LEAST_SPAN)
    return low, top, bool((values > top).any())


def _style_scale(low: float, top: float, is_cut: bool, by: Scale) -> dict[str, object]:
    ends = [low, (low + top) / 2, top]
    marks = [format_number(low), f"{ends[1]:.2f}", format_number(top)]
    return {
        "cmin": low,
        "cmax": top,
        "colorscale": risk_colorscale(),
        "colorbar": {
            "title": {"text": SCALE_TITLES[by], "side": "top"},
            "thickness": 12,
            "len": 1,
            "tickvals": ends,
            "ticktext": [*marks[:-1], f"{marks[-1]}+" if is_cut else marks[-1]],
            "outlinewidth": 0,
        },
    }


def _draw_cells(values: np.ndarray, places: np.ndarray) -> go.Heatmap:
    """Cells, with empty columns in the gaps between groups."""
    spread = np.full((len(values), int(places[-1]) + 1), np.nan)
    spread[:, places] = values
    return go.Heatmap(
        z=spread,
        x=np.arange(spread.shape[1]),
        y=np.arange(len(values)),
        coloraxis="coloraxis",
        hoverinfo="skip",
        xgap=1.0 if len(places) <= 200 else 0.0,
        ygap=2,
    )


def _make_click_targets(
    values: np.ndarray,
    places: np.ndarray,
    edges: np.ndarray,
    table: pd.DataFrame,
    forms: Sequence[Attack | None],
    row_px: float,
) -> go.Scattergl:
    """Transparent markers over the cells, since heatmap clicks never reach Streamlit."""
    row, column = np.nonzero(~np.isnan(values))
    ranks, nodes = table["rank"].to_numpy(), table.node.iloc[edges[:-1]].to_numpy(object)
    first, last = ranks[edges[:-1]], ranks[edges[1:] - 1]
    label = [
        escape_text(node) if a == b else f"ranks {a:,} to {b:,}"
        for node, a, b in zip(nodes, first, last, strict=True)
    ]
    titles = ["" if form is None else escape_text(form.title) for form in forms]
    # Arrays, because Plotly checks lists element by element.
    customdata = np.empty((len(row), 4), object)
    customdata[:, 0] = nodes[column]
    customdata[:, 1] = np.array([str(form) for form in forms], object)[row]
    customdata[:, 2], customdata[:, 3] = first[column].tolist(), last[column].tolist()
    texts = [
        f"{label[j]}<br>{titles[i]}: {values[i, j]:.2f}"
        for i, j in zip(row.tolist(), column.tolist(), strict=True)
    ]
    return go.Scattergl(
        x=places[column],
        y=row,
        mode="markers",
        name="",
        marker={"size": float(np.clip(0.6 * row_px, 3, 14)), "symbol": "square", "color": NO_FILL},
        customdata=customdata,
        text=np.array(texts, object),
        hovertemplate="%{text}<extra></extra>",
    )


def _label_rows(
    figure: go.Figure, names: Sequence[str], attacks: Sequence[Attack], theme: Theme
) -> None:
    """Names of the attacks beside a square in the colour of their family."""
    heads = [
        f'{name} <span style="color:{family_color(attack, theme)}">■</span>'
        for name, attack in zip(names, attacks, strict=True)
    ]
    figure.update_yaxes(
        range=[len(heads) - 0.5, -0.5],
        showgrid=False,
        ticks="",
        tickvals=np.arange(len(heads)),
        ticktext=heads,
        tickfont={"color": INKS[theme].text, "size": 12 if any("<br>" in n for n in names) else 14},
    )


def _label_columns(
    figure: go.Figure, table: pd.DataFrame, places: np.ndarray, edges: np.ndarray
) -> None:
    """Ids of the nodes where each has a column and they fit, else ranks; never slanted."""
    count = len(places)
    ids = shorten_names([str(node) for node in table.node], MAX_ID) if count == len(table) else []
    longest = max(map(len, ids), default=0) + 2
    is_named = bool(ids) and count * longest <= MAX_LETTERS
    at = np.unique(np.linspace(0, count - 1, count if is_named else MAX_RANKS).round().astype(int))
    ranks = table["rank"].to_numpy()[edges[:-1]]
    texts = [escape_text(ids[i]) if is_named else f"{ranks[i]:,}" for i in at]
    figure.update_xaxes(showgrid=False, ticks="", tickangle=0, range=[-0.5, places[-1] + 0.5])
    last = {} if is_named else {"title_text": "Rank, most surely exposed first"}
    rows = sum(isinstance(trace, go.Heatmap) for trace in figure.data)
    figure.update_xaxes(tickvals=places[at], ticktext=texts, row=rows, col=1, **last)


def _label_panels(figure: go.Figure, names: Mapping[str, str], theme: Theme) -> None:
    """The release above the left end of its panel, the first one above the names of groups."""
    for number, name in enumerate(names.values(), start=1):
        lift = GROUP_PX if number == 1 else 3
        title_panel(figure, number, name, theme, 0, "bottom", yshift=lift)


def _set_apart(
    figure: go.Figure, groups: Sequence[Segment], counts: Sequence[int], gap: int, theme: Theme
) -> None:
    """Gaps between groups in the page's colour, and what each is above the first panel: the first
    from its left end, the last to its right end, one between them in its middle if there is room.
    """
    ink = INKS[theme]
    for number in (1, 2)[: sum(isinstance(trace, go.Heatmap) for trace in figure.data)]:
        for (_, before), (after, _) in pairwise(_list_spans(counts, gap)):
            blank = {"fillcolor": ink.surface, "line_width": 0, "layer": "below"}
            figure.add_vrect(x0=before, x1=after, row=number, col=1, **blank)
    spans = _list_spans(counts, gap)
    width, last = spans[-1][1] - spans[0][0], len(groups) - 1
    for place, (group, (start, end)) in enumerate(zip(groups, spans, strict=True)):
        if 0 < place < last and (end - start) / width < MIN_LABELLED:
            continue
        x, anchor = ((start, "left"), ((start + end) / 2, "center"), (end, "right"))[
            0 if place == 0 else 2 if place == last else 1
        ]
        figure.add_annotation(
            text=group.title,
            x=x,
            xref="x",
            xanchor=anchor,
            y=1,
            yref="paper",
            yanchor="bottom",
            yshift=1,
            showarrow=False,
            font={"size": 13, "color": ink.muted},
        )


def _list_spans(counts: Sequence[int], gap: int) -> list[tuple[float, float]]:
    """Left and right end of each group."""
    starts = np.cumsum([0, *(count + gap for count in counts)])
    return [(float(a) - 0.5, float(b - gap) - 0.5) for a, b in pairwise(starts)]


def _describe_exposed(tables: Mapping[ReleaseInfo, pd.DataFrame], by: Scale) -> str:
    """ "At least 12 of 400 exposed on Original, at least 3 on Random deletion"; "Likely 12" where
    nobody surely is."""
    names = list_names(tables)
    if by == "risk":
        means = {release: table.headline.mean() for release, table in tables.items()}
        parts = [f"{format_number(mean)} on {names[r.id]}" for r, mean in means.items()]
        return f"Mean risk: {', '.join(parts)}"
    counts: list[str] = []
    for release, table in tables.items():
        one = count_exposed(table.headline, table.sure)
        of = "" if counts else f" of {one.at_stake:,} exposed"
        counts.append(f"{one.least}{of} on {names[release.id]}")
    return begin_sentence(", ".join(counts))


def _describe_columns(
    table: pd.DataFrame, num_columns: int, num_attacks: int, is_folded: bool
) -> str:
    num_nodes = len(table)
    nodes, attacks = count_noun(num_nodes, "node"), count_noun(num_attacks, "attack")
    note = f"{nodes} at stake, {attacks}, mean over repeats."
    if is_folded:
        note += " An attack with several forms is shown in its strongest on each release."
    if num_columns < num_nodes:
        note += f" Each of the {num_columns:,} columns is the mean of nodes of similar rank."
    return f"{note} Empty: not at stake under that attack."
