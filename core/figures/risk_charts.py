"""Exposure of the nodes together: distributions and groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.audit.asked.release_info import ReleaseInfo, list_short_titles
from core.audit.results.node_risks import NodeRisks
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import add_line, add_rule, error_bars, shorten_names, style_figure
from core.findings.link_changes import COMMUNITIES_LATER
from core.findings.numbers import format_number
from core.findings.palette import Theme, escape_text, release_color, release_symbol
from core.findings.risk import SCALE_TITLES, Group, Scale, compute_group_risk, compute_risk_shares
from core.measures.node_risk import ADVANTAGE_LIMIT
from core.words import format_percent

_GROUP_TITLES: dict[Group, str] = {
    "degree": "Number of links",
    "class": "Class",
    "community": "Community",
}
_NOUNS: dict[Scale, str] = {"risk": "a risk", "advantage": "an advantage"}


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
    communities: np.ndarray | None = None,
) -> Chart:
    """Mean risk or advantage per degree range, class or community.

    Groups are those of the original graph, so that releases compare the same nodes.
    """
    table = compute_group_risk(nodes, profile, by, releases, scale, communities)
    if table.empty:
        is_late = by == "community" and communities is None and not nodes.is_empty
        reason = COMMUNITIES_LATER if is_late else f"No {by} known for the nodes."
        return make_empty_chart(reason, theme, table)
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
