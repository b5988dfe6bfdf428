"""Who is exposed: the heatmap of nodes by attacks, distributions, groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.chart import Chart
from core.figures.theme import INKS, make_empty_figure, style_figure
from core.findings.labels import method_title, short_titles
from core.findings.palette import (
    Theme,
    escape_text,
    release_color,
    release_symbol,
    risk_colorscale,
)
from core.findings.risk import (
    SCALE_TITLES,
    Group,
    Scale,
    compute_group_risk,
    compute_heatmap,
    compute_risk_shares,
)
from core.findings.tables import list_releases

MAX_CELLS = 10_000


MAX_TITLE = 26
MAX_LETTERS = 21
"""Of all attacks' names together; more of them do not fit beside each other at 1024 pixels."""

_NOUNS: dict[Scale, str] = {"risk": "a risk", "advantage": "an advantage over them"}


def risk_heatmap(
    nodes: pd.DataFrame,
    release: str,
    attacks: Sequence[str] | None = None,
    max_cells: int = MAX_CELLS,
    theme: Theme = "light",
    height: int = 620,
    by: Scale = "advantage",
    order: Sequence[str] | None = None,
    table: pd.DataFrame | None = None,
) -> Chart:
    """Nodes of one release by the headline attacker's risk or advantage, attacks as columns.

    Above `max_cells`, or more rows than pixels, neighbouring ranks share a row that shows their
    mean. Invisible markers
    over the cells make them clickable; the `customdata` of each is
    [node, attack, first rank, last rank] (ranks from 1; node: the most exposed one of the row).
    Grey cells: nothing at stake for that node under that attack.
    order: the rows, to show two releases alike; by default the most exposed node comes first.
    table: `compute_heatmap` of these arguments where it is known; it has a row per node: rank,
    node, headline, attack, then one column an attack.
    """
    if table is None:
        table = compute_heatmap(nodes, release, attacks, by, order)
    if table.empty:
        return Chart(make_empty_figure("No node risk on this release yet.", theme), table, "")
    columns = [c for c in table.columns if c not in ("rank", "node", "headline", "attack")]
    rows = _bin_rows(table, columns, min(max_cells, height * len(columns)))
    values, first, last = rows["values"], rows["first"], rows["last"]
    titles = [escape_text(method_title(attack)) for attack in columns]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=titles,
            y=np.arange(len(values)),
            zmin=0,
            zmax=1,
            colorscale=risk_colorscale(),
            hoverinfo="skip",
            xgap=2,
            ygap=_row_gap(len(values)),
            colorbar={
                "title": {"text": "Risk" if by == "risk" else "Advantage"},
                "thickness": 12,
                "len": 0.5,
                "y": 1,
                "yanchor": "top",
                "tickvals": [0, 0.25, 0.5, 0.75, 1],
                "outlinewidth": 0,
            },
        )
    )
    size = float(np.clip(0.8 * height / len(values), 3, 14))
    _add_click_targets(figure, values, titles, columns, table.node.to_numpy(), first, last, size)
    ink = INKS[theme]
    shown = [_shorten(method_title(a), MAX_TITLE) for a in columns]
    style_figure(figure, theme, height, showlegend=False)
    # No cut-off: a click anywhere in a wide cell finds the marker at its centre.
    figure.update_layout(
        plot_bgcolor=ink.empty, clickmode="event+select", hoverdistance=-1, hovermode="closest"
    )
    figure.update_xaxes(
        side="top",
        range=[-0.5, len(titles) - 0.5],
        showgrid=False,
        tickangle=-60 if sum(map(len, shown)) > MAX_LETTERS else 0,
        tickfont={"color": ink.text},
        tickvals=titles,
        ticktext=[escape_text(name) for name in shown],
    )
    at = np.unique(np.linspace(0, len(values) - 1, min(len(values), 8)).round().astype(int))
    figure.update_yaxes(
        range=[len(values) - 0.5, -0.5],
        showgrid=False,
        tickvals=at,
        ticktext=[f"{first[i]:,}" for i in at],
        title_text="People, the most exposed on top"
        if order is None
        else "People, in the order of the table",
    )
    note = f"{len(table):,} nodes with something at stake, {len(columns)} attacks; "
    if len(values) < len(table):
        note += f"each row is the mean of about {len(table) / len(values):.0f} nodes; "
    note += "mean over repeats. Grey: nothing at stake for the node under that attack."
    return Chart(figure, table, note)


def risk_distribution(
    nodes: pd.DataFrame,
    releases: Sequence[str] | None = None,
    theme: Theme = "light",
    by: Scale = "advantage",
) -> Chart:
    """Share of the nodes on whom the headline attacker reaches at least x, a line per release."""
    table = compute_risk_shares(nodes, releases, by=by)
    if table.empty:
        return Chart(make_empty_figure("No node risk yet.", theme), table, "")
    colors = release_color(list_releases(nodes))
    names = short_titles(colors)
    figure = go.Figure()
    for release, rows in table.groupby("release", sort=False):
        figure.add_scatter(
            x=rows.threshold.to_numpy(),
            y=rows.share.to_numpy(),
            mode="lines",
            name=escape_text(names[str(release)]),
            line={"color": colors[str(release)], "width": 2.2},
            hovertemplate=f"%{{y:.1%}} of the nodes have {_NOUNS[by]} of %{{x:.2f}} or more"
            "<extra>%{fullData.name}</extra>",
        )
    style_figure(figure, theme, 340)
    figure.update_xaxes(title_text=f"{SCALE_TITLES[by]}   ← safer", range=[0, 1])
    figure.update_yaxes(title_text="Nodes at or above   ↓ safer", range=[0, 1.02], tickformat=".0%")
    counts = nodes[nodes.risk.notna()].groupby("release").node.nunique()
    note = (
        f"{counts.max():,} nodes with something at stake, by the attacker who was chosen without "
        "seeing their truth; mean over repeats."
    )
    return Chart(figure, table, note)


