"""How sure a classifier is of each person: boxes of margins, a row a release (NetFense §5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from plotly.subplots import make_subplots

from core.audit.view import AuditView
from core.figures.chart import Chart
from core.figures.theme import (
    INKS,
    Theme,
    escape_text,
    format_interval,
    make_empty_figure,
    release_color,
    style_figure,
)
from core.findings.labels import ORIGINAL, attack_threat, is_null, method_title, release_title
from core.findings.tables import list_releases

WHATS = ("private", "label")
LEAVES_INVERTED = -0.1
"""Margins below it leak: who knows of the defense inverts the answer."""
COLUMNS = (
    "what",
    "release",
    "n",
    "p5",
    "q1",
    "median",
    "q3",
    "p95",
    "mean",
    "mean_absolute",
    "below_zero",
    "below_inverted",
)


def list_margin_attacks(view: AuditView) -> list[str]:
    """Attribute attacks that left probabilities on some release, the null attackers last."""
    done = view.results[view.results.status == "done"].method.unique()
    found = [m for m in view.summary.attacks if m in done and attack_threat(m) == "attribute"]
    return sorted(found, key=is_null)


def compute_margin_table(
    view: AuditView, attack: str, releases: Sequence[str], absolute: bool = False
) -> pd.DataFrame:
    """Quantiles and shares of the margins of the private value under an attack, and of the label
    under the classifier that measures usefulness; a row a release, `COLUMNS`.

    Quantiles and mean are those of the margin's size where `absolute`; the rest never changes.
    """
    rows = []
    for what in WHATS:
        for release in releases:
            margins = view.load_margins(release, attack if what == "private" else None)
            if not len(margins):
                continue
            shown = np.abs(margins) if absolute else margins
            rows.append(
                (
                    what,
                    release,
                    len(margins),
                    *np.quantile(shown, (0.05, 0.25, 0.5, 0.75, 0.95)),
                    shown.mean(),
                    np.abs(margins).mean(),
                    (margins < 0).mean(),
                    (margins < LEAVES_INVERTED).mean(),
                )
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def margin_boxes(
    view: AuditView,
    attack: str,
    releases: Sequence[str],
    absolute: bool = False,
    theme: Theme = "light",
) -> Chart:
    """Private value on the left, label on the right; 0 is undecided."""
    table = compute_margin_table(view, attack, releases, absolute)
    whats = [what for what in WHATS if what in set(table.what)]
    if not whats:
        note = "No margins are stored for this attack: run the audit again to see them."
        return Chart(make_empty_figure(note, theme), table, note)
    colors, ink = release_color(list_releases(view.results)), INKS[theme]
    titles = {"private": f"Private value, {method_title(attack)}", "label": "Label"}
    figure = make_subplots(
        1,
        len(whats),
        shared_yaxes=True,
        horizontal_spacing=0.05,
        subplot_titles=[escape_text(titles[what]) for what in whats],
    )
    for column, what in enumerate(whats, start=1):
        for row in table[table.what == what].itertuples():
            figure.add_box(
                y=[escape_text(release_title(row.release))],
                orientation="h",
                lowerfence=[row.p5],
                q1=[row.q1],
                median=[row.median],
                q3=[row.q3],
                upperfence=[row.p95],
                mean=[row.mean],
                boxmean=True,
                width=0.55,
                line={"color": colors[row.release], "width": 1.6},
                showlegend=False,
                name=escape_text(release_title(row.release)),
                row=1,
                col=column,
            )
        if not absolute:
            figure.add_vline(
                x=0, line={"dash": "dash", "width": 1.2, "color": ink.text}, row=1, col=column
            )
        hint = "nearer 0 is safer" if what == "private" else "more useful →"
        figure.update_xaxes(
            title_text=f"{'Absolute margin' if absolute else 'Margin'}   {hint}",
            range=[0, 1.02] if absolute else [-1.05, 1.05],
            row=1,
            col=column,
        )
    style_figure(figure, theme, 150 + 42 * table.release.nunique())
    figure.update_yaxes(autorange="reversed", ticklabelstandoff=4)
    repeats = int(view.results.seeds.max())
    note = (
        "Probability of the true class less the highest other one, as the classifier states it. "
        "Box: middle half and median, dashed line: mean, whiskers: 5 to 95 %. "
        f"{table.n.min():,} to {table.n.max():,} hidden nodes over {repeats} repeats; a node "
        "counts as often as it was hidden."
    )
    return Chart(figure, table, note)


def answer_margins(results: pd.DataFrame, attack: str, releases: Sequence[str]) -> str:
    """One sentence: how sure and how often wrong the attack is, on each of two releases."""
    parts = []
    for release in releases:
        rows = results[
            (results.release == release) & (results.method == attack) & (results.status == "done")
        ].set_index("metric")
        if not {"margin_absolute", "share_below_zero"} <= set(rows.index):
            continue
        size, wrong = (
            format_interval(*rows.loc[metric, ["value", "low", "high"]])
            for metric in ("margin_absolute", "share_below_zero")
        )
        parts.append(
            f"{size} from undecided and names another class for a share of {wrong} on "
            f"{'the original' if release == ORIGINAL else release_title(release)}"
        )
    if not parts:
        return ""
    return f"{method_title(attack)} is on average {', and '.join(parts)}."
