"""Colours, type and number formats that all pages and the report share.

Risk has one sequential scale, used for nothing else. The original is grey, a defense keeps one
colour of the Okabe–Ito palette (Okabe & Ito 2008; its yellow is left out, it vanishes on white).
Null attackers are dashed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go

from core.findings.labels import ORIGINAL, defense_key
from core.results import Estimate

Theme = Literal["light", "dark"]

RISK_SCALE = ("#fdf1e4", "#f9cfa9", "#ee9a7a", "#d45d62", "#a82a57", "#6d0f42")
"""Low to high; lightness falls steadily, so it reads without colour vision and in print."""

OKABE_ITO = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
ORIGINAL_GREY = "#8a8f98"
MAX_TINT = 0.5
REMOVED_RED = "#d55e00"
ADDED_BLUE = "#0072b2"
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "star", "pentagon", "cross")
FONT = '"Source Sans", "Source Sans 3", sans-serif'


@dataclass(frozen=True)
class Ink:
    """Colours of text, lines and empty cells in one theme."""

    text: str
    muted: str
    grid: str
    empty: str
    surface: str


INKS: dict[str, Ink] = {
    "light": Ink("#262730", "#6b7280", "#e6e8ec", "#eef0f3", "#ffffff"),
    "dark": Ink("#fafafa", "#a3a8b4", "#31353f", "#2a2e38", "#0e1117"),
}


def risk_colorscale() -> list[list[float | str]]:
    steps = len(RISK_SCALE) - 1
    return [[i / steps, color] for i, color in enumerate(RISK_SCALE)]


def risk_color(value: float) -> str:
    """Hex colour of a risk in [0, 1], interpolated as the colour bar shows it."""
    position = min(max(float(value), 0.0), 1.0) * (len(RISK_SCALE) - 1)
    index = min(int(position), len(RISK_SCALE) - 2)
    share = position - index
    return _mix(RISK_SCALE[index], RISK_SCALE[index + 1], share)


def release_color(release_ids: Iterable[str]) -> dict[str, str]:
    """Release id → hex colour: grey for the original, one colour a defense.

    Give the audit's whole list of releases, so that a defense looks the same on every page.
    Settings of one defense are tints of its colour, the first one full; beyond six defenses
    colours repeat and `release_symbol` keeps them apart.
    """
    places = _defense_index(release_ids)
    sizes = Counter(places.values())
    seen: Counter[int] = Counter()
    colors = {}
    for release, index in places.items():
        if index < 0:
            colors[release] = ORIGINAL_GREY
            continue
        share = MAX_TINT * seen[index] / max(sizes[index] - 1, 1)
        colors[release] = _tint(OKABE_ITO[index % len(OKABE_ITO)], share)
        seen[index] += 1
    return colors


def release_symbol(release_ids: Iterable[str]) -> dict[str, str]:
    """Release id → Plotly marker symbol, one a defense."""
    return {
        release: SYMBOLS[0] if index < 0 else SYMBOLS[(index + 1) % len(SYMBOLS)]
        for release, index in _defense_index(release_ids).items()
    }


def _defense_index(release_ids: Iterable[str]) -> dict[str, int]:
    """−1 for the original, else the defense's place in the order of first appearance."""
    order: dict[str, int] = {}
    found: dict[str, int] = {}
    for release in release_ids:
        if release == ORIGINAL:
            found[release] = -1
        else:
            found[release] = order.setdefault(defense_key(release), len(order))
    return found


def style_figure(figure: go.Figure, theme: Theme, height: int = 420, **layout: Any) -> go.Figure:
    """Transparent background, one typeface, quiet grid."""
    ink = INKS[theme]
    figure.update_layout(
        template="none",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 14, "color": ink.text},
        height=height,
        margin={"l": 10, "r": 16, "t": 36, "b": 10},
        hoverlabel={"font": {"family": FONT}},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "title": None},
    )
    axis = {
        "gridcolor": ink.grid,
        "zeroline": False,
        "automargin": True,
        "linecolor": ink.grid,
        "tickfont": {"color": ink.muted},
        "title": {"font": {"size": 14}, "standoff": 8},
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    figure.update_layout(**layout)
    figure.update_annotations(font={"family": FONT, "color": ink.text})
    return figure


def make_empty_figure(message: str, theme: Theme = "light", height: int = 240) -> go.Figure:
    """A figure that only says why there is nothing to see."""
    figure = go.Figure()
    figure.add_annotation(
        text=escape_text(message), showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper"
    )
    style_figure(figure, theme, height)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


def escape_text(text: object) -> str:
    """Plotly renders a subset of HTML in labels: data must not become markup."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def format_number(value: float | None) -> str:
    """Two decimals; two significant digits below 0.1, none that mean nothing above 10.

    0.844 → "0.84", 0.0031 → "0.0031", 12.34 → "12", 1234 → "1,234", None → "–".
    """
    if value is None or value != value:
        return "–"
    size = abs(value)
    if size >= 10:
        text = f"{value:,.0f}"
    elif size >= 0.0955 or size < 5e-7:
        text = f"{value:.2f}"
    elif size >= 1e-4:
        leading = int(f"{size:.1e}".rpartition("e")[2])  # of the rounded number
        text = f"{value:.{1 - leading}f}"
    else:
        text = f"{value:.1e}"
    if "e" not in text and float(text.replace(",", "")) == 0:
        text = text.lstrip("-")  # no "-0.00"
    return text.replace("-", "−")


def format_interval(value: float | None, low: float | None, high: float | None) -> str:
    """ "0.84 [0.80, 0.88]"; the number alone where it has no interval."""
    if low is None or high is None or low != low or high != high:
        return format_number(value)
    return f"{format_number(value)} [{format_number(low)}, {format_number(high)}]"


def format_estimate(estimate: Estimate) -> str:
    """A number with its interval, or the reason why there is none."""
    if not estimate.is_known:
        return estimate.how or "not resolved"
    return format_interval(estimate.value, estimate.low, estimate.high)


def format_percent(share: float) -> str:
    """0.304 → "30 %"; one decimal below 1 %."""
    percent = 100 * share
    return f"{percent:.0f} %" if percent >= 1 or percent == 0 else f"{percent:.1f} %"


def _tint(color: str, share: float) -> str:
    return _mix(color, "#ffffff", share)


def _mix(first: str, second: str, share: float) -> str:
    pairs = zip(_rgb(first), _rgb(second), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
