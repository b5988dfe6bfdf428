"""ROC curves on log axes, which show the low-FPR region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo, list_short_titles
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import HALF_LETTERS, HALF_PX, INKS, add_line, make_legend_room, style_figure
from core.findings.palette import Theme, family_color, release_color
from core.findings.ranking import FLOOR, compute_strength, rank_curves
from core.words import format_percent

Curves = Mapping[tuple[ReleaseInfo, Attack], pd.DataFrame]

LOW_FPR = 0.01
HEIGHT, LEFT_PX = 460, 75
"""Height of the figure, and room of its vertical axis, in pixels."""


def roc_by_attack(
    rocs: Mapping[tuple[str, str], pd.DataFrame],
    release: ReleaseInfo,
    attacks: Sequence[Attack],
    theme: Theme = "light",
    level: float = LOW_FPR,
) -> Chart:
    """The strongest attack of each family on one release at a low FPR in the family's colour, the
    best emphasised, and the strongest baseline attacker, dashed; the table has all.

    level  FPR of the title, one that the sample resolves
    """
    by_id = {attack.id: attack for attack in attacks}
    curves = {
        by_id[attack]: curve
        for (where, attack), curve in rocs.items()
        if where == release.id and attack in by_id
    }
    if not curves:
        return make_empty_chart("No ROC curve yet.", theme)
    ranked = rank_curves(curves, level)
    best = ranked[0]
    drawn: dict[str, Attack] = {}
    for attack in ranked:
        drawn.setdefault(family_color(attack, theme), attack)
    figure = go.Figure()
    for color, attack in drawn.items():
        width = 3.0 if attack == best else 1.8
        _add_curve(figure, curves[attack], attack.title, attack.is_baseline, color, width)
    found = {(release, attack): curve for attack, curve in curves.items()}
    return _finish(figure, found, (release, best), theme, level, len(curves) - len(drawn))


def roc_by_release(
    rocs: Mapping[tuple[str, str], pd.DataFrame],
    attack: Attack,
    releases: Sequence[ReleaseInfo],
    theme: Theme = "light",
    level: float = LOW_FPR,
) -> Chart:
    """One attack on every release, in the releases' colours.

    releases  all of the audit, which determine the colours
    level     as in `roc_by_attack`
    """
    by_id = {made.id: made for made in releases}
    curves = {(by_id[where], own): c for (where, own), c in rocs.items() if own == attack.id}
    if not curves:
        return make_empty_chart("No ROC curve yet.", theme)
    colors, names, figure = release_color(releases), list_short_titles(releases), go.Figure()
    for made, _ in curves:
        curve = curves[made, attack.id]
        _add_curve(figure, curve, names[made.id], attack.is_baseline, colors[made.id], 2.2)
    found = {(made, attack): curve for (made, _), curve in curves.items()}
    best = max(found, key=lambda key: compute_strength(found[key], level))
    return _finish(figure, found, best, theme, level)


def _add_curve(
    figure: go.Figure, curve: pd.DataFrame, title: str, dashed: bool, color: str, width: float
) -> None:
    fpr, tpr = (np.clip(curve[name], FLOOR, 1) for name in ("fpr", "tpr"))
    hover = "FPR %{x:.2g}, TPR %{y:.2g}<extra>%{fullData.name}</extra>"
    dash = "dash" if dashed else "solid"
    add_line(figure, fpr, tpr, color, width, dash, title, hovertemplate=hover)


def _finish(
    figure: go.Figure,
    curves: Curves,
    best: tuple[ReleaseInfo, Attack],
    theme: Theme,
    level: float,
    num_left_out: int = 0,
) -> Chart:
    add_line(figure, [FLOOR, 1], [FLOOR, 1], INKS[theme].muted, 1, "dot", "chance")
    ticks = {
        "type": "log",
        "tickvals": [1e-4, 1e-3, 1e-2, 1e-1, 1],
        "ticktext": ["0.01 %", "0.1 %", "1 %", "10 %", "100 %"],
        "range": [-4.02, 0.05],
    }
    style_figure(figure, theme, HEIGHT, _describe_best(curves[best], best, level), HALF_LETTERS)
    make_legend_room(figure, HALF_PX, LEFT_PX, least=2)
    figure.update_xaxes(ticklabelstandoff=6, title_text="False positive rate", **ticks)
    figure.update_yaxes(title_text="True positive rate   ↓ safer", **ticks)
    parts = [
        curve[["fpr", "tpr"]].assign(release=made.id, attack=attack.id)
        for (made, attack), curve in curves.items()
    ]
    table = pd.concat(parts, ignore_index=True)[["release", "attack", "fpr", "tpr"]]
    note = (
        "Mean over repeats of the true positive rate at fixed false positive rates; both axes "
        "logarithmic. Dashed: baseline attackers; dotted: chance."
    )
    if num_left_out:
        weaker = "one weaker attack is" if num_left_out == 1 else f"{num_left_out} weaker ones are"
        note += f" The strongest of each family is drawn; {weaker} in the table."
    return Chart(figure, table, note)


def _describe_best(curve: pd.DataFrame, best: tuple[ReleaseInfo, Attack], level: float) -> str:
    """TPR of the best curve at an FPR."""
    found, _ = compute_strength(curve, level)
    if found < 0:
        return ""
    return (
        f"At {format_percent(level)} FPR, {best[1].title} finds {format_percent(found)} on "
        f"{best[0].title}"
    )
