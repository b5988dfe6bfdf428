"""The game behind a check: how often a release of either graph is accused, and what is claimed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.chart import Chart
from core.figures.theme import INKS, style_figure
from core.findings.guarantees import compute_claim_region
from core.findings.numbers import format_number
from core.findings.palette import OKABE_ITO, Theme
from core.privacy.claim_check import ClaimCheck

CLAIM_COLOR, GAME_COLOR = OKABE_ITO[2], OKABE_ITO[0]


def draw_claim(check: ClaimCheck, theme: Theme = "light") -> Chart:
    """ROC of the game's attacker on the region that the claim allows."""
    region = compute_claim_region(check.claimed, check.delta)
    table = pd.DataFrame(check.roc, columns=["false_accusations", "true_accusations"])
    ink, figure = INKS[theme], go.Figure()
    figure.add_scatter(
        x=100 * np.asarray(region.false),
        y=100 * np.asarray(region.low),
        mode="lines",
        hoverinfo="skip",
        line={"width": 0},
        showlegend=False,
    )
    figure.add_scatter(
        x=100 * np.asarray(region.false),
        y=100 * np.asarray(region.high),
        mode="lines",
        fill="tonexty",
        hoverinfo="skip",
        fillcolor="rgba(0,158,115,0.16)",
        line={"width": 1.2, "color": CLAIM_COLOR},
        name=f"allowed by ε = {check.claimed:g}",
    )
    figure.add_scatter(
        x=[0, 100],
        y=[0, 100],
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
        line={"width": 1, "color": ink.muted, "dash": "dot"},
    )
    figure.add_scatter(
        x=100 * table.false_accusations,
        y=100 * table.true_accusations,
        mode="lines+markers",
        line={"width": 2.2, "color": GAME_COLOR},
        marker={"size": 5},
        name="attacker of the game",
        hovertemplate="false %{x:.3~g} %, true %{y:.3~g} %<extra></extra>",
    )
    title = (
        f"Claimed ε = {check.claimed:g}; the attacker shows at least "
        f"{format_number(check.lower_bound)}: {check.outcome}"
    )
    style_figure(figure, theme, 340, title)
    axis = {"range": [-1, 101], "ticksuffix": " %"}
    figure.update_xaxes(title_text="False accusations", **axis)
    figure.update_yaxes(title_text="True accusations   ↓ safer", **axis)
    note = (
        f"{check.trials:,} releases of two graphs that differ as the promise says; the attacker "
        f"looks at: {check.statistic}. A quarter of them chose its rule, the rest are shown. Above "
        "the shaded region the claim would be broken; sampling noise alone may cross it a little."
    )
    return Chart(figure, table, note)
