"""A share that is asked for, written as everywhere on the pages: "30 %"."""

from __future__ import annotations

import streamlit as st

PERCENT = "%g %%"
"""Of numbers that are percentages already: Streamlit's own "percent" writes "30%"."""


def ask_share(
    label: str, low: float, high: float, value: float, step: float, key: str, disabled: bool = False
) -> float:
    """A slider of percentages; returns the share."""
    first, last, start, by = (round(100 * number, 6) for number in (low, high, value, step))
    percent = st.slider(label, first, last, start, by, PERCENT, key=key, disabled=disabled)
    return round(percent / 100, 8)
