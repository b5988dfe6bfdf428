"""A map of everyone: people as points at given places, their links as thin lines, for WebGL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.chart import Chart
from core.figures.theme import INKS, make_empty_figure, style_figure
from core.findings.palette import (
    ADDED_BLUE,
    OKABE_ITO,
    REMOVED_RED,
    Theme,
    amount_colorscale,
    escape_text,
    risk_colorscale,
)
from core.findings.people_map import GROUPED, MAX_COMMUNITIES, Color

MAX_LINES = 20_000
"""Links that are drawn; more of them only fill the map."""

MANY_PEOPLE, FEW_LINES = 20_000, 4_000
"""Beside more people than that even fewer links, which are what takes a browser long to draw."""

NOTHING = "#b6bcc6"
_BAR_TITLES: dict[Color, str] = {
    "advantage": "Advantage   ← safer",
    "risk": "Risk   ← safer",
    "links": "Links of a person",
    "change": "Links changed, of those before",
}
FINE = 4
"""Points of fewer pixels have but a faint outline."""
_SPAN = 1.08
_CLOSE = 0.12
"""Half the side of what is shown around a person who was looked for."""


@dataclass(frozen=True, eq=False)
class Side:
    """One picture: its title, the people as they are in a release, and links to draw."""

    title: str
    people: pd.DataFrame
    edges: np.ndarray
    lost: np.ndarray | None = None
    gained: np.ndarray | None = None


def people_map(
    sides: Sequence[Side],
    positions: np.ndarray,
    by: Color = "advantage",
    theme: Theme = "light",
    height: int = 560,
    focus: int | None = None,
) -> Chart:
    """Points at `positions` (n, 2), one picture a side beside each other: zoomed together.

    people of a side: `compute_people`, in the order of the positions. The `customdata` of a point
    is its number. Of more links than `MAX_LINES`, or `FEW_LINES`, every k-th is drawn. With links
    lost and gained a side shows these instead. focus: a person to ring and to zoom to.
    """
    if not sides or sides[0].people.empty:
        return Chart(make_empty_figure("Nobody to draw.", theme), pd.DataFrame(), "")
    figure = _make_sides([side.title for side in sides], theme, height)
    names = _list_groups(sides[0].people, by) if by in GROUPED else []
    top = _find_top(sides, by)
    shown = 0
    for column, side in enumerate(sides, 1):
        at = {"row": 1, "col": column}
        shown = max(shown, _add_links(figure, side, positions, theme, at))
        for trace in _list_points(side.people, positions, by, names, top, column == 1):
            if theme == "dark":  # the highest risks are the darkest points
                is_fine = trace.marker.size < FINE  # an outline would hide what it encloses
                trace.marker.line = {
                    "width": 0.3 if is_fine else 0.8,
                    "color": INKS[theme].muted if is_fine else INKS[theme].text,
                }
            figure.add_trace(trace, **at)
        if focus is not None:
            figure.add_trace(_ring(positions[focus], theme), **at)
    _set_range(figure, None if focus is None else positions[focus])
    table = pd.concat([side.people.assign(release=side.title) for side in sides])
    return Chart(figure, table.drop(columns="number"), _describe(sides, shown))


def community_map(
    communities: pd.DataFrame,
    places: np.ndarray,
    links: np.ndarray,
    by: Color = "advantage",
    theme: Theme = "light",
    height: int = 560,
) -> Chart:
    """A bubble a community (`compute_communities`), its area in proportion to its people.

    places  (c, 2), a row a community in the table's order; links (k, 2) row numbers of those that
    are joined by many links. The `customdata` of a bubble is its community.
    """
    table = communities.head(MAX_COMMUNITIES)
    if table.empty:
        return Chart(make_empty_figure("Nobody to draw.", theme), table, "")
    figure = _make_sides([""], theme, height)
    figure.add_trace(_lines(links, places, INKS[theme].muted, 0.35), row=1, col=1)
    size = np.sqrt(table.people.to_numpy(float))
    values = {"advantage": table["mean"], "change": table.change}.get(by, table.links)
    is_risk = by in ("advantage", "risk")
    marker = {
        "size": np.clip(64 * size / size.max(), 4, None),
        "color": values.fillna(0).to_numpy(float),
        "colorscale": risk_colorscale() if is_risk else amount_colorscale(),
        "cmin": 0,
        "cmax": max(float(values.max()), 0.2) if values.notna().any() else 1,
        "colorbar": _bar("Mean advantage" if is_risk else "Links a person"),
        "line": {"width": 1, "color": INKS[theme].muted},
        "opacity": 0.9,
    }
    hover = [
        f"Community {row.community}: {row.people:,} people, {row.exposed:,} exposed"
        for row in table.itertuples()
    ]
    figure.add_trace(
        go.Scattergl(
            x=places[: len(table), 0],
            y=places[: len(table), 1],
            mode="markers",
            marker=marker,
            customdata=table.community.to_numpy(),
            text=hover,
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        ),
        row=1,
        col=1,
    )
    _set_range(figure, None)
    note = f"{communities.people.sum():,} people as {len(table):,} communities"
    if len(table) < len(communities):
        note += f", the largest of {len(communities):,}"
    return Chart(figure, table, note + "; each stands in the middle of its people.")


def _make_sides(titles: Sequence[str], theme: Theme, height: int) -> go.Figure:
    figure = make_subplots(
        rows=1,
        cols=len(titles),
        horizontal_spacing=0.02,
        subplot_titles=[escape_text(title) for title in titles] if len(titles) > 1 else None,
    )
    style_figure(figure, theme, height, dragmode="pan", uirevision="map", hovermode="closest")
    hidden = {"visible": False, "showgrid": False}
    figure.update_xaxes(**hidden)
    figure.update_yaxes(**hidden)
    if len(titles) > 1:
        figure.update_xaxes(matches="x")
        figure.update_yaxes(matches="y")
    figure.update_layout(
        yaxis={"scaleanchor": "x", "constrain": "domain"},
        modebar={
            "bgcolor": "rgba(0,0,0,0)",
            "color": INKS[theme].muted,
            "activecolor": INKS[theme].text,
        },
        margin={"l": 0, "r": 0, "t": 40 if len(titles) > 1 else 28, "b": 62},
        legend={"itemsizing": "constant", "x": 1, "xanchor": "right", "y": 0, "yanchor": "top"},
    )
    return figure


def _set_range(figure: go.Figure, focus: np.ndarray | None) -> None:
    middle = (0.0, 0.0) if focus is None else (float(focus[0]), float(focus[1]))
    half = _SPAN if focus is None else _CLOSE
    figure.update_xaxes(range=[middle[0] - half, middle[0] + half])
    figure.update_yaxes(range=[middle[1] - half, middle[1] + half])


def _add_links(
    figure: go.Figure, side: Side, positions: np.ndarray, theme: Theme, at: dict[str, int]
) -> int:
    """Draws the side's links; how many of them."""
    if side.lost is None or side.gained is None:
        drawn = _thin(side.edges, len(positions))
        opacity = float(np.clip(900 / max(len(drawn), 1), 0.06, 0.6))
        figure.add_trace(_lines(drawn, positions, INKS[theme].muted, opacity), **at)
        return len(drawn)
    total = 0
    for edges, color in ((side.lost, REMOVED_RED), (side.gained, ADDED_BLUE)):
        drawn = _thin(edges, len(positions))
        total += len(drawn)
        opacity = float(np.clip(3000 / max(len(drawn), 1), 0.2, 0.8))
        figure.add_trace(_lines(drawn, positions, color, opacity), **at)
    return total


