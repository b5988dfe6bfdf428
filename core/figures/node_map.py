"""Map of all nodes: links as a density image, nodes as WebGL points on top."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from PIL import Image
from plotly.subplots import make_subplots

from core.algorithms.line_density import count_crossings, shade_density
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, style_figure
from core.findings.palette import (
    ADDED_BLUE,
    NO_FILL,
    OKABE_ITO,
    REMOVED_RED,
    UNKNOWN_GREY,
    Theme,
    amount_colorscale,
    escape_text,
    risk_colorscale,
)
from core.findings.people_map import GROUPED, MAX_COMMUNITIES, Color, find_amounts, has_intervals
from core.words import cut_text

HEIGHT = 600
PIXELS = 1600
"""Side length of the density image: sharp on a large screen and after zooming in twice."""

MAX_LABELS = 8
"""Number of communities labelled on the map."""

MAX_NAME = 40
_BAR_TITLES: dict[Color, str] = {
    "advantage": "Advantage   ← safer",
    "risk": "Risk   ← safer",
    "links": "Links of a node",
    "change": "Links changed, of those before",
}
LEAST_SPAN = 0.02
"""Smallest upper end of the colour scale."""

_SPAN = 1.08
_CLOSE = 0.12
"""Half the side of the area shown around a node that was searched for."""


@dataclass(frozen=True, eq=False)
class Side:
    """One picture: its title, its nodes in a release, and links to draw."""

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
    focus: int | None = None,
    marked: int | None = None,
) -> Chart:
    """Points at `positions` (n, 2), one picture per side, zoomed together.

    people of a side: `compute_people`, in the order of the positions. The `customdata` of a point
    is its number. All links are in the image below the points; a side with lost and gained links
    shows those instead. focus: a node to ring and zoom to, with its links as lines. marked: a
    community that is named on the picture in any colouring.
    """
    if not sides or sides[0].people.empty:
        return make_empty_chart("Nobody to draw.", theme)
    figure = _make_sides([side.title for side in sides], theme)
    names = _list_groups(sides[0].people, by) if by in GROUPED else []
    top = _find_top(sides, by)
    for column, side in enumerate(sides, 1):
        at = {"row": 1, "col": column}
        _add_links(figure, side, positions, theme, column)
        if focus is not None:
            own = side.edges[(side.edges == focus).any(axis=1)]
            figure.add_trace(_lines(own, positions, INKS[theme].text, 0.7), **at)
        for trace in _list_points(side.people, positions, by, names, top, theme, column == 1):
            figure.add_trace(trace, **at)
        if focus is not None:
            figure.add_trace(_ring(positions[focus], theme), **at)
        labels = {name: name for name in names[:MAX_LABELS]} if by == "community" else {}
        labels |= {} if marked is None else {str(marked): f"community {marked}"}
        for name, text in labels.items():
            own = side.people.number[side.people.community == int(name)]
            _label(figure, np.median(positions[own.to_numpy()], axis=0), text, theme, column)
    _set_range(figure, None if focus is None else positions[focus])
    table = pd.concat([side.people.assign(release=side.title) for side in sides])
    return Chart(figure, table.drop(columns="number"), _describe(sides))


def community_map(
    communities: pd.DataFrame,
    places: np.ndarray,
    links: np.ndarray,
    by: Color = "advantage",
    theme: Theme = "light",
    marked: int | None = None,
) -> Chart:
    """One bubble per community (`compute_communities`), its area proportional to its size.

    places  (c, 2), one row per community in the table's order; links (k, 2) row numbers of strongly
    connected ones. The `customdata` of a bubble is its community. marked: one that is named.
    """
    table = communities.head(MAX_COMMUNITIES)
    if table.empty:
        return make_empty_chart("Nobody to draw.", theme, table)
    figure = _make_sides([""], theme)
    figure.add_trace(_lines(links, places, INKS[theme].muted, 0.35), row=1, col=1)
    size = np.sqrt(table.people.to_numpy(float))
    values = {"advantage": table["mean"], "change": table.change}.get(by, table.links)
    is_risk = by in ("advantage", "risk")
    marker = {
        "size": np.clip(64 * size / size.max(), 4, None),
        "color": values.fillna(0).to_numpy(float),
        "colorscale": _choose_scale(is_risk, theme),
        "cmin": 0,
        "cmax": max(float(values.max()), LEAST_SPAN) if values.notna().any() else 1,
        "colorbar": _bar("Mean advantage" if is_risk else "Links a node"),
        "line": {"width": 1, "color": INKS[theme].muted},
        "opacity": 0.9,
    }
    hover = [
        f"Community {row.community}: {row.people:,} nodes, {row.exposed:,} of {row.at_stake:,} at "
        "stake likely exposed"
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
    for place in places[: len(table)][(table.community == marked).to_numpy()]:
        _label(figure, place, f"community {marked}", theme, 1)
    _set_range(figure, None)
    note = f"{communities.people.sum():,} nodes as {len(table):,} communities"
    if len(table) < len(communities):
        note += f", the largest of {len(communities):,}"
    return Chart(figure, table, note + "; each is placed at the centre of its nodes.")


def _make_sides(titles: Sequence[str], theme: Theme) -> go.Figure:
    figure = make_subplots(
        rows=1,
        cols=len(titles),
        horizontal_spacing=0.02,
        subplot_titles=[escape_text(title) for title in titles] if len(titles) > 1 else None,
    )
    style_figure(figure, theme, HEIGHT, dragmode="pan", uirevision="map", hovermode="closest")
    hidden = {"visible": False, "showgrid": False}
    figure.update_xaxes(**hidden)
    figure.update_yaxes(**hidden)
    if len(titles) > 1:
        figure.update_xaxes(matches="x")
        figure.update_yaxes(matches="y")
    if len(titles) > 1:  # one alone takes the whole width
        figure.update_layout(yaxis={"scaleanchor": "x", "constrain": "domain"})
    figure.update_layout(
        modebar={"bgcolor": NO_FILL, "color": INKS[theme].muted, "activecolor": INKS[theme].text},
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
    figure: go.Figure, side: Side, positions: np.ndarray, theme: Theme, column: int
) -> None:
    """The image of the side's links, or one each of lost and gained links."""
    layers = [(side.edges, INKS[theme].muted)]
    if side.lost is not None and side.gained is not None:
        layers = [(side.lost, REMOVED_RED), (side.gained, ADDED_BLUE)]
    for edges, color in layers:
        figure.add_layout_image(
            source=_encode_links(_Drawing(positions, edges, color)),
            x=-_SPAN,
            y=_SPAN,
            sizex=2 * _SPAN,
            sizey=2 * _SPAN,
            sizing="stretch",
            layer="below",
            row=1,
            col=column,
        )


