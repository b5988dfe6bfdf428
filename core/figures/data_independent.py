"""Is a synthesis better than its data-independent baseline: what came from the data."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from core.audit.presets import pair_data_independent
from core.audit.spec import MethodChoice
from core.release import ORIGINAL


def add_data_independent_lines(figure: go.Figure, table: pd.DataFrame, color: str) -> bool:
    """Join each synthesis of a trade-off table to its twin; whether there was any."""
    points = {row.release: (row.risk, row.utility) for row in table.itertuples()}
    known = [MethodChoice.parse(r, "defense") for r in points if r != ORIGINAL]
    pairs = pair_data_independent(known)
    for release, independent in pairs.items():
        x, y = zip(points[release], points[independent], strict=True)
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            hoverinfo="skip",
            name="data-independent baseline",
            line={"color": color, "width": 1, "dash": "dash"},
        )
    return bool(pairs)
