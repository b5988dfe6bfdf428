"""Colours and typeface shared by pages and report.

Risk has one sequential scale that is used for nothing else. The original is grey; a defense has one
colour of the Okabe–Ito palette (Okabe & Ito 2008; without yellow, which vanishes on white).
Baseline attackers are dashed.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from core.audit.asked.attack import Attack
    from core.audit.asked.release_info import ReleaseInfo

Theme = Literal["light", "dark"]

RISK_SCALE = ("#fdf1e4", "#f9cfa9", "#ee9a7a", "#d45d62", "#a82a57", "#6d0f42")
"""Low to high, in either theme and in print: darkest is most exposed. Lightness falls steadily, so
it reads without colour vision. On a dark page what it colours has the pale ground `GROUND`."""

FAMILY_COLORS: dict[Theme, tuple[str, ...]] = {
    "light": ("#3b4a9e", "#2a8c82", "#8a7a1f", "#8e4b9e", "#7a5230", "#5c6b7a"),
    "dark": ("#8e9bef", "#4fc2b4", "#cdbb52", "#c98fd8", "#c29a74", "#9fb0c0"),
}
"""Of families of attacks, in the order in which their kind's methods are listed."""

POINT_START = 0.3
"""Start of the scale for points: its low end would vanish beside large empty areas."""

AMOUNT_SCALE = ("#dce6f2", "#a9c4e2", "#6f9fd0", "#3d78b8", "#1f5596", "#0d3466")
"""Low to high, for amounts other than risk."""

OKABE_ITO = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")

CLASS_COLORS = ("#56b4e9", "#009e73", "#cc79a7", "#e69f00", "#8c6d31", "#7b6fd0")
"""Of the values of a column: none is that of a link which a release removes or adds."""

CLASS_SYMBOLS = ("circle", "diamond", "square", "x", "triangle-up", "star")
"""Of the first six values, the next six and so on, whose colours begin anew."""

ORIGINAL_GREY = "#8a8f98"

UNKNOWN_GREY = "#b6bcc6"
"""Of a node that was not tested."""

WITHIN_FILL = "rgba(0,158,115,0.12)"
"""Of the region within a limit."""

NO_FILL = "rgba(0,0,0,0)"

STATE_COLORS: dict[Theme, dict[str, tuple[str, str]]] = {
    "light": {
        "met": ("#d3ebdf", "#6dbb97"),
        "not_proven": ("#f6e2b3", "#f6e2b3"),
        "exceeded": ("#f9d5d0", "#e2796f"),
    },
    "dark": {
        "met": ("#1c4534", "#2f7d5c"),
        "not_proven": ("#5f4712", "#5f4712"),
        "exceeded": ("#5a2724", "#a8403a"),
    },
}
"""State of a limit → its colour at the limit and far from it, always with the state's mark."""

MAX_TINT = 0.5

REMOVED_RED = "#d55e00"

ADDED_BLUE = "#0072b2"

SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "star", "pentagon", "cross")

FONT = '"Source Sans", "Source Sans 3", sans-serif'


def risk_colorscale(for_points: bool = False) -> list[list[float | str]]:
    """Plotly colour scale of risk, lowest to highest.

    for_points  without the low end, for small marks on an empty background
    """
    steps, start = len(RISK_SCALE) - 1, POINT_START if for_points else 0.0
    places = [i / steps for i in range(steps + 1)]
    return [[place, risk_color(start + (1 - start) * place)] for place in places]


def amount_colorscale() -> list[list[float | str]]:
    """Plotly colour scale of an amount other than risk."""
    colors = AMOUNT_SCALE[1:]
    return [[i / (len(colors) - 1), color] for i, color in enumerate(colors)]


def risk_color(value: float) -> str:
    """Hex colour of a risk in [0, 1], interpolated as the colour bar does."""
    position = min(max(float(value), 0.0), 1.0) * (len(RISK_SCALE) - 1)
    index = min(int(position), len(RISK_SCALE) - 2)
    return _mix(RISK_SCALE[index], RISK_SCALE[index + 1], position - index)


def ink_on(color: str) -> str:
    """Black or white, whichever has more contrast on a hex colour (WCAG 2)."""
    channels = [c / 255 for c in _rgb(color)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#ffffff"


def release_color(releases: Iterable[ReleaseInfo]) -> dict[str, str]:
    """Release id → hex colour: grey for the original, one colour per defense.

    Pass the audit's full list of releases for the same colours on every page. Settings of one
    defense are tints of its colour; beyond six defenses colours repeat and `release_symbol`
    distinguishes them.
    """
    places = _defense_index(releases)
    sizes = Counter(places.values())
    seen: Counter[int] = Counter()
    colors = {}
    for release, index in places.items():
        if index < 0:
            colors[release] = ORIGINAL_GREY
            continue
        share = MAX_TINT * seen[index] / max(sizes[index] - 1, 1)
        colors[release] = _mix(OKABE_ITO[index % len(OKABE_ITO)], "#ffffff", share)
        seen[index] += 1
    return colors


def family_color(attack: Attack, theme: Theme = "light") -> str:
    """Hex colour of an attack's family, the group of its method; grey for baseline attackers and
    methods that this version does not know. Families of one kind of attack differ."""
    if attack.method is None or attack.is_baseline:
        return ORIGINAL_GREY
    from core.registry import list_methods

    listed = list_methods(attack.method.kind)
    families = dict.fromkeys(m.info.group for m in listed if not m.info.is_baseline)
    colors = FAMILY_COLORS[theme]
    place = [*families, attack.method.info.group].index(attack.method.info.group)
    return colors[place % len(colors)]


def class_marks(classes: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Class → hex colour and Plotly symbol.

    Pass all classes of the column in its order (`NodeColumn.classes`), so that a class looks the
    same on every page, whichever are drawn there.
    """
    count = len(CLASS_COLORS)
    return {
        name: (CLASS_COLORS[i % count], CLASS_SYMBOLS[i // count % len(CLASS_SYMBOLS)])
        for i, name in enumerate(dict.fromkeys(classes))
    }


def release_symbol(releases: Iterable[ReleaseInfo]) -> dict[str, str]:
    """Release id → Plotly marker symbol, one per defense."""
    return {
        release: SYMBOLS[0] if index < 0 else SYMBOLS[(index + 1) % len(SYMBOLS)]
        for release, index in _defense_index(releases).items()
    }


def _defense_index(releases: Iterable[ReleaseInfo]) -> dict[str, int]:
    """Release id → −1 for the original, else the rank of the defense by first appearance."""
    order: dict[str, int] = {}
    found: dict[str, int] = {}
    for release in releases:
        if release.is_original:
            found[release.id] = -1
        else:
            found[release.id] = order.setdefault(release.key, len(order))
    return found


def escape_text(text: object) -> str:
    """Escape data for Plotly labels, which render a subset of HTML."""
    return html.escape(str(text), quote=False)


def fade(color: str, opacity: float) -> str:
    """A hex colour at an opacity between 0 and 1."""
    return f"rgba({','.join(map(str, _rgb(color)))},{opacity:g})"


def _mix(first: str, second: str, share: float) -> str:
    pairs = zip(_rgb(first), _rgb(second), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
