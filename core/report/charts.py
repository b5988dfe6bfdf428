"""The report's figures as SVG: the tables of core.figures drawn for print.

Text stays text, laid out with the metrics of a Times-like face and set in the template's font. Of
matplotlib's global state only its settings are used, under a lock.
"""

from __future__ import annotations

import io
import textwrap
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ticker import NullLocator

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import list_short_titles
from core.findings.curves import list_curves
from core.findings.homophily import MECHANISMS
from core.findings.inverted_scores import MARK
from core.findings.labels import axis_title, chance_level, is_higher_useful, metric_title
from core.findings.numbers import format_number
from core.findings.palette import (
    OKABE_ITO,
    ORIGINAL_GREY,
    POINT_START,
    RISK_SCALE,
    ink_on,
    risk_color,
)
from core.findings.profile import list_log_ticks
from core.findings.ranking import rank_curves
from core.findings.risk import SCALE_TITLES, Scale
from core.findings.tradeoff import find_clear_front
from core.release import ORIGINAL

TEXT_FONT = "Libertinus Serif"
LAYOUT_FONT = "STIXGeneral"
LINE_INCHES = 6.5
INK, MUTED, GRID = "#262730", "#6b7280", "#e2e4e8"
MARKERS = {
    "circle": "o",
    "diamond": "D",
    "square": "s",
    "triangle-up": "^",
    "x": "X",
    "star": "*",
    "pentagon": "p",
    "cross": "P",
}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "font.family": [LAYOUT_FONT, "DejaVu Sans"],  # raised signs are in the second alone
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "text.parse_math": False,
}
CHANCE: dict[str, Any] = {"color": MUTED, "linewidth": 0.7, "linestyle": ":"}
DASHED: dict[str, Any] = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 3))}
BESIDE: dict[str, Any] = {
    "frameon": False,
    "loc": "upper left",
    "bbox_to_anchor": (1.01, 1),
    "borderaxespad": 0,
}
"""Legend to the right of the panel."""

_lock = threading.Lock()


def register_fonts() -> None:
    """Add matplotlib's own layout font: a list of fonts that another installation has left in the
    user's cache may lack it."""
    for path in Path(mpl.get_data_path(), "fonts", "ttf").glob(f"{LAYOUT_FONT}*.ttf"):
        fontManager.addfont(path)


register_fonts()

RISK_MAP = LinearSegmentedColormap.from_list("risk", list(RISK_SCALE))
POINT_MAP = LinearSegmentedColormap.from_list(
    "points", [risk_color(POINT_START + (1 - POINT_START) * i / 5) for i in range(6)]
)
"""Without the low end, which is invisible on white paper."""


def draw(height: float, paint: Callable[[Figure], None], width: float = LINE_INCHES) -> str:
    """SVG text of a figure of `width` × `height` inches; deterministic."""
    with _lock, mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained", facecolor="none")
        canvas = FigureCanvasSVG(figure)
        paint(figure)
        for axes in figure.axes:
            axes.patch.set_facecolor("none")
        buffer = io.StringIO()
        # not savefig, which draws everything twice
        canvas.print_svg(  # type: ignore[no-untyped-call]
            buffer, metadata={"Date": None, "Creator": None}
        )
    return buffer.getvalue().replace(LAYOUT_FONT, TEXT_FONT)


def draw_ranking(table: pd.DataFrame) -> str:
    """A `compute_ranking` table: bars from chance with whiskers, one panel per metric."""
    metrics = list(dict.fromkeys(table.metric))
    order, color = list(dict.fromkeys(table.title)), ORIGINAL_GREY

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        for axes, metric in zip(panels, metrics, strict=True):
            rows = table[table.metric == metric]
            base = chance_level(metric) or 0.0
            place = rows.title.map(order.index).to_numpy()
            above = (rows.high - rows.value).fillna(0).clip(lower=0)
            below = (rows.value - rows.low).fillna(0).clip(lower=0)
            fill = ["none" if baseline else color for baseline in rows.is_baseline]
            axes.barh(
                place,
                rows.value - base,
                left=base,
                height=0.58,
                color=fill,
                edgecolor=color,
                linewidth=0.9,
            )
            axes.errorbar(
                rows.value,
                place,
                xerr=[below, above],
                fmt="none",
                ecolor=INK,
                elinewidth=0.8,
                capsize=2,
            )
            baselines = rows[rows.is_baseline]
            if len(baselines):
                axes.axvline(baselines.strength.max(), **DASHED)
            inverted = rows[rows.is_inverted]
            axes.plot(
                inverted.strength,
                inverted.title.map(order.index),
                "D",
                color=color,
                markerfacecolor="none",
                markersize=4.5,
            )
            if chance_level(metric) is not None:
                axes.axvline(base, **CHANCE)
            axes.set_xlabel(axis_title(metric))
            _quiet(axes, "x")
        panels[0].set_yticks(range(len(order)), order)
        panels[0].tick_params(axis="y", length=0, labelcolor=INK)
        panels[0].invert_yaxis()

    return draw(0.55 + 0.21 * max(len(order), 2), paint)


