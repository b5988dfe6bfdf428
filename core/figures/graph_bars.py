"""Degrees and classes of the loaded graph."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import shorten_names, style_figure
from core.findings.palette import AMOUNT_SCALE, UNKNOWN_GREY, Theme, class_marks, escape_text
from core.findings.profile import compute_degree_counts, list_log_ticks
from core.graph import Graph
from core.node_column import NodeColumn
from core.words import count_noun, format_percent

MAX_CLASS_BARS = 30
MAX_RATIO = 50
"""Ratio of an axis' ends above which powers of ten are its only ticks."""


def degree_distribution(graph: Graph, theme: Theme = "light") -> Chart:
    """Share of the nodes with at least each degree, on log axes; isolated nodes in the note."""
    table = compute_degree_counts(graph)
    shown = table[table.degree > 0]
    if shown.empty:
        return make_empty_chart("The graph has no links.", theme, table)
    figure = go.Figure(
        go.Scatter(
            x=shown.degree.to_numpy(),
            y=100 * shown.share_at_least.to_numpy(),
            mode="lines+markers",
            line={"shape": "vh", "color": AMOUNT_SCALE[3], "width": 1.5},
            marker={"size": 5},
            customdata=shown.nodes.to_numpy(),
            hovertemplate="%{y:.3~g} % of the nodes have at least %{x} links"
            "<br>%{customdata} have exactly %{x}<extra></extra>",
        )
    )
    half = int(np.median(graph.degrees))
    title = (
        f"Half of the nodes have at most {count_noun(half, 'link')}, the best connected one "
        f"{shown.degree.max():,}"
    )
    style_figure(figure, theme, 320, title, showlegend=False)
    least = 100 * float(shown.share_at_least.min())
    across = list_log_ticks(shown.degree.min(), shown.degree.max(), MAX_RATIO)
    down = list_log_ticks(least, 100, MAX_RATIO)
    figure.update_xaxes(
        title_text="Number of links of a node",
        type="log",
        tickvals=across,
        ticktext=[f"{tick:,.0f}" for tick in across],
    )
    figure.update_yaxes(
        title_text="Nodes with at least as many",
        type="log",
        tickvals=down,
        ticktext=[f"{tick:g} %" for tick in down],
        range=[np.log10(least) - 0.1, np.log10(115)],
    )
    isolated = int(table[table.degree == 0].nodes.sum())
    note = f"{graph.num_nodes:,} nodes, {graph.num_edges:,} links; {isolated:,} without a link."
    return Chart(figure, table, note)


def class_bars(attribute: NodeColumn, theme: Theme = "light") -> Chart:
    """One bar per class, largest first; beyond 30 classes the rest is pooled."""
    counts = attribute.counts
    order = np.argsort(-counts, kind="stable")
    table = pd.DataFrame(
        {
            "class": [attribute.classes[i] for i in order],
            "nodes": counts[order],
            "share": attribute.shares[order],
        }
    )
    shown = table
    if len(table) > MAX_CLASS_BARS:
        rest = table.iloc[MAX_CLASS_BARS - 1 :]
        other = {
            "class": f"{len(rest)} other classes",
            "nodes": rest.nodes.sum(),
            "share": rest.share.sum(),
        }
        shown = pd.concat([table.iloc[: MAX_CLASS_BARS - 1], pd.DataFrame([other])])
    marks = class_marks(attribute.classes)
    figure = go.Figure(
        go.Bar(
            x=shown.nodes.to_numpy(),
            y=[escape_text(text) for text in shorten_names(shown["class"], 28)],
            orientation="h",
            marker={"color": [marks.get(name, (UNKNOWN_GREY,))[0] for name in shown["class"]]},
            text=[format_percent(share) for share in shown.share],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:,} nodes<extra></extra>",
        )
    )
    title = f"{format_percent(shown.share.iloc[0])} have the value “{shown['class'].iloc[0]}”"
    style_figure(figure, theme, 100 + 28 * max(len(shown), 2), title, showlegend=False, bargap=0.35)
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    room = 1.14 * max(float(shown.nodes.max()), 1.0)  # for the share at the longest bar's end
    figure.update_xaxes(title_text="Nodes", range=[0, room], nticks=6)
    unknown = int((~attribute.known).sum())
    note = f"{int(counts.sum()):,} nodes with a value, {unknown:,} without."
    return Chart(figure, table, note)
