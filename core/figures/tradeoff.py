"""Usefulness against risk, a point a release; and how attacks carry over between releases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.chart import Chart
from core.figures.labels import (
    ORIGINAL,
    Threat,
    axis_title,
    chance_level,
    is_higher_useful,
    method_title,
    metric_title,
    release_title,
)
from core.figures.tables import (
    RELEASE,
    attack_rows,
    compute_worst_attacks,
    describe_sample,
    list_releases,
    select_results,
)
from core.figures.theme import (
    INKS,
    Theme,
    escape_text,
    format_interval,
    make_empty_figure,
    release_color,
    release_symbol,
    risk_colorscale,
    style_figure,
)

MAX_NAMED = 9
"""Above this many points only the front, the original and the best carry their names."""

COLUMNS = [
    "release", "title", "attack", "risk", "risk_low", "risk_high", "utility", "utility_low",
    "utility_high", "is_pareto",
]


def compute_tradeoff(
    results: pd.DataFrame,
    attack_metric: str,
    utility_metric: str,
    attack: str | None = None,
    threat: Threat | None = None,
) -> pd.DataFrame:
    """One row a release that has both numbers.

    attack  one attack, or None for the worst case: the highest value over all attacks
    Columns release, title, attack (that does it), risk and utility with their intervals,
    is_pareto: no other release is at least as safe and as useful, and better in one of them.
    """
    if attack is None:
        risk = compute_worst_attacks(results, attack_metric, threat)
    else:
        risk = select_results(results, attack_metric, method=attack)
    utility = select_results(results, utility_metric, method=RELEASE)
    both = risk.merge(utility, on="release", suffixes=("_risk", "_utility"))
    table = pd.DataFrame({
        "release": both.release, "title": both.release.map(release_title),
        "attack": both.method_risk, "risk": both.value_risk, "risk_low": both.low_risk,
        "risk_high": both.high_risk, "utility": both.value_utility,
        "utility_low": both.low_utility, "utility_high": both.high_utility,
    })
    gain = table.utility if is_higher_useful(utility_metric) else -table.utility
    table["is_pareto"] = compute_pareto(table.risk.to_numpy(float), gain.to_numpy(float))
    order = {release: i for i, release in enumerate(list_releases(results))}
    return table.sort_values("release", key=lambda r: r.map(order))[COLUMNS].reset_index(drop=True)


def compute_pareto(risk: np.ndarray, utility: np.ndarray) -> np.ndarray:
    """(k,) bool: points that no other dominates (lower risk, higher utility); O(k log k).

    Equal points do not dominate each other.
    """
    risk, utility = np.asarray(risk, float), np.asarray(utility, float)
    front = np.zeros(len(risk), bool)
    best = -np.inf  # highest utility at strictly lower risk
    order = np.lexsort((-utility, risk))
    start = 0
    while start < len(order):
        level = risk[order[start]]
        stop = start
        while stop < len(order) and risk[order[stop]] == level:
            stop += 1
        top = utility[order[start]]
        if top > best:
            front[[i for i in order[start:stop] if utility[i] == top]] = True
            best = top
        start = stop
    return front


def find_best_release(
    table: pd.DataFrame, max_risk: float, utility_metric: str
) -> str | None:
    """The most useful defended release of a `compute_tradeoff` table within the accepted risk.

    The upper end of the risk's interval must stay within, where there is an interval. None if
    no release does; equal usefulness is decided by the lower risk. The original counts too.
    """
    rows = table[compute_admissible(table, max_risk)]
    if rows.empty:
        return None
    sign = -1.0 if is_higher_useful(utility_metric) else 1.0
    order = np.lexsort((rows.risk.to_numpy(float), sign * rows.utility.to_numpy(float)))
    return str(rows.release.iloc[order[0]])


def compute_admissible(table: pd.DataFrame, max_risk: float) -> np.ndarray:
    """(k,) bool: rows of a trade-off table whose risk, interval included, is within `max_risk`."""
    return (table.risk_high.fillna(table.risk) <= max_risk + 1e-12).to_numpy()


def tradeoff(
    results: pd.DataFrame,
    attack_metric: str,
    utility_metric: str,
    attack: str | None = None,
    threat: Threat | None = None,
    max_risk: float | None = None,
    theme: Theme = "light",
) -> Chart:
    """Usefulness against risk with intervals both ways and the Pareto front.

    `max_risk` dims what is not admissible and names the best release that is. `customdata` of
    a point is its release id.
    """
    table = compute_tradeoff(results, attack_metric, utility_metric, attack, threat)
    if table.empty:
        message = "No release has both numbers yet."
        return Chart(make_empty_figure(message, theme), table, "")
    ink = INKS[theme]
    everything = list_releases(results)
    colors, symbols = release_color(everything), release_symbol(everything)
    admissible = np.ones(len(table), bool)
    if max_risk is not None:
        admissible = compute_admissible(table, max_risk)
    best = None if max_risk is None else find_best_release(table, max_risk, utility_metric)
    figure = go.Figure()
    _add_front(figure, table, ink.muted)
    middle = (table.risk.min() + table.risk.max()) / 2
    is_named = np.ones(len(table), bool)
    if len(table) > MAX_NAMED:
        is_named = (table.is_pareto | table.release.isin([ORIGINAL, best])).to_numpy()
    for index, row in enumerate(table.itertuples()):
        side = "top right" if row.risk <= middle else "top left"
        _add_point(figure, row, colors[row.release], symbols[row.release],
                   bool(admissible[index]), row.release == best,
                   ink.text, side if is_named[index] else None)
    if max_risk is not None:
        figure.add_vline(x=max_risk, line={"width": 1, "color": ink.muted})
    level = chance_level(attack_metric)
    if level is not None:
        figure.add_vline(x=level, line={"dash": "dot", "width": 1, "color": ink.muted})
    style_figure(figure, theme, 480, showlegend=False, clickmode="event+select")
    who = "worst attack" if attack is None else method_title(attack)
    figure.update_xaxes(title_text=escape_text(f"Risk: {axis_title(attack_metric)} ({who})"))
    hint = "↑ more useful" if is_higher_useful(utility_metric) else "↓ more useful"
    figure.update_yaxes(title_text=f"{metric_title(utility_metric)}   {hint}")
    rows = select_results(results, utility_metric, method=RELEASE)
    repeats = describe_sample(rows.assign(n=0), "value")
    note = f"{repeats} Line: Pareto front. Dotted: chance. Grey: the original."
    return Chart(figure, table, note)


def _add_front(figure: go.Figure, table: pd.DataFrame, color: str) -> None:
    front = table[table.is_pareto].sort_values("risk")
    figure.add_scatter(
        x=front.risk.to_numpy(), y=front.utility.to_numpy(), mode="lines", name="Pareto front",
        line={"color": color, "width": 1.5}, hoverinfo="skip",
    )


def _add_point(
    figure: go.Figure, row, color: str, symbol: str, is_admissible: bool, is_best: bool, ink: str,
    side: str | None,
) -> None:
    risk = format_interval(row.risk, row.risk_low, row.risk_high)
    utility = format_interval(row.utility, row.utility_low, row.utility_high)
    title = escape_text(row.title)
    label = f"<b>{title}</b>" if is_best else title
    figure.add_scatter(
        x=[row.risk], y=[row.utility], name=title,
        mode="markers" if side is None else "markers+text",
        text=[label], textposition=side or "top right", cliponaxis=False,
        textfont={"size": 12, "color": ink},
        opacity=1.0 if is_admissible else 0.25,
        marker={"color": color, "symbol": symbol, "size": 15 if is_best else 11,
                "line": {"width": 2 if is_best else 0, "color": ink}},
        error_x=_whisker(row.risk, row.risk_low, row.risk_high, color),
        error_y=_whisker(row.utility, row.utility_low, row.utility_high, color),
        customdata=[row.release],
        hovertemplate=f"{title}<br>risk {risk} ({escape_text(method_title(row.attack))})"
                      f"<br>utility {utility}<extra></extra>",
    )


def _whisker(value: float, low: float, high: float, color: str) -> dict:
    above = 0.0 if high != high else max(high - value, 0.0)
    below = 0.0 if low != low else max(value - low, 0.0)
    return {"type": "data", "array": [above], "arrayminus": [below], "color": color,
            "thickness": 1.2, "width": 3}


def transfer_matrix(
    results: pd.DataFrame, metric: str, threat: Threat | None = None, theme: Theme = "light"
) -> Chart:
    """Attacks (rows) × releases (columns), the original first; values in the cells.

    Table: attack, title, then one column a release (NaN: no value).
    """
    table = compute_transfer(results, metric, threat)
    if table.empty:
        return Chart(make_empty_figure("No finished attack yet.", theme), table, "")
    releases = [c for c in table.columns if c not in ("attack", "title")]
    values = table[releases].to_numpy(float)
    ink = INKS[theme]
    low = chance_level(metric) or 0.0
    if not metric.startswith(("auc", "accuracy")):
        low, top = 0.0, max(float(np.nanmax(values)), 1e-9)
    else:
        top = 1.0
    text = [["" if v != v else f"{v:.2f}" for v in row] for row in values]
    long = sum(len(release_title(release)) for release in releases) > 70
    hover = _transfer_hover(results, metric, table, releases)
    figure = go.Figure(
        go.Heatmap(
            z=values, x=[escape_text(release_title(r)) for r in releases],
            y=[escape_text(t) for t in table.title], zmin=low, zmax=top,
            colorscale=risk_colorscale(), xgap=2, ygap=2, text=text, texttemplate="%{text}",
            customdata=hover, hovertemplate="%{y} on %{x}<br>%{customdata}<extra></extra>",
            colorbar={"title": {"text": metric_title(metric)}, "thickness": 12, "outlinewidth": 0},
        )
    )
    style_figure(figure, theme, 150 + 34 * len(table))
    figure.update_layout(plot_bgcolor=ink.empty)
    figure.update_xaxes(side="top", showgrid=False, tickangle=-25 if long else 0,
                        tickfont={"color": ink.text})
    figure.update_yaxes(autorange="reversed", showgrid=False, tickfont={"color": ink.text})
    note = describe_sample(attack_rows(results, metric, threat), "pair or node")
    return Chart(figure, table, note.replace("; bars and whiskers show 95 % intervals.", "."))


def compute_transfer(
    results: pd.DataFrame, metric: str, threat: Threat | None = None
) -> pd.DataFrame:
    """attack, title, one column a release; attacks by their value on the original."""
    rows = attack_rows(results, metric, threat)
    if rows.empty:
        return pd.DataFrame(columns=["attack", "title"])
    wide = rows.pivot_table("value", "method", "release", sort=False)
    wide = wide[[release for release in list_releases(results) if release in wide.columns]]
    wide = wide.sort_values(wide.columns[0], ascending=False, kind="stable").reset_index()
    wide.columns.name = None
    wide = wide.rename(columns={"method": "attack"})
    wide.insert(1, "title", wide.attack.map(method_title))
    return wide


def _transfer_hover(
    results: pd.DataFrame, metric: str, table: pd.DataFrame, releases: list[str]
) -> list[list[str]]:
    rows = select_results(results, metric).set_index(["method", "release"])
    rows = rows[~rows.index.duplicated()]
    texts = {key: format_interval(r.value, r.low, r.high)
             for key, r in zip(rows.index, rows.itertuples(), strict=True)}
    return [[texts.get((attack, release), "no value") for release in releases]
            for attack in table.attack]


def has_utility(results: pd.DataFrame) -> bool:
    """Whether any release has a utility number, so that a trade-off can be drawn."""
    rows = select_results(results, method=RELEASE)
    return bool((rows.release != ORIGINAL).any())
