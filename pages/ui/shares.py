"""Slider for a share, shown as a percentage."""

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
    """Slider for a share between `low` and `high`; values between two steps are kept."""
    bounds = [round(100 * share, 6) for share in (low, high, value, step)]
    percent: Any = (place or st).slider(label, *bounds, format=FORMAT, **options)
    return round(float(percent) / 100, 8)
