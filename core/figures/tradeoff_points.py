"""Usefulness against risk, one point per release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import pair_data_independent
from core.audit.asked.release_info import list_short_titles
from core.audit.asked.scenarios import Threat
from core.figures.chart import Chart, make_empty_chart
from core.figures.label_places import place_labels
from core.figures.theme import INKS, Ink, add_line, error_bars, style_figure
from core.findings.curves import Curve, list_curves
from core.findings.inverted_scores import INVERTED, MARK
from core.findings.labels import axis_title, chance_level, is_higher_useful, metric_title
from core.findings.numbers import format_interval
from core.findings.palette import (
    NO_FILL,
    WITHIN_FILL,
    Theme,
    escape_text,
    fade,
    release_color,
    release_symbol,
)
from core.findings.tables import describe_sample, list_made, select_results
from core.findings.tradeoff import (
    compute_admissible,
    compute_tradeoff,
    find_best_release,
    find_clear_front,
)
from core.findings.verdict import Verdict
from core.findings.verdict_words import list_uncleared
from core.release import ORIGINAL
from core.results import RELEASE

ROOM = 0.06
"""Margin of an axis beyond the data on either side, as a share."""

LEAST_SPAN = 0.1
"""Of an axis, as a share of its largest value: one point alone is no reason for four decimals."""

LABEL_ROOM, LABEL_HEIGHT = 0.15, 18
"""Width of a line's label, as a share of a narrow plot, and its height in pixels."""

HEIGHT = 480

PLOT_SIZES = ((600.0, 400.0), (1000.0, 400.0))
"""Width of the plot in pixels in a narrow and in a wide window."""

MAX_NAMED = 9
"""Number of points above which only the front, the original and the best are labelled."""


def tradeoff(
    results: pd.DataFrame,
    attack_metric: str,
    utility_metric: str,
    attack: str | None = None,
    threat: Threat | None = None,
    max_risk: float | None = None,
    theme: Theme = "light",
    verdict: Verdict | None = None,
) -> Chart:
    """Usefulness against risk with intervals both ways, and the Pareto front beyond noise.

    `max_risk` makes inadmissible points hollow and labels the best admissible release; of the worst
    case those are admissible that meet it by the `verdict`. `customdata` of a point is its release
    id.
    """
    table = compute_tradeoff(results, attack_metric, utility_metric, attack, threat, verdict)
    if table.empty:
        message = "No release has both numbers yet."
        return make_empty_chart(message, theme, table)
    ink = INKS[theme]
    everything = list_made(results).values()
    colors, symbols = release_color(everything), release_symbol(everything)
    admissible, best = np.ones(len(table), bool), None
    if max_risk is not None:
        admissible = compute_admissible(table, max_risk)
        refused = () if verdict is None else list_uncleared(verdict)
        best = find_best_release(table, max_risk, utility_metric, refused)
    figure = go.Figure()
    if max_risk is not None:
        _shade_within(figure, table, max_risk)
    curves = list_curves(table)
    for curve in sorted(curves, key=lambda curve: not curve.is_data_independent):
        _add_curve(figure, curve, colors, ink)
    front = find_clear_front(table)
    if not curves:  # with curves the front would be one line too many
        add_line(figure, front.risk, front.utility, ink.muted, 1.5, name="Pareto front")
    pairs = {} if curves else _add_pairs(figure, table, ink)
    for is_open, row in zip(~admissible, table.itertuples(), strict=True):
        symbol = f"{symbols[row.release]}-open" if is_open else symbols[row.release]
        edge = {"width": 2, "color": ink.text if row.release == best else colors[row.release]}
        size = 15 if row.release == best else 11
        marker = {"color": colors[row.release], "symbol": symbol, "size": size, "line": edge}
        _add_point(figure, row, marker, opacity=0.35 if curves else 1.0)
    lines = [(max_risk, "dash", "limit"), (chance_level(attack_metric), "dot", "chance")]
    drawn = sorted(x for x, _, _ in lines if x is not None)
    ranges = _find_ranges(table, drawn, with_whiskers=not curves)
    for x, dash, name in lines:
        if x is not None:
            look = {"dash": dash, "width": 1.5 if name == "limit" else 1, "color": ink.text}
            label = f"{name} {x:g}"
            _add_limit(figure, x, look, label, *_place_label(x, drawn, ranges[0]))
    is_named = np.ones(len(table), bool)
    if curves:
        drawn_as = {release for curve in curves for release in curve.table.release}
        is_own = ~table.release.isin(drawn_as) | (table.release == best)
        is_named = (is_own | table.is_inverted).to_numpy()
    elif len(table) > MAX_NAMED:
        is_named = (table.is_pareto | table.release.isin([ORIGINAL, best])).to_numpy()
    _add_names(figure, table, best, is_named, admissible, ranges, drawn, ink)
    title = _describe_limit(table, admissible, max_risk)
    if attack is not None and title:
        title += f", by {table.by.iloc[0].title} alone"
    more: dict[str, Any] = {"showlegend": bool(curves), "clickmode": "event+select"}
    style_figure(figure, theme, HEIGHT + 60 * bool(curves), title, **more)
    if curves:
        figure.update_layout(legend={"y": -0.16, "yanchor": "top"})
    who = "strongest attack" if attack is None else table.by.iloc[0].title
    figure.update_xaxes(
        title_text=escape_text(f"Risk: {axis_title(attack_metric)} ({who})"), range=list(ranges[0])
    )
    hint = "↑ more useful" if is_higher_useful(utility_metric) else "↓ more useful"
    figure.update_yaxes(
        title_text=f"{metric_title(utility_metric)}   {hint}", range=list(ranges[1])
    )
    rows = select_results(results, utility_metric, method=RELEASE)
    repeats = describe_sample(rows, "")
    line = " Line: Pareto front, where beyond noise." if len(front.dropna()) else ""
    if curves:
        line = " Lines join the strengths of one defense."
        if any(curve.is_data_independent for curve in curves):
            line += " Dotted: without the data."
    note = f"{repeats}{line} Dashed: limit; dotted: chance. Grey: the original."
    if not admissible.all():
        note += " Hollow: value, or an attack's interval, beyond the limit."
    if pairs:
        note += " Dashes join a synthesis to its data-independent baseline."
    if table.is_inverted.any():
        note += f" {MARK} clearly below one half: counted inverted, as far above it."
    return Chart(figure, table.drop(columns=["made", "by"]), note)


