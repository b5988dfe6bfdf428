"""Claim check: ROC of the distinguishing test against the region that the claim allows."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from core.figures.chart import Chart
from core.figures.theme import INKS, add_line, style_figure
from core.findings.guarantees import compute_claim_region
from core.findings.numbers import format_number
from core.findings.palette import OKABE_ITO, WITHIN_FILL, Theme
from core.privacy.claim_check import ClaimCheck

CLAIM_COLOR, GAME_COLOR = OKABE_ITO[2], OKABE_ITO[0]


def draw_claim(check: ClaimCheck, theme: Theme = "light") -> Chart:
    """ROC of the distinguisher on the region that the claim allows."""
    region = compute_claim_region(check.claimed, check.delta)
    table = pd.DataFrame(check.roc, columns=["false_accusations", "true_accusations"])
    figure = go.Figure()
    false = 100 * region.false
    add_line(figure, false, 100 * region.low, CLAIM_COLOR, 0)
    allowed, fill = f"allowed by ε = {check.claimed:g}", WITHIN_FILL
    more = {"fill": "tonexty", "fillcolor": fill}
    add_line(figure, false, 100 * region.high, CLAIM_COLOR, 1.2, name=allowed, **more)
    add_line(figure, [0, 100], [0, 100], INKS[theme].muted, 1, "dot")
    add_line(
        figure,
        100 * table.false_accusations,
        100 * table.true_accusations,
        GAME_COLOR,
        2.2,
        name="attacker of the game",
        mode="lines+markers",
        marker={"size": 5},
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
        f"{check.trials:,} releases of two neighbouring graphs; the attacker "
        f"uses: {check.statistic}. A quarter of them selected its rule, the rest are shown. Points "
        "clearly above the shaded region would refute the claim."
    )
    return Chart(figure, table, note)
