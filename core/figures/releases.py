"""What a defense does: the same subgraph before and after, and how its training went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.chart import Chart
from core.figures.theme import INKS, make_empty_figure, style_figure, wrap_text
from core.findings.palette import (
    ADDED_BLUE,
    OKABE_ITO,
    ORIGINAL_GREY,
    REMOVED_RED,
    Theme,
    escape_text,
)
from core.findings.releases import choose_sample, compute_layout, compute_link_changes
from core.graph import Graph

MAX_CURVES = 4
_TITLE_WIDTH = 15
"""Letters a line above a panel: four panels stand beside each other at 600 pixels."""

SHORT_NAMES = ("gae", "seal", "gps", "gcn")
"""Of methods, as curves are named after them."""

STATES = ("kept", "removed", "added")


def before_after(
    before: Graph,
    after: Graph,
    nodes: Sequence[int] | np.ndarray | None = None,
    titles: tuple[str, str] = ("Before", "After"),
    theme: Theme = "light",
) -> Chart:
    """The same part of two graphs side by side, in the same places.

    Links that `after` lacks are dashed red, links it adds are blue. `before` and `after` have
    the same nodes. nodes: node numbers, by default about 60 around a typical one.
    """
    chosen = choose_sample(before) if nodes is None else np.asarray(nodes, int)
    table = compute_link_changes(before, after, chosen)
    positions = compute_layout(table, chosen)
    place = dict(zip(chosen.tolist(), positions, strict=True))
    figure = make_subplots(
        1, 2, subplot_titles=[escape_text(t) for t in titles], horizontal_spacing=0.03
    )
    ink = INKS[theme]
    _add_links(figure, table[table.state != "added"], place, ORIGINAL_GREY, "solid", 1, None)
    kept, removed, added = (table[table.state == state] for state in STATES)
    _add_links(figure, kept, place, ORIGINAL_GREY, "solid", 2, f"kept ({len(kept)})")
    _add_links(figure, removed, place, REMOVED_RED, "dash", 2, f"removed ({len(removed)})")
    _add_links(figure, added, place, ADDED_BLUE, "solid", 2, f"added ({len(added)})")
    names = [escape_text(before.node_ids[node]) for node in chosen]
    for column in (1, 2):
        figure.add_scatter(
            x=positions[:, 0],
            y=positions[:, 1],
            mode="markers",
            text=names,
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
            marker={"color": ink.text, "size": 6, "line": {"width": 1, "color": ink.surface}},
            row=1,
            col=column,
        )
    style_figure(figure, theme, 420, legend={"orientation": "h", "y": -0.02, "x": 0})
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    named = table.assign(
        source=[before.node_ids[i] for i in table.source],
        target=[before.node_ids[i] for i in table.target],
    )
    note = f"{len(chosen)} of {before.num_nodes:,} nodes and the links among them; first repeat."
    return Chart(figure, named, note)


def training_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]], theme: Theme = "light"
) -> Chart:
    """A small panel per curve (their scales differ), at most four; the table has all."""
    rows = [(name, step, value) for name, points in curves.items() for step, value in points]
    table = pd.DataFrame(rows, columns=["curve", "step", "value"])
    if table.empty:
        return Chart(make_empty_figure("This method does not train.", theme), table, "")
    names = list(dict.fromkeys(table.curve))[:MAX_CURVES]
    figure = make_subplots(
        1,
        len(names),
        horizontal_spacing=0.08,
        subplot_titles=[wrap_text(_in_words(name), _TITLE_WIDTH, 2) for name in names],
    )
    for column, name in enumerate(names, start=1):
        points = table[table.curve == name]
        x, y = points.step.to_numpy(float), points.value.to_numpy(float)
        # Where the steps start anew so does another training: the line is broken.
        again = np.flatnonzero(np.diff(x) <= 0) + 1
        figure.add_scatter(
            x=np.insert(x, again, np.nan),
            y=np.insert(y, again, np.nan),
            mode="lines",
            line={"color": OKABE_ITO[0], "width": 1.8},
            showlegend=False,
            hovertemplate="step %{x}: %{y:.3g}<extra></extra>",
            row=1,
            col=column,
        )
    style_figure(figure, theme, 280)
    figure.update_layout(margin={"t": 56})
    figure.update_annotations(font={"size": 13})
    figure.update_xaxes(title_text="Step")
    return Chart(figure, table, "First repeat.")


def _add_links(
    figure: go.Figure,
    links: pd.DataFrame,
    place: dict[int, np.ndarray],
    color: str,
    dash: str,
    column: int,
    name: str | None,
) -> None:
    """One trace for all links: None breaks the line between them."""
    x: list[float | None] = []
    y: list[float | None] = []
    for source, target in links[["source", "target"]].itertuples(index=False):
        (x0, y0), (x1, y1) = place[source], place[target]
        x += [x0, x1, None]
        y += [y0, y1, None]
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        hoverinfo="skip",
        name=name or "",
        showlegend=name is not None,
        line={"color": color, "dash": dash, "width": 1.2 if color == ORIGINAL_GREY else 1.9},
        row=1,
        col=column,
    )


def _in_words(name: str) -> str:
    first, _, rest = name.replace("_", " ").partition(" ")
    return f"{first.upper() if first in SHORT_NAMES else first.capitalize()} {rest}".strip()
