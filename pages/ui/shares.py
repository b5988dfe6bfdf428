"""Shares as percentages, written "44 %" wherever the analyst sets them."""

from __future__ import annotations

from typing import Any

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