def _describe_limit(table: pd.DataFrame, admissible: np.ndarray, limit: float | None) -> str:
    """Number of defended releases whose whole interval is within the limit: baselines without the
    data are no releases to publish."""
    defended = np.array([made.is_defended for made in table.made], bool)
    if limit is None or not defended.any():  # so far none was attacked
        return ""
    original = bool(admissible[(table.release == ORIGINAL).to_numpy()].any())
    count, most = int(admissible[defended].sum()), f"{limit:g}"
    if not count:
        also = "; the original does" if original else ""
        return f"No defended release meets the limit of {most}{also}"
    verb, number = "meets" if count == 1 else "meet", int(defended.sum())
    also = ", and so does the original" if original else ""
    releases = "defended release" if number == 1 else "defended releases"
    return f"{count} of {number} {releases} {verb} the limit of {most}{also}"


def _add_curve(figure: go.Figure, curve: Curve, colors: dict[str, str], ink: Ink) -> None:
    """The line through a defense's strengths, which stand at its ends."""
    rows, is_muted = curve.table, curve.is_data_independent
    color = ink.muted if is_muted else colors[rows.release.iloc[0]]
    texts = [""] * len(rows)
    for end in (0, -1) if not is_muted else ():
        texts[end] = f"{rows.strength.iloc[end]:g}"
    add_line(
        figure,
        rows.risk,
        rows.utility,
        color,
        2,
        "dot" if is_muted else "solid",
        escape_text(curve.title),
        mode="lines+text",
        text=texts,
        textposition="top left",
        textfont={"size": 12, "color": color},
    )


def _shade_within(figure: go.Figure, table: pd.DataFrame, limit: float) -> None:
    """The region within the limit."""
    low = float(np.nanmin(table[["risk", "risk_low"]].to_numpy(float)))
    figure.add_vrect(
        x0=min(low, limit) - 1, x1=limit, fillcolor=WITHIN_FILL, line_width=0, layer="below"
    )


def _add_pairs(figure: go.Figure, table: pd.DataFrame, ink: Ink) -> dict[str, str]:
    """Dashes from each synthesis to its data-independent baseline; returns these pairs."""
    points = {row.release: (row.risk, row.utility) for row in table.itertuples()}
    known = [MethodChoice.of(made.defense) for made in table.made if made.defense is not None]
    pairs = pair_data_independent(known)
    for pair in pairs.items():
        x, y = np.array([points[release] for release in pair]).T
        add_line(figure, x, y, ink.muted, 1, "dash", name="data-independent baseline")
    return pairs


def _add_limit(
    figure: go.Figure, x: float, line: dict[str, Any], label: str, side: str, lift: int
) -> None:
    """A vertical line with its label above the plot; `side` and `lift` as of `_place_label`."""
    figure.add_vline(
        x=x,
        line=line,
        annotation={
            "text": label,
            "yanchor": "bottom",
            "xanchor": side,
            "yshift": lift,
            "textangle": 0,
        },
        annotation_position="top",
    )


