"""Effect of a defense: the same subgraph before and after, and its training curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
from plotly.subplots import make_subplots

from core.audit.computing.link_sample import LinkSample
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, add_line, make_panels, style_figure, wrap_text
from core.findings.palette import (
    ADDED_BLUE,
    OKABE_ITO,
    ORIGINAL_GREY,
    REMOVED_RED,
    UNKNOWN_GREY,
    Theme,
    class_marks,
    escape_text,
)
from core.node_column import MISSING, NodeColumn

MAX_CURVES = 4
_TITLE_WIDTH = 15
"""Characters per line above a panel: four panels share 600 pixels."""

SHORT_NAMES = ("gae", "seal", "gps", "gcn")
"""Suffixes of method titles in the names of curves."""

LINK_WIDTH, PAIR_HEIGHT, NODE_SIZE = 0.8, 500, 11

STATES = {
    "kept": (ORIGINAL_GREY, LINK_WIDTH, "solid"),
    "removed": (REMOVED_RED, 1.1, "dash"),
    "added": (ADDED_BLUE, 1.3, "solid"),
}
"""State of a link → colour, width and dash."""


def before_after(
    sample: LinkSample,
    node_ids: Sequence[str],
    titles: tuple[str, str] = ("Before", "After"),
    theme: Theme = "light",
    attribute: NodeColumn | None = None,
) -> Chart:
    """The same part of two graphs side by side, with the same layout.

    Links that the graph after lacks are dashed red, links it adds are blue.

    node_ids  ids of all nodes, by number; attribute: nodes have the colours of their classes
    """
    chosen, table = sample.nodes, sample.changes
    positions = _place_nodes(table, chosen)
    place = dict(zip(chosen.tolist(), positions, strict=True))
    figure = make_panels(titles, shared_yaxes=False)
    ink = INKS[theme]
    x, y = _trace_links(table[table.state != "added"], place)
    add_line(figure, x, y, ORIGINAL_GREY, LINK_WIDTH, row=1, col=1)
    for state, (color, width, dash) in STATES.items():
        links = table[table.state == state]
        x, y = _trace_links(links, place)
        add_line(figure, x, y, color, width, dash, f"{state} ({len(links)})", row=1, col=2)
    groups = _mark_nodes(chosen, attribute, ink.text)
    for column, (name, color, symbol, own) in product((1, 2), groups):
        figure.add_scatter(
            x=positions[own, 0],
            y=positions[own, 1],
            mode="markers",
            name=escape_text(name),
            text=[escape_text(node_ids[node]) for node in chosen[own]],
            hovertemplate="%{text}<extra>%{fullData.name}</extra>",
            showlegend=bool(name) and column == 1,
            marker={
                "color": color,
                "symbol": symbol,
                "size": NODE_SIZE,
                "line": {"width": 1, "color": ink.surface},
            },
            row=1,
            col=column,
        )
    title = _describe_changes(table, len(chosen))
    style_figure(figure, theme, PAIR_HEIGHT, title, legend={"y": -0.02, "yanchor": "top"})
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    named = table.assign(
        source=[node_ids[i] for i in table.source], target=[node_ids[i] for i in table.target]
    )
    note = f"{len(chosen)} of {len(node_ids):,} nodes and the links among them; first repeat."
    return Chart(figure, named, note)


def _mark_nodes(
    nodes: np.ndarray, attribute: NodeColumn | None, ink: str
) -> list[tuple[str, str, str, np.ndarray]]:
    """Name, colour, symbol and places among `nodes` of each group of them; "" is no column."""
    if attribute is None:
        return [("", ink, "circle", np.arange(len(nodes)))]
    codes = attribute.codes[nodes]
    marks = {MISSING: ("unknown", (UNKNOWN_GREY, "circle"))}
    marks |= dict(enumerate(class_marks(attribute.classes).items()))
    return [(marks[c][0], *marks[c][1], np.flatnonzero(codes == c)) for c in np.unique(codes)]


def _place_nodes(changes: pd.DataFrame, nodes: np.ndarray) -> np.ndarray:
    """(k, 2) positions of `nodes` by the links before and after together; deterministic."""
    import networkx as nx

    union = nx.Graph()
    union.add_nodes_from(nodes.tolist())
    union.add_edges_from(changes[["source", "target"]].itertuples(index=False, name=None))
    placed = nx.spring_layout(union, seed=0, iterations=120, k=1.6 / np.sqrt(max(len(nodes), 1)))
    return np.array([placed[node] for node in nodes.tolist()])


def _describe_changes(table: pd.DataFrame, num_nodes: int) -> str:
    """Number of links that the release removes and adds in the drawn part."""
    count = table.state.value_counts().reindex(STATES, fill_value=0)
    if not count.removed and not count.added:
        return f"The release changes no link among these {num_nodes} nodes"
    links = count.kept + count.removed
    return (
        f"Of {links} links among these {num_nodes} nodes, the release removes {count.removed} "
        f"and adds {count.added}"
    )


def training_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]], theme: Theme = "light"
) -> Chart:
    """One small panel per curve, since scales differ, at most four; the table has all."""
    rows = [(name, step, value) for name, points in curves.items() for step, value in points]
    table = pd.DataFrame(rows, columns=["curve", "step", "value"])
    if table.empty:
        return make_empty_chart("This method does not train.", theme, table)
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
        add_line(
            figure,
            np.insert(x, again, np.nan),
            np.insert(y, again, np.nan),
            OKABE_ITO[0],
            1.8,
            hovertemplate="step %{x}: %{y:.3g}<extra></extra>",
            row=1,
            col=column,
        )
    style_figure(figure, theme, 280)
    figure.update_layout(margin={"t": 56})
    figure.update_annotations(font={"size": 13})
    figure.update_xaxes(title_text="Step")
    return Chart(figure, table, "First repeat.")


def _trace_links(
    links: pd.DataFrame, place: dict[int, np.ndarray]
) -> tuple[list[float | None], list[float | None]]:
    """x and y of all links as one line, separated by None."""
    x: list[float | None] = []
    y: list[float | None] = []
    for source, target in links[["source", "target"]].itertuples(index=False):
        (x0, y0), (x1, y1) = place[source], place[target]
        x += [x0, x1, None]
        y += [y0, y1, None]
    return x, y


def _in_words(name: str) -> str:
    first, _, rest = name.replace("_", " ").partition(" ")
    return f"{first.upper() if first in SHORT_NAMES else first.capitalize()} {rest}".strip()
