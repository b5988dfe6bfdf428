"""GHRatios against the class share (GPS Eq. 3–5, Fig. 2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.audit.asked.release_info import list_short_titles
from core.audit.results.view import AuditView
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import INKS, add_line, add_rule, error_bars, style_figure, title_panel
from core.findings.homophily import (
    MECHANISMS,
    NUM_BINS,
    STEP,
    WHO,
    compute_ghratio_histogram,
    compute_reference_share,
    describe_gps,
    list_classes,
)
from core.findings.palette import (
    OKABE_ITO,
    SYMBOLS,
    Theme,
    class_marks,
    escape_text,
    fade,
    release_color,
)
from core.findings.tables import list_releases, select_release
from core.release import ORIGINAL

MAX_POINTS = 20_000
PANEL_PX = 120
MAX_IN_A_ROW = 8
"""Number of classes up to which the legend is above the picture, else beside it."""


def ghratio_distributions(
    view: AuditView, releases: Sequence[str] | None = None, theme: Theme = "light"
) -> Chart:
    """The three GHRatios below each other on one axis, so that each is as wide as the page; the
    original and releases over each other, filled.

    The dashed line, named in the first panel, is the mean class share: the expected ratio without
    homophily.
    """
    profile = view.profile
    table = compute_ghratio_histogram(profile, releases)
    if table.empty:
        return make_empty_chart("No homophily ratios yet.", theme, table)
    made = [view.get_release(release) for release in list_releases(profile)]
    colors, titles = release_color(made), list_short_titles(made)
    shown = [name for name in MECHANISMS if name in set(table.mechanism)]
    figure = make_subplots(len(shown), 1, shared_xaxes=True, vertical_spacing=0.13)
    share = compute_reference_share(profile)
    for row, name in enumerate(shown, start=1):
        for release, rows in table[table.mechanism == name].groupby("release", sort=False):
            # Half a bin at either end, so that the first and the last are drawn as wide as others.
            rows = rows.iloc[[0, *range(len(rows)), -1]].reset_index(drop=True)
            rows.loc[[0, len(rows) - 1], "ratio"] = 0.0, 1.0
            is_original = release == ORIGINAL
            add_line(
                figure,
                rows.ratio,
                100 * rows.share,
                colors[str(release)],
                2,
                name=titles[str(release)],
                legendgroup=str(release),
                showlegend=row == 1,
                line={"shape": "hvh"},
                fill="tozeroy",
                fillcolor=fade(colors[str(release)], 0.55 if is_original else 0.25),
                hovertemplate="ratio about %{x:.2f}: %{y:.3~g} % of the nodes"
                "<extra>%{fullData.name}</extra>",
                row=row,
                col=1,
            )
        chance = {"text": f"chance {share:.2f}", "yanchor": "bottom"} if row == 1 else None
        add_rule(figure, theme, "dash", x=share, row=row, col=1, annotation=chance)
    style_figure(figure, theme, PANEL_PX * len(shown) + 120, _describe_ratios(profile))
    figure.update_layout(legend={"y": 1.08}, margin={"t": figure.layout.margin.t + 26})
    for row, name in enumerate(shown, start=1):
        title_panel(figure, row, MECHANISMS[name], theme, 0, "bottom")
    figure.update_xaxes(range=[0, 1])
    axis = "Share of own class among them, safest at chance"
    figure.update_xaxes(title_text=axis, row=len(shown), col=1)
    figure.update_yaxes(ticksuffix=" %", rangemode="tozero", nticks=4)
    known = profile.release[profile.ghratio_combined.notna()].value_counts()  # one row a node
    note = (
        f"Nodes whose value and peers are known ({int(known.max()) if len(known) else 0:,}), "
        f"share in each of {NUM_BINS} bins, first repeat's releases. "
        f"Dashed: mean class share {share:.2f}."
    )
    return Chart(figure, table, note)


def gps_gains(gains: pd.DataFrame, theme: Theme = "light") -> Chart:
    """Mean advantage of GPS by the nodes' homophily beyond chance (`compute_gps_gains`), a line for
    each mechanism that it routes by."""
    if gains.empty:
        return make_empty_chart("GPS was not run on the original.", theme, gains)
    figure = go.Figure()
    for (key, who), color, symbol in zip(WHO.items(), OKABE_ITO, SYMBOLS, strict=False):
        rows = gains[gains.mechanism == key]
        figure.add_scatter(
            x=rows.excess,
            y=rows.value,
            error_y=error_bars(rows.value, rows.low, rows.high, color=color),
            mode="lines+markers",
            name=who,
            line={"color": color, "width": 2},
            marker={"size": 9, "symbol": symbol},
            customdata=rows.n,
            hovertemplate="excess about %{x:.1f}: advantage %{y:.2f}, %{customdata:,} nodes"
            "<extra>%{fullData.name}</extra>",
        )
    style_figure(figure, theme, 360, describe_gps(gains))
    add_rule(figure, theme, "dot", y=0.0, annotation={"text": "base rate", "yanchor": "bottom"})
    add_rule(figure, theme, "dash", x=0.0, annotation={"text": "chance", "yanchor": "bottom"})
    figure.update_xaxes(title_text="Share of own class among them, less the class share")
    figure.update_yaxes(title_text="Mean advantage   ↓ safer", nticks=6)
    note = f"Original, nodes at stake in steps of {STEP:g}; bars: 95 % intervals over nodes."
    return Chart(figure, gains, note)


def _describe_ratios(profile: pd.DataFrame) -> str:
    """Number of nodes on the original that are more like their neighbours than by chance; like
    their role peers where no neighbour has a value."""
    original = select_release(profile, ORIGINAL)
    for key, who in WHO.items():
        ratios = original[f"ghratio_{key}"]
        count, near = int(ratios.count()), int((ratios > original.class_share).sum())
        if count:
            return (
                f"On the original, {near:,} of {count:,} nodes have more {who} of their own "
                "class than by chance"
            )
    return ""


def _describe_quadrants(rows: pd.DataFrame, is_drawn: np.ndarray, release: str) -> str:
    """Number of nodes with a ratio above their class share, per mechanism."""
    total = int(is_drawn.sum())
    near = int(((rows.ghratio_proximity > rows.class_share) & is_drawn).sum())
    role = int(((rows.ghratio_role > rows.class_share) & is_drawn).sum())
    return (
        f"{release}: {near:,} of {total:,} nodes are above chance among neighbours, "
        f"{role:,} among role peers"
    )


def _list_points(rows: pd.DataFrame, places: np.ndarray) -> pd.DataFrame:
    return rows.iloc[places].reset_index(drop=True)


def mechanism_scatter(view: AuditView, release: str = ORIGINAL, theme: Theme = "light") -> Chart:
    """Proximity against role ratio per node (GPS Fig. 2); `customdata` of a point is its node.

    Nodes right of their class share are exposed by neighbours, nodes above it by role peers. Above
    20,000 nodes every k-th is drawn.
    """
    columns = ["node", "class", "class_share", "ghratio_proximity", "ghratio_role"]
    rows = select_release(view.profile, release)[columns]
    has_both = (rows.ghratio_proximity.notna() & rows.ghratio_role.notna()).to_numpy()
    places = np.flatnonzero(has_both)
    if not len(places):
        return make_empty_chart("No node has both ratios.", theme, rows.iloc[:0])
    step = -(-len(places) // MAX_POINTS)
    shown = rows.iloc[places[::step]]
    codes, found = pd.factorize(rows["class"])
    first = pd.unique(codes[places])
    names = [str(found[code]) if code >= 0 else "nan" for code in first]
    marks = class_marks([*list_classes(view), *names])
    classes = [name for name in marks if name in names]
    figure = go.Figure()
    for name in classes:
        points = shown[shown["class"].astype(str) == name]
        figure.add_scattergl(
            x=points.ghratio_proximity.to_numpy(float),
            y=points.ghratio_role.to_numpy(float),
            mode="markers",
            name=escape_text(name),
            # Arrays, because Plotly checks lists element by element.
            customdata=points.node.to_numpy(object),
            text=np.array([escape_text(node) for node in points.node.tolist()], object),
            marker={
                "color": marks[name][0],
                "opacity": 0.75,
                "size": 8,
                "symbol": marks[name][1],
                "line": {"width": 0.5, "color": INKS[theme].surface},
            },
            hovertemplate="%{text}<br>neighbours %{x:.2f}, role peers %{y:.2f}"
            "<extra>%{fullData.name}</extra>",
        )
    title = _describe_quadrants(rows, has_both, view.get_release(release).title)
    style_figure(figure, theme, 460, title, clickmode="event+select", dragmode="select")
    if len(classes) > MAX_IN_A_ROW:
        figure.update_layout(legend={"orientation": "v", "x": 1.02, "y": 1, "yanchor": "top"})
    if len(names) <= 4:
        for name, code in zip(names, first, strict=True):
            share = rows.class_share.iloc[places[np.argmax(codes[places] == code)]]
            if not pd.isna(share):
                add_rule(figure, theme, "dash", x=share, y=share, line_color=marks[name][0])
    figure.update_xaxes(
        title_text="Neighbours of own class, safest at the class share", range=[-0.03, 1.03]
    )
    figure.update_yaxes(
        title_text="Role peers of own class, safest at the class share", range=[-0.03, 1.03]
    )
    note = f"{len(places):,} nodes with both ratios"
    note += f", one in {step} drawn" if step > 1 else ""
    table = partial(_list_points, rows, places)
    return Chart(figure, table, note + "; dashed: class shares, in the colour of the class.")
