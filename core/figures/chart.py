"""Return type of every figure function: the figure, its data, and how it was computed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from core.figures.theme import style_figure
from core.findings.palette import Theme, escape_text


class KeptFigure(go.Figure):  # type: ignore[misc]  # plotly has no types
    """A figure that is no longer changed: what browsers are sent is copied from it once, not at
    each visit of a page."""

    def __init__(self, figure: go.Figure) -> None:
        self.__dict__.update(figure.__dict__)  # a copy would be checked again
        # As it is sent: without arrays, so that no encoder asks for each value what it is.
        self._content: dict[str, Any] = json.loads(figure.to_json(validate=False))

    def to_dict(self) -> dict[str, Any]:
        """What was copied; read-only."""
        return self._content


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure with its table (offered as CSV) and one line on n and splits.

    source  the table, or a function that makes it where that takes longer than the figure
    The figure's own title states the finding, so that exported pictures (PNG, SVG) have it too.
    """

    figure: go.Figure
    source: pd.DataFrame | Callable[[], pd.DataFrame]
    note: str

    @property
    def table(self) -> pd.DataFrame:
        """What the figure shows, as numbers."""
        return self.source() if callable(self.source) else self.source

    @cached_property
    def kept(self) -> KeptFigure:
        """The figure of a chart that is kept and drawn again; read-only."""
        return KeptFigure(self.figure)

    @cached_property
    def axis_titles(self) -> list[str]:
        """Titles of the first two axes, as far as they have one."""
        layout = self.figure.layout
        return [text for axis in (layout.xaxis, layout.yaxis) if (text := axis.title.text)]

    @property
    def is_empty(self) -> bool:
        return not callable(self.source) and bool(self.source.empty)

    @cached_property
    def title(self) -> str:
        """The finding on one line; "" if the figure has none."""
        return (self.figure.layout.title.text or "").replace("<br>", " ").replace("\u00a0", " ")


def make_empty_chart(message: str, theme: Theme, table: pd.DataFrame | None = None) -> Chart:
    """A figure that only states why there is nothing to show."""
    figure = go.Figure()
    figure.add_annotation(
        text=escape_text(message), showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper"
    )
    style_figure(figure, theme, 240)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return Chart(figure, pd.DataFrame() if table is None else table, message)
