"""Per-node exposure: heatmap of nodes by attacks, distributions and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo, list_names, list_short_titles
from core.audit.results.node_risks import NodeRisks
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import (
    INKS,
    add_line,
    add_rule,
    error_bars,
    make_panels,
    shorten_names,
    style_figure,
)
from core.findings.exposure import count_exposed
from core.findings.numbers import format_number
from core.findings.palette import Theme, escape_text, release_color, release_symbol, risk_colorscale
from core.findings.risk import SCALE_TITLES, Group, Scale, compute_group_risk, compute_risk_shares
from core.measures.node_risk import ADVANTAGE_LIMIT
from core.words import count_noun, format_percent

MAX_CELLS = 10_000
"""Cells per panel; each is a transparent marker that can be clicked."""

LABEL_PX, MARGINS_PX = 26, 150
"""Height of a row's label, and of what surrounds the rows."""
MAX_NAMED_ROWS = 50
"""Number of rows up to which node ids are shown beside them; more are numbered by rank."""

MAX_TITLE = 30
MAX_LETTERS = 84
"""Characters on one line of names at 1024 pixels; longer names are slanted."""

MIN_ROW_PIXELS = 2.0
TOP_SHARE = 0.99
"""Quantile of the cells at which the colours end, so that one outlier does not pale the rest."""

LEAST_SPAN = 0.02
_GROUP_TITLES: dict[Group, str] = {
    "degree": "Number of links",
    "class": "Class",
    "community": "Community",
}
_NOUNS: dict[Scale, str] = {"risk": "a risk", "advantage": "an advantage"}


