"""Map of all nodes: links as a density image, nodes as WebGL points on top."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.chart import Chart, make_empty_chart
from core.figures.label_places import place_labels
from core.figures.link_image import SPAN, Drawing, encode_links
from core.figures.theme import GROUND, INKS, style_figure
from core.findings.palette import (
    ADDED_BLUE,
    NO_FILL,
    REMOVED_RED,
    UNKNOWN_GREY,
    Theme,
    amount_colorscale,
    class_marks,
    escape_text,
    risk_colorscale,
)
from core.findings.people_map import (
    GROUPED,
    MAX_COMMUNITIES,
    Color,
    Label,
    find_amounts,
    has_intervals,
)
from core.words import cut_text

HEIGHT = 600
MAX_NAME = 40
MAX_GROUPS = 12
"""Number of classes or communities that have a colour of their own on the map."""

_BAR_TITLES: dict[Color, str] = {
    "advantage": "Advantage   ← safer",
    "risk": "Risk   ← safer",
    "links": "Links of a node",
    "change": "Links changed, of those before",
}
LEAST_SPAN = 0.02
"""Smallest upper end of the colour scale."""

_CLOSE = 0.12
"""Half the side of the area shown around a node that was searched for."""


PLOT_SIZES = {1: ((640.0, 510.0), (1040.0, 510.0)), 2: ((330.0, 330.0), (498.0, 498.0))}
"""Number of pictures → size of each in pixels, at 1024 and 1440, at which no labels overlap."""


MAX_AVOIDED = 5_000
"""Points, evenly chosen among all, that labels avoid."""
LABEL_LIFT = 24
"""Pixels from the highest node of a community to the middle of its label."""


@dataclass(frozen=True, eq=False)
class Side:
    """One picture: its title, its nodes in a release, links to draw, communities to name
    (`label_communities`), and all classes of the column in its order."""

    title: str
    people: pd.DataFrame
    edges: np.ndarray
    lost: np.ndarray | None = None
    gained: np.ndarray | None = None
    labels: Sequence[Label] = ()
    classes: Sequence[str] = ()


def people_map(
    sides: Sequence[Side],
    positions: np.ndarray,
    by: Color = "advantage",
    theme: Theme = "light",
    shown: np.ndarray | None = None,
    opened: int | None = None,
    is_near: bool = False,
) -> Chart:
    """Points at `positions` (n, 2), one picture per side, zoomed together.

    people of a side: `compute_people`, in the order of the positions. The `customdata` of a point
    is its number. All links are in the image below the points; a side with lost and gained links
    shows those instead. shown: (n,) bool, nodes to draw, by default all. opened: a node to ring,
    with its links as lines and its neighbours before all others; is_near: zoom to it.
    """
    if not sides or sides[0].people.empty:
        return make_empty_chart("Nobody to draw.", theme)
    figure = _make_sides([side.title for side in sides], theme)
    marks = _mark_groups(sides[0], by) if by in GROUPED else {}
    top = _find_top(sides, by)
    is_shown = np.ones(len(positions), bool) if shown is None else shown
    for column, side in enumerate(sides, 1):
        at = {"row": 1, "col": column}
        _add_links(figure, side, positions, column)
        own = side.edges[(side.edges == opened).any(axis=1)]
        if opened is not None:
            figure.add_trace(_lines(own, positions, GROUND.text, 0.7), **at)
        people = side.people[is_shown | side.people.number.isin(own.ravel()).to_numpy()]
        for trace in _list_points(people, positions, by, marks, top, column == 1):
            if opened is not None:
                near = np.isin(trace.customdata, [*own.ravel(), opened])
                trace.selectedpoints = np.flatnonzero(near)
            figure.add_trace(trace, **at)
        if opened is not None:
            figure.add_trace(_ring(positions[opened]), **at)
        members = [side.people.number[side.people.community == c] for c, *_ in side.labels]
        places = [_find_crown(positions[each], len(sides)) for each in members]
        _add_labels(figure, side.labels, places, len(sides), column, positions[is_shown])
    _set_range(figure, positions[opened] if is_near and opened is not None else None)
    table = pd.concat([side.people[is_shown].assign(release=side.title) for side in sides])
    return Chart(figure, table.drop(columns="number"), _describe(sides, int(is_shown.sum())))


def community_map(
    communities: pd.DataFrame,
    places: np.ndarray,
    links: np.ndarray,
    by: Color = "advantage",
    theme: Theme = "light",
    labels: Sequence[Label] = (),
) -> Chart:
    """One bubble per community (`compute_communities`), its area proportional to its size.

    places  (c, 2), one row per community in the table's order; links (k, 2) row numbers of strongly
    connected ones. The `customdata` of a bubble is its community. labels: those to name.
    """
    table = communities.head(MAX_COMMUNITIES)
    if table.empty:
        return make_empty_chart("Nobody to draw.", theme, table)
    figure = _make_sides([""], theme)
    figure.add_trace(_lines(links, places, GROUND.muted, 0.35), row=1, col=1)
    size = np.sqrt(table.people.to_numpy(float))
    values = {"advantage": table["mean"], "change": table.change}.get(by, table.links)
    is_risk = by in ("advantage", "risk")
    marker = {
        "size": np.clip(64 * size / size.max(), 4, None),
        "color": values.fillna(0).to_numpy(float),
        "colorscale": _choose_scale(is_risk),
        "cmin": 0,
        "cmax": max(float(values.max()), LEAST_SPAN) if values.notna().any() else 1,
        "colorbar": _bar("Mean advantage" if is_risk else "Links a node"),
        "line": {"width": 1, "color": GROUND.muted},
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
    row = dict(zip(table.community, places, strict=False))
    named = [label for label in labels if label[0] in row]
    _add_labels(figure, named, [row[label[0]] for label in named], 1, 1, places[: len(table)])
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
        plot_bgcolor=GROUND.empty,
        modebar={"bgcolor": NO_FILL, "color": INKS[theme].muted, "activecolor": INKS[theme].text},
        margin={"l": 0, "r": 0, "t": 40 if len(titles) > 1 else 28, "b": 62},
        legend={"itemsizing": "constant", "x": 1, "xanchor": "right", "y": 0, "yanchor": "top"},
    )
    return figure


def _set_range(figure: go.Figure, focus: np.ndarray | None) -> None:
    middle = (0.0, 0.0) if focus is None else (float(focus[0]), float(focus[1]))
    half = SPAN if focus is None else _CLOSE
    figure.update_xaxes(range=[middle[0] - half, middle[0] + half])
    figure.update_yaxes(range=[middle[1] - half, middle[1] + half])


def _find_crown(places: np.ndarray, count: int) -> np.ndarray:
    """Where the label of nodes at `places` stands: above them, since it would hide some."""
    lift = LABEL_LIFT / PLOT_SIZES[count][0][1] * 2 * SPAN
    return np.array([np.median(places[:, 0]), min(places[:, 1].max() + lift, SPAN - lift)])


def _add_links(figure: go.Figure, side: Side, positions: np.ndarray, column: int) -> None:
    """The image of the side's links, or one each of lost and gained links."""
    layers = [(side.edges, GROUND.muted)]
    if side.lost is not None and side.gained is not None:
        layers = [(side.lost, REMOVED_RED), (side.gained, ADDED_BLUE)]
    for edges, color in layers:
        figure.add_layout_image(
            source=encode_links(Drawing(positions, edges, color)),
            x=-SPAN,
            y=SPAN,
            sizex=2 * SPAN,
            sizey=2 * SPAN,
            sizing="stretch",
            layer="below",
            row=1,
            col=column,
        )


