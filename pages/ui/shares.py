"""Shares as percentages, written "44 %" wherever the analyst reads or sets them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

FORMAT = "%.4g %%"


def ask_share(
    label: str,
    low: float,
    high: float,
    value: float,
    step: float = 0.01,
    place: DeltaGenerator | None = None,
    **options: Any,
) -> float:
    """A slider of a share. A value between two steps, as a specification may hold, is kept."""
    bounds = [round(100 * share, 6) for share in (low, high, value, step)]
    percent: Any = (place or st).slider(label, *bounds, format=FORMAT, **options)
    return round(float(percent) / 100, 8)


def show_shares(
    table: pd.DataFrame, names: list[str], **column: Any
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The table with these shares in per cent, and the columns' configuration: bars."""
    bar = st.column_config.ProgressColumn(format="%.0f %%", min_value=0, max_value=100, **column)
    return table.assign(**{name: 100 * table[name] for name in names}), dict.fromkeys(names, bar)