def risk_heatmap(
    tables: Mapping[ReleaseInfo, pd.DataFrame],
    by: Scale = "advantage",
    theme: Theme = "light",
    height: int = 560,
    ranks: tuple[int, int] | None = None,
    max_cells: int = MAX_CELLS,
) -> Chart:
    """One panel per release: the same nodes in the same order, attacks as columns, one scale.

    tables  release → `compute_heatmap` of the same nodes in the same order, original first
    ranks   only these ranks (first, last; from 1): few enough of them have one row each
    The scale is fitted to the cells shown. With more nodes than rows, neighbouring ranks share a
    row that shows their mean. Transparent markers over the cells make them clickable; the
    `customdata` of each is [node, attack, first rank, last rank] (node: the first of the row).
    Empty cells: the node is not at stake under that attack.
    """
    shown = {release: table for release, table in tables.items() if len(table)}
    if ranks is not None:
        shown = {r: table[table["rank"].between(*ranks)] for r, table in shown.items()}
        shown = {release: table for release, table in shown.items() if len(table)}
    if not shown:
        return make_empty_chart("No node risk yet.", theme)
    attacks = list(
        dict.fromkeys(c for t in shown.values() for c in t.columns if isinstance(c, Attack))
    )
    num_nodes = max(map(len, shown.values()))
    num_rows = int(min(max_cells // len(attacks), height / MIN_ROW_PIXELS, num_nodes))
    panels = {release: _bin_rows(table, attacks, num_rows) for release, table in shown.items()}
    low, top, is_cut = _fit_scale([panel["values"] for panel in panels.values()], by)
    names = list_short_titles(tables)
    figure = make_panels([names[release.id] for release in panels], horizontal_spacing=0.03)
    titles = [escape_text(attack.title) for attack in attacks]
    for column, panel in enumerate(panels.values(), start=1):
        at = {"row": 1, "col": column}
        figure.add_trace(
            go.Heatmap(
                z=panel["values"],
                x=titles,
                y=np.arange(num_rows),
                coloraxis="coloraxis",
                hoverinfo="skip",
                xgap=1,
                ygap=1.0 if num_rows <= 80 else 0.0,
            ),
            **at,
        )
        figure.add_trace(_make_click_targets(panel, titles, attacks, height), **at)
    _style_heatmap(figure, panels, theme, height, _describe_exposed(shown, by))
    heads = [
        escape_text(head) for head in shorten_names((attack.title for attack in attacks), MAX_TITLE)
    ]
    letters = len(panels) * len(heads) * max(map(len, heads))
    figure.update_xaxes(
        range=[-0.5, len(titles) - 0.5],
        showgrid=False,
        tickangle=-60 if letters > MAX_LETTERS else 0,
        tickfont={"color": INKS[theme].text},
        tickvals=titles,
        ticktext=heads,
    )
    ends = [low, (low + top) / 2, top]
    marks = [format_number(low), f"{ends[1]:.2f}", format_number(top)]
    figure.update_layout(
        coloraxis={
            "cmin": low,
            "cmax": top,
            "colorscale": risk_colorscale(theme),
            "colorbar": {
                "title": {"text": SCALE_TITLES[by], "side": "right"},
                "thickness": 12,
                "len": 0.6,
                "y": 1,
                "yanchor": "top",
                "tickvals": ends,
                "ticktext": [*marks[:-1], f"{marks[-1]} or more" if is_cut else marks[-1]],
                "outlinewidth": 0,
            },
        }
    )

    def join() -> pd.DataFrame:
        tables = [t.assign(release=r.id) for r, t in shown.items()]
        return pd.concat(tables, ignore_index=True).rename(columns={a: a.id for a in attacks})

    return Chart(figure, join, _describe_rows(max(shown.values(), key=len), num_rows, len(attacks)))


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


def _style_heatmap(
    figure: go.Figure,
    panels: Mapping[ReleaseInfo, dict[str, np.ndarray]],
    theme: Theme,
    height: int,
    title: str,
) -> None:
    first = next(iter(panels.values()))
    num_rows, nodes = len(first["values"]), first["node"]
    style_figure(figure, theme, height, title, showlegend=False)
    # No cut-off: a click anywhere in a wide cell finds the marker at its centre.
    figure.update_layout(
        plot_bgcolor=INKS[theme].empty,
        clickmode="event+select",
        hoverdistance=-1,
        hovermode="closest",
    )
    is_named = num_rows <= MAX_NAMED_ROWS and bool((first["first"] == first["last"]).all())
    room = max((height - MARGINS_PX) // LABEL_PX, 2)
    count = min(num_rows, room if is_named else 8)
    at = np.unique(np.linspace(0, num_rows - 1, count).round().astype(int))
    texts = [f"{first['first'][i]:,}" for i in at]
    if is_named:
        texts = shorten_names([str(nodes[i]) for i in at], 16)
    figure.update_yaxes(range=[num_rows - 0.5, -0.5], showgrid=False)
    figure.update_yaxes(
        tickvals=at,
        ticktext=[escape_text(text) for text in texts],
        title_text="" if is_named else "Rank, most surely exposed first",
        row=1,
        col=1,
    )


def _describe_exposed(tables: Mapping[ReleaseInfo, pd.DataFrame], by: Scale) -> str:
    """ "At least 12 of 400 exposed on Original, 3 on Random deletion"; "Likely 12 …" where no node
    has an interval."""
    names = list_names(tables)
    if by == "risk":
        means = {release: table.headline.mean() for release, table in tables.items()}
        parts = [f"{format_number(mean)} on {names[r.id]}" for r, mean in means.items()]
        return f"Mean risk: {', '.join(parts)}"
    found = {release: count_exposed(t.headline, t.sure) for release, t in tables.items()}
    is_sure = any(one.few < one.at_stake for one in found.values())
    start, parts = "Likely ", []
    if is_sure:
        start = "" if all(one.is_settled for one in found.values()) else "At least "
    for release, one in found.items():
        of = "" if parts else f" of {one.at_stake:,} exposed"
        parts.append(f"{one.sure if is_sure else one.likely:,}{of} on {names[release.id]}")
    return f"{start}{', '.join(parts)}"


def _describe_rows(table: pd.DataFrame, num_rows: int, num_attacks: int) -> str:
    num_nodes = len(table)
    nodes, attacks = count_noun(num_nodes, "node"), count_noun(num_attacks, "attack")
    note = f"{nodes} at stake, {attacks}, mean over repeats."
    few = int((table.headline.notna() & table.sure.isna()).sum())
    if 0 < few < num_nodes:
        note += f" {few:,} of them, tested in one split, have no interval and come last."
    if num_rows < num_nodes:
        note += f" Each of the {num_rows:,} rows is the mean of nodes of similar rank."
    return f"{note} Empty: not at stake under that attack."


def risk_distribution(
    nodes: NodeRisks,
    releases: Sequence[str] | None = None,
    theme: Theme = "light",
    by: Scale = "advantage",
) -> Chart:
    """Share of the nodes with a headline value of at least x, one line per release."""
    table = compute_risk_shares(nodes, releases, by=by)
    if table.empty:
        return make_empty_chart("No node risk yet.", theme, table)
    made = [nodes.made[release] for release in nodes.releases]
    colors, names = release_color(made), list_short_titles(made)
    figure = go.Figure()
    for release, rows in table.groupby("release", sort=False):
        add_line(
            figure,
            rows.threshold,
            100 * rows.share,
            colors[str(release)],
            2.2,
            name=names[str(release)],
            hovertemplate=f"%{{y:.3~g}} % of the nodes have {_NOUNS[by]} of %{{x:.2f}} or more"
            "<extra>%{fullData.name}</extra>",
        )
    style_figure(figure, theme, 340, _describe_shares(table, names, by))
    reached = table[table.share > 0].threshold.max()
    top = float(min(max(1.08 * reached, 0.1), 1.0))  # where the last curve reaches nothing
    figure.update_xaxes(title_text=f"{SCALE_TITLES[by]}   ← safer", range=[0, top])
    figure.update_yaxes(ticksuffix=" %", title_text="Nodes at or above   ↓ safer", range=[0, 102])
    if by == "advantage" and top > ADVANTAGE_LIMIT:
        exposed = {"text": "exposed", "yanchor": "bottom"}
        add_rule(figure, theme, "dash", x=ADVANTAGE_LIMIT, annotation=exposed)
    note = (
        f"{_count_at_stake(nodes):,} nodes at stake, by the headline attacker, chosen without "
        "access to their true values; mean over repeats."
    )
    return Chart(figure, table, note)


def _count_at_stake(nodes: NodeRisks) -> int:
    """Nodes at stake under any attack, on the release with most of them."""
    is_there = {release: np.zeros(len(nodes.names), bool) for release in nodes.releases}
    for (release, _), part in nodes.parts.items():
        is_there[release][part.nodes] = True
    return max(int(found.sum()) for found in is_there.values())


def _describe_shares(table: pd.DataFrame, names: Mapping[str, str], by: Scale) -> str:
    level = ADVANTAGE_LIMIT if by == "advantage" else 0.8
    rows = table[(table.threshold - level).abs() < 1e-9]
    parts = [f"{format_percent(row.share)} on {names[row.release]}" for row in rows.itertuples()]
    return f"Nodes with {_NOUNS[by]} of {level:g} or more: {', '.join(parts)}"


def risk_by_group(
    nodes: NodeRisks,
    profile: pd.DataFrame,
    by: Group,
    releases: Sequence[str] | None = None,
    theme: Theme = "light",
    scale: Scale = "advantage",
) -> Chart:
    """Mean risk or advantage per degree range, class or community.

    Groups are those of the original graph, so that releases compare the same nodes.
    """
    table = compute_group_risk(nodes, profile, by, releases, scale)
    if table.empty:
        return make_empty_chart(f"No {by} known for the nodes.", theme, table)
    made = [nodes.made[release] for release in nodes.releases]
    colors, symbols = release_color(made), release_symbol(made)
    groups, names = list(dict.fromkeys(table.group)), list_short_titles(made)
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
            error_y=error_bars(rows.value, rows.low, rows.high),
            customdata=np.stack([rows.group.astype(str), rows.n.astype(str)], axis=1),
            hovertemplate="%{customdata[0]}: %{y:.2f} (%{customdata[1]} nodes)"
            "<extra>%{fullData.name}</extra>",
        )
    style_figure(figure, theme, 340, _describe_groups(table, nodes.made[found[0]], by, scale))
    figure.update_xaxes(
        title_text=_GROUP_TITLES[by],
        tickvals=list(range(len(groups))),
        showgrid=False,
        ticktext=[escape_text(text) for text in shorten_names(groups, 16)],
    )
    figure.update_yaxes(title_text=f"Mean {SCALE_TITLES[scale].lower()}   ↓ safer")
    if scale == "risk":
        figure.update_yaxes(range=[0, 1.02])
    note = (
        "Mean over the group's nodes with a 95 % interval (1.96 standard errors over nodes); "
        "groups of the original graph."
    )
    return Chart(figure, table, note)


def _describe_groups(table: pd.DataFrame, made: ReleaseInfo, by: Group, scale: Scale) -> str:
    """The group of a release whose interval is above another group's."""
    rows = table[(table.release == made.id) & table.low.notna()]
    what, where = SCALE_TITLES[scale].lower(), made.title
    if len(rows) > 1:
        most, least = rows.loc[rows.value.idxmax()], rows.loc[rows.value.idxmin()]
        if most.low > least.high:
            named = f"{most.group} links" if by == "degree" else f"{by} {most.group}"
            return (
                f"{where}: mean {what} is {format_number(most.value)} for {named}, "
                f"{format_number(least.value)} for {least.group}"
            )
    return f"{where}: no group's mean {what} is clearly above another's"


def _bin_rows(table: pd.DataFrame, attacks: list[Attack], num_rows: int) -> dict[str, np.ndarray]:
    """Values (rows, attacks), the first and last rank of each row, and its first node."""
    values = table.reindex(columns=attacks).to_numpy(float)
    num_rows = min(len(values), num_rows)
    starts = np.linspace(0, len(values), num_rows + 1).astype(int)
    if num_rows == len(values):
        binned = values
    else:
        known = ~np.isnan(values)
        total = np.add.reduceat(np.where(known, values, 0.0), starts[:-1])
        count = np.add.reduceat(known.astype(float), starts[:-1])
        binned = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    ranks = table["rank"].to_numpy()
    return {
        "values": binned,
        "first": ranks[starts[:-1]],
        "last": ranks[starts[1:] - 1],
        "node": table.node.iloc[starts[:-1]].to_numpy(object),
    }


def _make_click_targets(
    panel: dict[str, np.ndarray], titles: list[str], attacks: list[Attack], height: int
) -> go.Scattergl:
    """Transparent markers over the cells, since heatmap clicks never reach Streamlit."""
    values, first, last, nodes = (panel[key] for key in ("values", "first", "last", "node"))
    row, column = np.nonzero(~np.isnan(values))
    label = [
        escape_text(node) if a == b else f"ranks {a:,} to {b:,}"
        for node, a, b in zip(nodes, first, last, strict=True)
    ]
    # Arrays, because Plotly checks lists element by element.
    customdata = np.empty((len(row), 4), object)
    customdata[:, 0] = nodes[row]
    customdata[:, 1] = np.array([attack.id for attack in attacks], object)[column]
    customdata[:, 2], customdata[:, 3] = first[row].tolist(), last[row].tolist()
    texts = [
        f"{label[i]}<br>{titles[j]}: {values[i, j]:.2f}"
        for i, j in zip(row.tolist(), column.tolist(), strict=True)
    ]
    return go.Scattergl(
        x=np.array(titles, object)[column],
        y=row,
        mode="markers",
        name="",
        marker={
            "size": float(np.clip(0.8 * height / len(values), 3, 14)),
            "symbol": "square",
            "color": "rgba(0,0,0,0)",
        },
        customdata=customdata,
        text=np.array(texts, object),
        hovertemplate="%{text}<extra></extra>",
    )
