"""Publication probabilities that a defense learned per link."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import add_rule, error_bars, style_figure
from core.findings.palette import OKABE_ITO, Theme
from core.graph import Graph
from core.measures.link_scores import GroupMean, compute_degree_means, compute_substructure_means

NUM_BINS = 20
TITLES = ("All links", "By degree of the end", "Inside small sub-structures")


def link_scores(
    graph: Graph, scores: np.ndarray, rng: np.random.Generator, theme: Theme = "light"
) -> Chart:
    """Three panels: distribution, mean per degree range, mean per sub-structure (GPS, Fig. 6).

    graph, scores: the defended graph and (m,) the learned probability of publishing each link. The
    dotted line is the mean over all links.
    """
    if not graph.num_edges:
        return make_empty_chart("This graph has no links.", theme)
    counts, edges = np.histogram(np.clip(scores, 0, 1), NUM_BINS, (0, 1))
    by_degree = compute_degree_means(graph, scores)
    by_shape = compute_substructure_means(graph, scores, rng)
    figure = make_subplots(
        1, 3, subplot_titles=TITLES, horizontal_spacing=0.09, column_widths=[0.28, 0.32, 0.4]
    )
    color, mean = OKABE_ITO[0], float(scores.mean())
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=100 * counts / len(scores),
        marker={"color": color},
        hovertemplate="chance about %{x:.2f}: %{y:.3~g} % of the links<extra></extra>",
        showlegend=False,
        row=1,
        col=1,
    )
    for column, groups in ((2, by_degree), (3, by_shape)):
        _add_means(figure, groups, color, column)
        add_rule(figure, theme, "dot", y=mean, row=1, col=column)
    title = f"On average a link is published with a chance of {mean:.2f}"
    style_figure(figure, theme, 400, title, bargap=0.08)
    figure.update_xaxes(title_text="Chance to be published", range=[0, 1], row=1, col=1)
    figure.update_yaxes(ticksuffix=" %", title_text="Share of the links", row=1, col=1)
    figure.update_xaxes(tickangle=-60, tickfont={"size": 12}, row=1, col=3)
    figure.update_xaxes(type="category", title_text="Degree", row=1, col=2)
    figure.update_yaxes(range=[0, 1.02], row=1, col=2)
    figure.update_yaxes(range=[0, 1.02], row=1, col=3)
    figure.update_yaxes(title_text="Mean chance", row=1, col=2)
    note = (
        f"{graph.num_edges:,} links, first repeat, mean {mean:.2f} (dotted). Sub-structures: "
        "induced, from up to 100,000 uniform draws of each kind, 95 % intervals of drawing; "
        "kinds that hardly occur are left out."
    )
    return Chart(figure, _tabulate(by_degree, by_shape, edges, counts), note)


def _add_means(figure: go.Figure, groups: list[GroupMean], color: str, column: int) -> None:
    known = [group for group in groups if group.mean.is_known]
    values = np.array([group.mean.value for group in known], float)
    high = np.array([group.mean.high for group in known], float)
    low = np.array([group.mean.low for group in known], float)
    figure.add_scatter(
        x=[group.group for group in known],
        y=values,
        mode="markers",
        showlegend=False,
        marker={"color": color, "size": 9},
        error_y=error_bars(values, low, high),
        customdata=[f"{group.mean.n:,}" for group in known],
        hovertemplate="%{x}: %{y:.3f} (%{customdata} counted)<extra></extra>",
        row=1,
        col=column,
    )


def _tabulate(
    by_degree: list[GroupMean], by_shape: list[GroupMean], edges: np.ndarray, counts: np.ndarray
) -> pd.DataFrame:
    rows: list[tuple[object, ...]] = [
        ("distribution", f"{low:.2f}–{high:.2f}", None, None, None, int(count))
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    for panel, groups in (("degree", by_degree), ("sub-structure", by_shape)):
        rows += [(panel, g.group, g.mean.value, g.mean.low, g.mean.high, g.mean.n) for g in groups]
    return pd.DataFrame(rows, columns=["panel", "group", "mean", "low", "high", "n"])