def risk_by_group(
    nodes: pd.DataFrame,
    profile: pd.DataFrame,
    by: Group,
    releases: Sequence[str] | None = None,
    theme: Theme = "light",
    scale: Scale = "advantage",
) -> Chart:
    """Mean risk or advantage of the nodes of each degree range, class or community.

    Groups are those of the original graph, so that releases compare the same people.
    """
    table = compute_group_risk(nodes, profile, by, releases, scale)
    if table.empty:
        return Chart(make_empty_figure(f"No {by} known for the nodes.", theme), table, "")
    everything = list_releases(nodes)
    colors, symbols = release_color(everything), release_symbol(everything)
    groups, names = list(dict.fromkeys(table.group)), short_titles(everything)
    found = list(dict.fromkeys(table.release))
    figure = go.Figure()
    for index, release in enumerate(found):
        rows = table[table.release == release]
        shift = (index - (len(found) - 1) / 2) * min(0.6 / len(found), 0.16)
        figure.add_scatter(
            x=rows.group.map(groups.index).to_numpy() + shift,
            y=rows.value.to_numpy(),
            mode="markers",
            name=escape_text(names[release]),
            marker={"color": colors[release], "symbol": symbols[release], "size": 9},
            error_y={
                "type": "data",
                "array": (rows.high - rows.value).fillna(0).to_numpy(),
                "arrayminus": (rows.value - rows.low).fillna(0).to_numpy(),
                "thickness": 1.3,
                "width": 3,
            },
            customdata=np.stack([rows.group.astype(str), rows.n.astype(str)], axis=1),
            hovertemplate="%{customdata[0]}: %{y:.2f} (%{customdata[1]} nodes)"
            "<extra>%{fullData.name}</extra>",
        )
    style_figure(figure, theme, 340)
    titles = {"degree": "Number of links", "class": "Class", "community": "Community"}
    figure.update_xaxes(
        title_text=titles[by],
        tickvals=list(range(len(groups))),
        showgrid=False,
        ticktext=[escape_text(_shorten(group)) for group in groups],
    )
    figure.update_yaxes(title_text=f"Mean {SCALE_TITLES[scale].lower()}   ↓ safer")
    if scale == "risk":
        figure.update_yaxes(range=[0, 1.02])
    note = (
        "Mean over the group's nodes with a 95 % interval (1.96 standard errors over nodes); "
        "groups of the original graph."
    )
    return Chart(figure, table, note)


def _bin_rows(table: pd.DataFrame, columns: list[str], max_cells: int) -> dict[str, np.ndarray]:
    """Values (rows, attacks) and the first and last rank of each row."""
    values = table[columns].to_numpy(float)
    num_rows = min(len(values), max(max_cells // len(columns), 1))
    starts = np.linspace(0, len(values), num_rows + 1).astype(int)
    if num_rows == len(values):
        binned = values
    else:
        known = ~np.isnan(values)
        total = np.add.reduceat(np.where(known, values, 0.0), starts[:-1])
        count = np.add.reduceat(known.astype(float), starts[:-1])
        binned = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    return {"values": binned, "first": starts[:-1] + 1, "last": starts[1:]}


def _add_click_targets(
    figure: go.Figure,
    values: np.ndarray,
    titles: list[str],
    attacks: list[str],
    nodes: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    size: float,
) -> None:
    """A heatmap's clicks never reach Streamlit: transparent markers over its cells do."""
    row, column = np.nonzero(~np.isnan(values))
    label = [
        escape_text(nodes[first[i] - 1])
        if first[i] == last[i]
        else f"ranks {first[i]:,} to {last[i]:,}"
        for i in range(len(values))
    ]
    # Arrays, because Plotly checks lists element by element.
    customdata = np.empty((len(row), 4), object)
    customdata[:, 0] = nodes[first[row] - 1]
    customdata[:, 1] = np.array(attacks, object)[column]
    customdata[:, 2], customdata[:, 3] = first[row].tolist(), last[row].tolist()
    texts = [
        f"{label[i]}<br>{titles[j]}: {values[i, j]:.2f}"
        for i, j in zip(row.tolist(), column.tolist(), strict=True)
    ]
    figure.add_scattergl(
        x=np.array(titles, object)[column],
        y=row,
        mode="markers",
        name="",
        marker={"size": size, "symbol": "square", "color": "rgba(0,0,0,0)"},
        customdata=customdata,
        text=np.array(texts, object),
        hovertemplate="%{text}<extra></extra>",
    )


def _row_gap(num_rows: int) -> float:
    return 1.0 if num_rows <= 80 else 0.0


def _shorten(text: str, limit: int = 16) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