def draw_roc(curves: Mapping[Attack, pd.DataFrame], level: float) -> str:
    """ROC of each attack on one release, log–log; the best emphasised, baseline attackers
    dashed.

    level  FPR at which they are compared
    """
    real = [attack for attack in curves if not attack.is_baseline] or list(curves)
    best = rank_curves(curves, level)[0]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for attack, curve in sorted(curves.items(), key=lambda item: item[0] == best):
            strong = attack == best
            axes.plot(
                np.clip(curve.fpr, 1e-4, 1),
                np.clip(curve.tpr, 1e-4, 1),
                color=OKABE_ITO[0] if strong else MUTED,
                linewidth=1.8 if strong else 0.8,
                linestyle=(0, (4, 3)) if attack.is_baseline else "-",
                label=attack.title if strong else None,
            )
        if len(real) > 1:
            axes.plot([], [], color=MUTED, linewidth=0.8, label="other attacks")
        axes.plot(
            [], [], color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), label="baseline attackers"
        )
        axes.plot([1e-4, 1], [1e-4, 1], color=MUTED, linewidth=0.6, linestyle=":", label="chance")
        low = max(min(float(curve.fpr[curve.fpr > 0].min()) for curve in curves.values()), 1e-4)
        ticks = [t for t in (1e-4, 1e-3, 1e-2, 1e-1, 1) if t >= low * 0.99]
        names = {1e-4: "0.01 %", 1e-3: "0.1 %", 1e-2: "1 %", 1e-1: "10 %", 1: "100 %"}
        for axis, limit in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
            limit(low, 1.05)
            axis.axes.set(**{f"{axis.axis_name}scale": "log"})
            axis.set_ticks(ticks, [names[t] for t in ticks])
            axis.set_minor_locator(NullLocator())
        axes.set_xlabel("False positive rate")
        axes.set_ylabel("True positive rate   ↓ safer")
        _quiet(axes, "both")
        axes.legend(frameon=False, loc="lower right")

    return draw(2.1, paint, LINE_INCHES * 0.62)


def draw_degrees(table: pd.DataFrame) -> str:
    """A `compute_degree_counts` table on log axes."""
    shown = table[table.degree > 0]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.step(shown.degree, shown.share_at_least, where="pre", color=INK, linewidth=1.1)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="Number of links of a node",
            ylabel="Share with as many or more",
        )
        _set_log_ticks(axes.xaxis, lambda v: f"{v:,.0f}")
        _set_log_ticks(axes.yaxis, lambda v: f"{100 * v:g} %")
        _quiet(axes, "both")

    return draw(2.4, paint, 3.2)


