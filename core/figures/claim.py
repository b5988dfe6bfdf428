"""The game behind a check: how often a release of either graph is accused, and what is claimed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.chart import Chart
from core.figures.theme import INKS, OKABE_ITO, Theme, style_figure
from core.privacy.claim_check import ClaimCheck

POINTS = 201
CLAIM_COLOR, GAME_COLOR = OKABE_ITO[2], OKABE_ITO[0]


def compute_claim_region(epsilon: float, delta: float) -> pd.DataFrame:
    """false, low, high: the rates of true accusations that (ε, δ)-DP allows at each rate of false
    ones (Kairouz, Oh and Viswanath, ICML 2015, Theorem 2.1).

    A rule and its opposite are both bound, so the region is
    max(0, e^{−ε}(q − δ), 1 − e^ε (1 − q) − δ) ≤ p ≤ min(1, e^ε q + δ, 1 − e^{−ε}(1 − q − δ)).
    """
    grow, shrink = math.exp(min(epsilon, 700.0)), math.exp(-epsilon)
    corner = min(1.0, (1 - delta) / (1 + grow))
    q = np.unique(np.concatenate([np.linspace(0, 1, POINTS), [corner, 1 - corner]]))
    high = np.minimum(np.minimum(1.0, grow * q + delta), 1 - shrink * (1 - q - delta))
    low = np.maximum(np.maximum(0.0, shrink * (q - delta)), 1 - grow * (1 - q) - delta)
    return pd.DataFrame({"false": q, "low": low, "high": np.minimum(high, 1.0)})


def draw_claim(check: ClaimCheck, theme: Theme = "light") -> Chart:
    """ROC of the game's attacker on the region that the claim allows."""
    region = compute_claim_region(check.claimed, check.delta)
    table = pd.DataFrame(check.roc, columns=["false_accusations", "true_accusations"])
    ink, figure = INKS[theme], go.Figure()
    figure.add_scatter(
        x=region.false,
        y=region.low,
        mode="lines",
        hoverinfo="skip",
        line={"width": 0},
        showlegend=False,
    )
    figure.add_scatter(
        x=region.false,
        y=region.high,
        mode="lines",
        fill="tonexty",
        hoverinfo="skip",
        fillcolor="rgba(0,158,115,0.16)",
        line={"width": 1.2, "color": CLAIM_COLOR},
        name=f"allowed by ε = {check.claimed:g}",
    )
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
        line={"width": 1, "color": ink.muted, "dash": "dot"},
    )
    figure.add_scatter(
        x=table.false_accusations,
        y=table.true_accusations,
        mode="lines+markers",
        line={"width": 2.2, "color": GAME_COLOR},
        marker={"size": 5},
        name="attacker of the game",
        hovertemplate="false %{x:.1%}, true %{y:.1%}<extra></extra>",
    )
    style_figure(figure, theme, 340)
    axis = {"range": [-0.01, 1.01], "tickformat": ".0%"}
    figure.update_xaxes(title_text="False accusations", **axis)
    figure.update_yaxes(title_text="True accusations   ↓ safer", **axis)
    note = (
        f"{check.trials:,} releases of two graphs that differ as the promise says; the attacker "
        f"looks at: {check.statistic}. A quarter of them chose its rule, the rest are shown. Above "
        "the shaded region the claim would be broken; sampling noise alone may cross it a little."
    )
    return Chart(figure, table, note)