def _add_labels(
    figure: go.Figure,
    labels: Sequence[Label],
    crowns: Sequence[np.ndarray],
    count: int,
    column: int,
    drawn: np.ndarray,
) -> None:
    """Names of communities with their share exposed, at these places or beside, where they cover
    the fewest of the points `drawn` (d, 2)."""
    places = np.reshape(crowns, (-1, 2))
    some = drawn[:: math.ceil(len(drawn) / MAX_AVOIDED) or 1]
    charts, dots = (
        [(each * (1, -1) + SPAN) / (2 * SPAN) * size for size in PLOT_SIZES[count]]
        for each in (places, some)
    )
    texts = ["\n".join(filter(None, words)) for _, *words in labels]
    found = place_labels(charts, texts, PLOT_SIZES[count], marker=0, dots=dots)
    for at, text, place in zip(places, texts, found, strict=True):
        if place is not None:
            name, *share = map(escape_text, text.split("\n"))
            figure.add_annotation(
                **place.anchor,
                x=float(at[0]),
                y=float(at[1]),
                text="<br>".join([f"<b>{name}</b>", *share]),
                font={"size": 12, "color": GROUND.text},
                arrowcolor=GROUND.muted if place.needs_leader else NO_FILL,
                bgcolor=GROUND.surface,
                opacity=0.85,
                borderpad=1,
                row=1,
                col=column,
            )


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
    marks: dict[str, tuple[str, str]],
    top: float,
    is_first: bool,
) -> list[go.Scattergl]:
    """Traces of the nodes: those without a value first and grey, those without an interval hollow,
    the highest on top."""
    if by in GROUPED:
        shown = people[by].astype(str).where(people[by].astype(str).isin(list(marks)), "")
        traces = [_points(people[shown == ""], positions, UNKNOWN_GREY, "other", is_first)]
        for name, (color, symbol) in marks.items():
            title = f"community {name}" if by == "community" else name
            traces.append(_points(people[shown == name], positions, color, title, is_first))
            traces[-1].marker.symbol = symbol
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
    points.marker.update(colorscale=_choose_scale(is_risk), cmin=0, cmax=top, showscale=is_first)
    if is_first:
        least = ", at least" if is_risk and has_intervals(people) else ""
        points.marker.colorbar = _bar(_BAR_TITLES[by].replace("   ", f"{least}   "))
    return [trace for trace in (*traces, points) if len(trace.x)]


def _choose_scale(is_risk: bool) -> list[list[float | str]]:
    return risk_colorscale(for_points=True) if is_risk else amount_colorscale()


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


def _ring(place: np.ndarray) -> go.Scattergl:
    return go.Scattergl(
        x=place[:1],
        y=place[1:],
        mode="markers",
        marker={"size": 22, "color": NO_FILL, "line": {"color": GROUND.text, "width": 2.5}},
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


def _mark_groups(side: Side, by: Color) -> dict[str, tuple[str, str]]:
    """Colour and symbol of the largest groups; those of a class are its own on every page."""
    sizes = side.people[by].astype(str).value_counts().drop("", errors="ignore")
    marks = class_marks([*(side.classes if by == "class" else ()), *sizes.index])
    return {name: marks[name] for name in sizes.index[:MAX_GROUPS]}


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


def _describe(sides: Sequence[Side], num_shown: int) -> str:
    first = sides[0]
    total = len(first.people)
    some = "" if num_shown == total else f"{num_shown:,} of "
    note = f"{some}{total:,} nodes, all {len(first.edges):,} links"
    note += "; communities are drawn apart, within them near is near in the graph."
    if any(text for _, _, text in first.labels):
        note += " Exposed: share of those at stake."
    if any(side.lost is not None for side in sides):
        note += " Red: removed links; blue: added links."
    if len(sides) > 1:
        note += " Both pictures have the same layout."
    return note
