"""What every figure function returns: the figure, the data it draws, and how it was computed."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure with the table it draws (offered as CSV) and one line on n and splits.

    The figure's own title states the finding, so that a picture of it (PNG, SVG) has it too.
    """

    figure: go.Figure
    table: pd.DataFrame
    note: str

    @property
    def is_empty(self) -> bool:
        is_empty: bool = self.table.empty
        return is_empty

    @property
    def title(self) -> str:
        """The finding, on one line; "" where the figure states none."""
        return (self.figure.layout.title.text or "").replace("<br>", " ").replace("\u00a0", " ")