def _add_point(figure: go.Figure, row: Any, marker: dict[str, Any], opacity: float = 1.0) -> None:
    """opacity: of the whiskers."""
    risk = format_interval(row.risk, row.risk_low, row.risk_high)
    if row.is_inverted:
        risk += INVERTED
    why = f"; not proven: {row.unproven}" if row.unproven else ""
    by = escape_text(f"{row.by.title}{why}")
    utility = format_interval(row.utility, row.utility_low, row.utility_high)
    title, color = escape_text(row.title), fade(marker["color"], opacity)
    figure.add_scatter(
        x=[row.risk],
        y=[row.utility],
        name=title,
        showlegend=False,
        mode="markers",
        cliponaxis=False,
        marker=marker,
        error_x=error_bars(row.risk, row.risk_low, row.risk_high, color=color),
        error_y=error_bars(row.utility, row.utility_low, row.utility_high, color=color),
        customdata=[row.release],
        hovertemplate=f"{title}<br>risk {risk} ({by})<br>utility {utility}<extra></extra>",
    )


def _find_ranges(
    table: pd.DataFrame, lines: list[float], with_whiskers: bool = True
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ends of both axes: every point, whisker and line, with room for labels on each side."""
    columns = ("", "_low", "_high") if with_whiskers else ("",)
    x = np.concatenate([*(table[f"risk{c}"].to_numpy(float) for c in columns), lines])
    y = np.concatenate([table[f"utility{c}"].to_numpy(float) for c in columns])
    return _widen(x), _widen(y)


def _place_label(x: float, drawn: list[float], ends: tuple[float, float]) -> tuple[str, int]:
    """Anchor and lift in pixels of a line's label: outwards, inwards beside the vertical axis with
    its numbers, and above another label that it would meet."""
    places = [(line - ends[0]) / (ends[1] - ends[0]) for line in drawn]
    is_outside = places[0] > LABEL_ROOM
    if x == drawn[0]:
        return ("right" if is_outside else "left"), 0
    meets = not is_outside and places[-1] - places[0] < LABEL_ROOM
    return "left", LABEL_HEIGHT if meets else 0


def _widen(values: np.ndarray) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    span = max(high - low, 0.02, LEAST_SPAN * max(abs(low), abs(high)))
    room = ROOM * span + (span - (high - low)) / 2
    return low - room, high + room


def _add_names(
    figure: go.Figure,
    table: pd.DataFrame,
    best: str | None,
    is_named: np.ndarray,
    admissible: np.ndarray,
    ranges: tuple[tuple[float, float], tuple[float, float]],
    lines: list[float],
    ink: Ink,
) -> None:
    """Labels beside their points, with a leader line if there is no room right there.

    A label without any room is shown on hover only. The best release and the front choose first.
    """
    names = list_short_titles(table.made)
    turn = np.lexsort((~table.is_pareto, table.release != best))
    marks = np.where(table.is_inverted, MARK, "")
    texts = [
        f"{names[release]}{mark}" if named else ""
        for release, mark, named in zip(table.release, marks, is_named, strict=True)
    ]
    charts = [_to_pixels(table.iloc[turn], ranges, size) for size in PLOT_SIZES]
    left, right = ranges[0]
    places = place_labels(
        [points for points, _ in charts],
        [texts[i] for i in turn],
        PLOT_SIZES,
        [whiskers for _, whiskers in charts],
        [(np.array(lines) - left) / (right - left) * width for width, _ in PLOT_SIZES],
    )
    for index, place in zip(turn, places, strict=True):
        if place is None:
            continue
        row, text = table.iloc[index], escape_text(texts[index])
        figure.add_annotation(
            x=row.risk,
            y=row.utility,
            text=f"<b>{text}</b>" if row.release == best else text,
            **place.anchor,
            standoff=7,
            borderpad=0,
            arrowcolor=ink.muted if place.needs_leader else NO_FILL,
            font={"size": 12},
            opacity=1.0 if admissible[index] else 0.8,
        )


def _to_pixels(
    table: pd.DataFrame,
    ranges: tuple[tuple[float, float], tuple[float, float]],
    size: tuple[float, float],
) -> tuple[np.ndarray, np.ndarray]:
    """(k, 2) pixels of the points from the upper left, and (k, 4) of their whiskers' ends."""
    (left, right), (bottom, top) = ranges

    def place(values: pd.Series, low: float, high: float, length: float) -> np.ndarray:
        return np.asarray((values.to_numpy(float) - low) / (high - low) * length)

    x, x0, x1 = (
        place(table[c].fillna(table.risk), left, right, size[0])
        for c in ("risk", "risk_low", "risk_high")
    )
    y, y0, y1 = (
        size[1] - place(table[c].fillna(table.utility), bottom, top, size[1])
        for c in ("utility", "utility_low", "utility_high")
    )
    return np.stack([x, y], axis=1), np.stack([x0, y1, x1, y0], axis=1)