def draw_risk_shares(
    table: pd.DataFrame, colors: Mapping[str, str], names: Mapping[str, str], scale: Scale
) -> str:
    """A `compute_risk_shares` table: share of the nodes at or above each advantage or risk."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for release, rows in table.groupby("release", sort=False):
            axes.plot(
                rows.threshold,
                100 * rows.share,
                color=colors[str(release)],
                linewidth=1.5,
                label=names[str(release)],
            )
        axes.set(
            xlim=(0, 1),
            ylim=(0, 102),
            xlabel=f"{SCALE_TITLES[scale]}   ← safer",
            ylabel="Nodes at or above   ↓ safer",
        )
        axes.yaxis.set_major_formatter(lambda v, _: f"{v:.0f} %")
        _quiet(axes, "both")
        axes.legend(**BESIDE)

    return draw(2.3, paint)


def draw_ghratios(
    table: pd.DataFrame, colors: Mapping[str, str], names: Mapping[str, str], share: float
) -> str:
    """A `compute_ghratio_histogram` table, one panel per mechanism."""

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(MECHANISMS), sharey=True)
        for axes, (name, title) in zip(panels, MECHANISMS.items(), strict=True):
            for release, rows in table[table.mechanism == name].groupby("release", sort=False):
                width = rows.ratio.iloc[1] - rows.ratio.iloc[0]
                edges = np.append(rows.ratio - width / 2, rows.ratio.iloc[-1] + width / 2)
                is_original = release == ORIGINAL
                axes.stairs(
                    100 * rows.share,
                    edges,
                    color=colors[str(release)],
                    fill=is_original,
                    alpha=0.45 if is_original else 1,
                    linewidth=1.2,
                    label=names[str(release)],
                )
            axes.axvline(share, **DASHED)
            axes.set_title(title)
            axes.set(xlim=(0, 1), xticks=[0, 0.5, 1], xlabel="Share of own class, safest at chance")
            _quiet(axes, "y")
        panels[0].yaxis.set_major_formatter(lambda v, _: f"{v:.0f} %")
        panels[0].set_ylabel("Nodes")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)

    return draw(2.35, paint)


def draw_tradeoff(
    table: pd.DataFrame,
    colors: Mapping[str, str],
    symbols: Mapping[str, str],
    risk: str,
    utility: str,
    limit: float | None = None,
) -> str:
    """A `compute_tradeoff` table with whiskers both ways, the limit, and lines through the
    strengths of a defense; without several strengths the clear Pareto front."""
    names = list_short_titles(table.made)
    curves = list_curves(table)
    on_curve = {release for curve in curves for release in curve.table.release}

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        if not curves:  # with curves the front would be one line too many
            front = find_clear_front(table)
            axes.plot(front.risk, front.utility, color=MUTED, linewidth=0.9, zorder=1)
        for curve in curves:
            rows, is_muted = curve.table, curve.is_data_independent
            color = MUTED if is_muted else colors[rows.release.iloc[0]]
            style = ":" if is_muted else "-"
            axes.plot(rows.risk, rows.utility, style, color=color, zorder=1, label=curve.title)
            for end in (0, -1):
                place, text = (rows.risk.iloc[end], rows.utility.iloc[end]), rows.strength.iloc[end]
                shift: Any = {"textcoords": "offset points", "xytext": (4, 4)}
                axes.annotate(f"{text:g}", place, color=color, fontsize=7, **shift)
        for row in table.itertuples():
            color = colors[row.release]
            axes.errorbar(
                row.risk,
                row.utility,
                color=color,
                fmt=MARKERS[symbols[row.release]],
                xerr=_whisker(row.risk, row.risk_low, row.risk_high),
                yerr=_whisker(row.utility, row.utility_low, row.utility_high),
                markersize=6,
                elinewidth=0.8,
                capsize=2,
                label="" if row.release in on_curve else names[row.release],
                zorder=2,
            )
        for level, look in ((chance_level(risk), CHANCE), (limit, DASHED)):
            if level is not None:
                axes.axvline(level, **look)
        hint = "↑ more useful" if is_higher_useful(utility) else "↓ more useful"
        axes.set_xlabel(f"Worst case: {axis_title(risk)}")
        axes.set_ylabel(f"{metric_title(utility)}   {hint}")
        _quiet(axes, "both")
        figure.legend(loc="outside lower left", frameon=False)

    return draw(2.4 + 0.16 * (len(table) - len(on_curve) + len(curves)), paint, 3.2)


LINE_LETTERS = 92
"""Letters of all releases' names on one line above the matrix of attacks."""


def draw_transfer(
    table: pd.DataFrame, strengths: pd.DataFrame, metric: str, names: Mapping[str, str]
) -> str:
    """`compute_transfer` tables: attacks × releases, values as text, strengths as colours.

    Values of inverted attacks are marked.
    """
    releases = [c for c in table.columns if c not in ("attack", "title")]
    values, strong = (t[releases].to_numpy(float) for t in (table, strengths))
    low = chance_level(metric) or 0.0

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.pcolormesh(strong, cmap=RISK_MAP, vmin=low, vmax=1, edgecolors="white", linewidth=1.2)
        for (i, j), value in np.ndenumerate(values):
            if value == value:
                shade = risk_color((strong[i, j] - low) / max(1 - low, 1e-9))
                text = format_number(value) + (MARK if strong[i, j] > value else "")
                axes.text(
                    j + 0.5,
                    i + 0.5,
                    text,
                    ha="center",
                    va="center",
                    color=ink_on(shade),
                    fontsize=8,
                )
        axes.set_yticks(np.arange(len(table)) + 0.5, list(table.title))
        letters = LINE_LETTERS // len(releases)
        heads = ["\n".join(textwrap.wrap(names[r], letters)) for r in releases]
        axes.set_xticks(np.arange(len(releases)) + 0.5, heads)
        axes.tick_params(length=0, labelcolor=INK, labeltop=True, labelbottom=False)
        axes.tick_params(axis="x", labelsize=7)
        axes.invert_yaxis()
        for spine in axes.spines.values():
            spine.set_visible(False)

    return draw(0.6 + 0.22 * len(table), paint)


def _whisker(value: float, low: float, high: float) -> list[list[float]] | None:
    if low != low or high != high:
        return None
    return [[max(value - low, 0.0)], [max(high - value, 0.0)]]


def _set_log_ticks(axis: Axis, name: Callable[[float], str]) -> None:
    ticks = list_log_ticks(*axis.get_view_interval(), max_ratio=300)
    axis.set_ticks(ticks, [name(tick) for tick in ticks])
    axis.set_minor_locator(NullLocator())


def _quiet(axes: Axes, grid: str) -> None:
    axes.grid(axis=grid, color=GRID, linewidth=0.5)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