def _thin(edges: np.ndarray, num_people: int) -> np.ndarray:
    """Every k-th link, so that MAX_LINES stay at most, FEW_LINES among many people."""
    most = FEW_LINES if num_people > MANY_PEOPLE else MAX_LINES
    return edges[:: -(-len(edges) // most) or 1]


def _lines(edges: np.ndarray, positions: np.ndarray, color: str, opacity: float) -> go.Scattergl:
    """All links as one line with gaps."""
    path = np.full((len(edges), 3, 2), np.nan, np.float32)
    path[:, 0], path[:, 1] = positions[edges[:, 0]], positions[edges[:, 1]]
    x, y = path.reshape(-1, 2).T
    return go.Scattergl(
        x=x,
        y=y,
        mode="lines",
        line={"color": color, "width": 1},
        opacity=opacity,
        hoverinfo="skip",
        showlegend=False,
    )


def _list_points(
    people: pd.DataFrame,
    positions: np.ndarray,
    by: Color,
    names: list[str],
    top: float,
    is_first: bool,
) -> list[go.Scattergl]:
    """The traces of the people: those without a value first and grey, the highest on top."""
    if by in GROUPED:
        shown = people[by].astype(str).where(people[by].astype(str).isin(names), "")
        traces = [_points(people[shown == ""], positions, NOTHING, "other" * is_first)]
        for color, name in zip(OKABE_ITO, names, strict=False):
            title = f"community {name}" if by == "community" else name
            traces.append(_points(people[shown == name], positions, color, title * is_first))
        return [trace for trace in traces if len(trace.x)]
    known = people[people[by].notna()].sort_values(by, kind="stable")
    unknown = people[people[by].isna()]
    is_risk = by in ("advantage", "risk")
    traces = [_points(unknown, positions, NOTHING, "nothing at stake" * (is_first and is_risk))]
    points = _points(known, positions, known[by].to_numpy(np.float32), "")
    points.marker.update(
        colorscale=risk_colorscale() if is_risk else amount_colorscale(),
        cmin=0,
        cmax=top,
        showscale=is_first,
    )
    if is_first:
        points.marker.colorbar = _bar(_BAR_TITLES[by])
    return [trace for trace in (*traces, points) if len(trace.x)]


def _points(
    people: pd.DataFrame, positions: np.ndarray, color: str | np.ndarray, name: str
) -> go.Scattergl:
    number = people.number.to_numpy()
    return go.Scattergl(
        x=positions[number, 0],
        y=positions[number, 1],
        mode="markers",
        marker={"color": color, "size": _find_size(len(positions)), "opacity": 0.9},
        customdata=number.astype(np.int32),
        text=[_shorten(node) for node in people.node],
        hovertemplate="%{text}<extra></extra>",
        name=escape_text(name),
        showlegend=bool(name),
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.25}},
    )