class _Drawing:
    """Lines between places in one colour; equal if their content is."""

    def __init__(self, positions: np.ndarray, edges: np.ndarray, color: str) -> None:
        self.positions, self.edges, self.color = positions, edges, color
        content = blake2b(color.encode(), digest_size=16)
        for array in (positions, edges):
            content.update(np.ascontiguousarray(array).data)
        self._key = content.digest()

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Drawing) and self._key == other._key


@lru_cache(maxsize=8)
def _encode_links(drawing: _Drawing) -> str:
    """The links' image as a data URI, cached because encoding dominates the page's time."""
    counts = count_crossings(drawing.positions, drawing.edges, PIXELS, _SPAN)
    red, green, blue = (int(drawing.color[i : i + 2], 16) for i in (1, 3, 5))
    file = io.BytesIO()
    opacity = Image.fromarray(shade_density(counts, (red, green, blue))[..., 3])
    opacity.putpalette([red, green, blue] * 256)  # one colour: a byte a pixel instead of four
    opacity.save(file, "PNG", transparency=bytes(range(256)))
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def _label(figure: go.Figure, place: np.ndarray, text: str, theme: Theme, column: int) -> None:
    """A community's name at its centre."""
    ink = INKS[theme]
    style = {"bgcolor": ink.surface, "opacity": 0.85, "borderpad": 2, "showarrow": False}
    at = {"x": float(place[0]), "y": float(place[1]), "row": 1, "col": column}
    font = {"size": 13, "color": ink.text}
    figure.add_annotation(text=f"<b>{escape_text(text)}</b>", font=font, **style, **at)


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
    theme: Theme,
    is_first: bool,
) -> list[go.Scattergl]:
    """Traces of the nodes: those without a value first and grey, those without an interval hollow,
    the highest on top."""
    if by in GROUPED:
        shown = people[by].astype(str).where(people[by].astype(str).isin(names), "")
        traces = [_points(people[shown == ""], positions, UNKNOWN_GREY, "other", is_first)]
        for color, name in zip(OKABE_ITO, names, strict=False):
            title = f"community {name}" if by == "community" else name
            traces.append(_points(people[shown == name], positions, color, title, is_first))
        return [trace for trace in traces if len(trace.x)]
    amounts = find_amounts(people, by).sort_values(kind="stable").dropna()
    known, is_unknown = people.loc[amounts.index], people[by].isna()
    is_risk = by in ("advantage", "risk")
    is_told = is_first and is_risk
    traces = [_points(people[is_unknown], positions, UNKNOWN_GREY, "nothing at stake", is_told)]
    few = people[~is_unknown & ~people.index.isin(amounts.index)]
    traces.append(_points(few, positions, UNKNOWN_GREY, "tested in one split", is_told))
    traces[-1].marker.symbol = "circle-open"
    points = _points(known, positions, amounts.to_numpy(np.float32), "", False)
    points.marker.update(
        colorscale=_choose_scale(is_risk, theme), cmin=0, cmax=top, showscale=is_first
    )
    if is_first:
        least = ", at least" if is_risk and has_intervals(people) else ""
        points.marker.colorbar = _bar(_BAR_TITLES[by].replace("   ", f"{least}   "))
    return [trace for trace in (*traces, points) if len(trace.x)]


