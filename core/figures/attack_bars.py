"""Ranking of attacks, with baseline attackers and chance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.audit.asked.attack import Attack
from core.audit.asked.scenarios import Threat
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import (
    HALF_LETTERS,
    HALF_PX,
    INKS,
    LETTER_PX,
    NARROW_PX,
    add_rule,
    error_bars,
    make_legend_room,
    shorten_names,
    style_figure,
)
from core.findings.inverted_scores import describe_strength
from core.findings.labels import THREAT_WORDS, axis_title, chance_level
from core.findings.numbers import format_interval, format_number
from core.findings.palette import NO_FILL, ORIGINAL_GREY, Theme, escape_text, family_color
from core.findings.ranking import compute_ranking
from core.findings.strongest import find_strongest
from core.findings.tables import describe_sample
from core.release import ORIGINAL
from core.words import begin_sentence, format_percent

ROW_PX, MIN_PX, MAX_NAME = 28, 460, 30
"""Height of a bar's row, least height, as of the curves beside it, and letters of a name."""

PERCENTAGES = ("tpr_at_fpr", "expected_found", "hits_at", "recovered_at", "released_tpr_at_fpr")
"""Prefixes of metrics that are shares of the secrets."""


def attack_ranking(
    results: pd.DataFrame,
    threat: Threat,
    metric: str,
    theme: Theme = "light",
    letters: int = HALF_LETTERS,
) -> Chart:
    """One bar per attack of `threat` on the original, best on top, in the colour of its family.

    Bars start at chance if the metric has a chance level; whiskers are intervals; the dashed line
    is the best baseline attacker, the dotted one chance. Baseline attackers are hollow. Shares are
    per cent.

    letters  of a line of the title: the figure may stand beside the ROC curve, or alone
    """
    table = compute_ranking(results, threat, [metric])
    if table.empty:
        return make_empty_chart("No finished attack on this release yet.", theme, table)
    figure, ink = go.Figure(), INKS[theme]
    known = {attack.id: attack for attack in results.attack if attack is not None}
    scale, chance = _find_scale(metric), chance_level(metric)
    rows = table.assign(**{c: table[c] * scale for c in ("value", "low", "high", "strength")})
    _add_bars(figure, rows, known, scale * (chance or 0.0), theme)
    _add_inverted(figure, rows[rows.is_inverted], ink.muted)
    baselines = rows[rows.is_baseline]
    if not baselines.empty:
        add_rule(figure, theme, "dash", x=baselines.strength.max())
    if chance is not None:
        add_rule(figure, theme, "dot", x=scale * chance)
    order = [escape_text(t) for t in table.title]
    title = _describe_best(results, threat, metric)
    height = max(140 + ROW_PX * len(order), MIN_PX)
    style_figure(figure, theme, height, title, letters, bargap=0.35, barmode="overlay")
    axis = axis_title(metric)
    left = LETTER_PX * min(max(map(len, table.title)), MAX_NAME) + 10
    if letters == HALF_LETTERS:
        make_legend_room(figure, HALF_PX, left, least=2)
        axis = axis.replace("   ", "<br>")
    else:
        make_legend_room(figure, NARROW_PX, left)
    figure.update_xaxes(
        title_text=axis,
        nticks=5,
        rangemode="tozero" if chance is None else "normal",
        ticksuffix=" %" if scale == 100 else "",
    )
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=order[::-1],
        showgrid=False,
        tickfont={"color": ink.text},
        ticktext=[escape_text(t) for t in shorten_names(table.title, MAX_NAME)],
        tickvals=order,
        ticks="",
    )
    sample = describe_sample(table, THREAT_WORDS[threat].unit)
    note = f"{sample} Dashed: best baseline attacker; dotted: chance."
    if table.is_inverted.any():
        note += " Clearly below one half: ranked by the diamond, its strength inverted."
    return Chart(figure, table, note)


def _find_scale(metric: str) -> int:
    """100 for a metric shown as a percentage, else 1."""
    return 100 if metric.startswith(PERCENTAGES) else 1


def _describe_best(results: pd.DataFrame, threat: Threat, metric: str) -> str:
    """The strongest attack beside the best baseline attacker; a lead only if beyond noise."""
    found = find_strongest(results, threat, ORIGINAL, metric)
    if found is None or found.is_by_baseline:
        return ""
    how = format_percent if _find_scale(metric) == 100 else format_number
    text = f"{found.attack.title} "
    text += describe_strength(metric, how(found.best.value))
    if found.baseline is None:
        return text
    noise = "" if found.beats or found.gap <= 0 else ", within noise"
    return f"{text}, the best baseline attacker {how(found.baseline.value)}{noise}"


def _add_bars(
    figure: go.Figure, rows: pd.DataFrame, known: Mapping[str, Attack], base: float, theme: Theme
) -> None:
    """A trace per family, strongest first, so that the legend names them; hollow baselines last."""
    attacks = [known[method] for method in rows.method]
    families = [
        "baseline attackers" if attack.is_baseline or attack.method is None
        else attack.method.info.group
        for attack in attacks
    ]  # fmt: skip
    names = sorted(dict.fromkeys(families), key=lambda name: name == "baseline attackers")
    for name in names:
        own = rows[[family == name for family in families]]
        color = family_color(attacks[families.index(name)], theme)
        labels = [format_interval(*row) for row in own[["value", "low", "high"]].to_numpy()]
        is_baseline = bool(own.is_baseline.all())
        figure.add_bar(
            x=(own.value - base).to_numpy(),
            y=[escape_text(title) for title in own.title],
            base=base,
            orientation="h",
            name=escape_text(begin_sentence(name)),
            marker={
                "color": NO_FILL if is_baseline else color,
                "line": {"color": color, "width": 1.5},
            },
            error_x=error_bars(own.value, own.low, own.high, 4, color=INKS[theme].text),
            customdata=np.array([labels, own.method.tolist()]).T,
            hovertemplate="%{y}<br>%{customdata[0]}<extra>%{fullData.name}</extra>",
        )


def _add_inverted(figure: go.Figure, rows: pd.DataFrame, ink: str) -> None:
    """A diamond at the inverted value of an attack clearly below chance."""
    if rows.empty:
        return
    figure.add_scatter(
        x=rows.strength.to_numpy(),
        y=[escape_text(title) for title in rows.title],
        mode="markers+text",
        text=["inverted"] * len(rows),
        textposition="middle right",
        textfont={"color": ink, "size": 12},
        showlegend=False,
        cliponaxis=False,
        marker={"symbol": "diamond-open", "size": 10, "color": ORIGINAL_GREY, "line": {"width": 2}},
        hovertemplate="%{y}<br>inverted %{x:.2f}<extra></extra>",
    )