def _ring(place: np.ndarray, theme: Theme) -> go.Scattergl:
    return go.Scattergl(
        x=place[:1],
        y=place[1:],
        mode="markers",
        marker={
            "size": 22,
            "color": "rgba(0,0,0,0)",
            "line": {"color": INKS[theme].text, "width": 2.5},
        },
        hoverinfo="skip",
        showlegend=False,
    )


def _find_size(num_people: int) -> float:
    for most, size in ((100, 12), (500, 9), (3_000, 6.5), (20_000, 4.5)):
        if num_people <= most:
            return size
    return 3


def _find_top(sides: Sequence[Side], by: Color) -> float:
    """Where the colours end: 1 for a risk, else what all but the highest hundredth keep below."""
    if by in GROUPED or by in ("advantage", "risk"):
        return 1.0
    values = np.concatenate([side.people[by].to_numpy(float) for side in sides])
    values = values[np.isfinite(values)]
    return max(float(np.quantile(values, 0.99)), 1e-9) if len(values) else 1.0


def _list_groups(people: pd.DataFrame, by: Color) -> list[str]:
    """The largest groups, as many as there are colours."""
    names = people[by].astype(str)
    return list(names[names != ""].value_counts().index[: len(OKABE_ITO)])


def _bar(title: str) -> dict[str, object]:
    """A colour bar below the map, which has the whole width for itself."""
    return {
        "title": {"text": title, "side": "top", "font": {"size": 14}},
        "orientation": "h",
        "thickness": 10,
        "len": 0.5,
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "outlinewidth": 0,
    }


def _describe(sides: Sequence[Side], shown: int) -> str:
    first = sides[0]
    people, links = len(first.people), len(first.edges)
    note = f"{people:,} people, {links:,} links"
    if first.lost is None and shown < links:
        note += f", of which {shown:,} are drawn"
    note += "; near each other: few steps apart."
    if any(side.lost is not None for side in sides):
        note += " Red: links that were taken away; blue: links that are new."
    if len(sides) > 1:
        note += " Everybody stands at the same place in both pictures."
    return note


def _shorten(name: str, limit: int = 40) -> str:
    return escape_text(name if len(name) <= limit else name[: limit - 1] + "…")