def _choose_scale(is_risk: bool, theme: Theme) -> list[list[float | str]]:
    return risk_colorscale(theme, for_points=True) if is_risk else amount_colorscale(theme)


def _points(
    people: pd.DataFrame,
    positions: np.ndarray,
    color: str | np.ndarray,
    name: str,
    is_in_legend: bool,
) -> go.Scattergl:
    number = people.number.to_numpy()
    return go.Scattergl(
        x=positions[number, 0],
        y=positions[number, 1],
        mode="markers",
        marker={"color": color, "size": _find_size(len(positions)), "opacity": 1},
        customdata=number.astype(np.int32),
        text=[escape_text(cut_text(node, MAX_NAME)) for node in people.node],
        hovertemplate="%{text}<extra></extra>",
        name=escape_text(name),
        showlegend=is_in_legend,
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 0.25}},
    )


def _ring(place: np.ndarray, theme: Theme) -> go.Scattergl:
    return go.Scattergl(
        x=place[:1],
        y=place[1:],
        mode="markers",
        marker={"size": 22, "color": NO_FILL, "line": {"color": INKS[theme].text, "width": 2.5}},
        hoverinfo="skip",
        showlegend=False,
    )


def _find_size(num_people: int) -> float:
    for most, size in ((100, 12), (500, 9), (3_000, 6.5), (20_000, 4.5)):
        if num_people <= most:
            return size
    return 3


def _find_top(sides: Sequence[Side], by: Color) -> float:
    """Upper end of the colours: the 99 % quantile."""
    if by in GROUPED:
        return 1.0
    values = np.concatenate([find_amounts(side.people, by).to_numpy(float) for side in sides])
    values = values[np.isfinite(values)]
    return max(float(np.quantile(values, 0.99)), LEAST_SPAN) if len(values) else 1.0


def _list_groups(people: pd.DataFrame, by: Color) -> list[str]:
    """The largest groups, as many as there are colours."""
    names = people[by].astype(str)
    return list(names[names != ""].value_counts().index[: len(OKABE_ITO)])


def _bar(title: str) -> dict[str, object]:
    """A horizontal colour bar below the map."""
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


def _describe(sides: Sequence[Side]) -> str:
    first = sides[0]
    note = f"{len(first.people):,} nodes, all {len(first.edges):,} links"
    note += "; distance on the map follows distance in the graph."
    if any(side.lost is not None for side in sides):
        note += " Red: removed links; blue: added links."
    if len(sides) > 1:
        note += " Both pictures have the same layout."
    return note
