"""Attacks on the original, releases against it, and usefulness against risk."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from core.audit.asked.release_info import list_short_titles
from core.audit.asked.scenarios import Threat
from core.findings.change import answer_defense
from core.findings.control import NOTE, tabulate_control
from core.findings.curves import answer_strengths, list_curves
from core.findings.inverted_scores import MARK
from core.findings.knowing_more import answer_odds
from core.findings.labels import LOW_FPR, THREAT_WORDS, metric_title
from core.findings.link_prior import count_pairs
from core.findings.numbers import find_told, format_number, format_row
from core.findings.private_columns import answer_private_columns
from core.findings.ranking import compute_ranking
from core.findings.release_table import compute_release_table
from core.findings.strongest import (
    answer_attack,
    choose_measure,
    describe_false_alarms,
    find_strongest,
)
from core.findings.tables import (
    describe_sample,
    find_level,
    list_metrics,
    main_metric,
    select_results,
)
from core.findings.tradeoff import choose_axes, compute_tradeoff, compute_transfer, find_clear_front
from core.release import ORIGINAL
from core.report import blocks, charts
from core.report.blocks import Block
from core.report.data import ReportData
from core.report.disclosure import place_bounds
from core.report.text import clean_text
from core.words import count_noun

TABLE_METRICS = (
    "auc",
    "accuracy",
    "tpr_at_fpr_0.01",
    "tpr_at_fpr_0.001",
    "precision_at_100",
    "expected_found",
    "share_unique",
    "precision_at_0.9_confidence",
)
MAX_RANKED = 8
"""Attacks in a chart; the annex has all."""
MAX_BASELINES = 2

INVERTED_NOTE = (
    f" {MARK} or diamond: clearly below one half, which leaks by inversion; counted and coloured "
    "by its strength inverted."
)


def build_attacks(data: ReportData) -> list[Block]:
    """Section on the attacks on the original: the strongest, beside the best baseline attackers."""
    result: list[Block] = []
    for threat in data.threats:
        result.append(blocks.heading(THREAT_WORDS[threat].title))
        result.append(blocks.paragraph(answer_attack(data.results, threat)))
        table, metrics = _rank(data, threat)
        if table.empty:
            continue
        result.append(_build_ranking(data, threat, table, metrics))
        if threat == "attribute":
            sentences = answer_private_columns(data.told)
            result += [blocks.paragraph(clean_text(sentence, 1000)) for sentence in sentences]
        if threat == "link":
            odds = (_describe_accused(data), answer_odds(data.results))
            result += [blocks.paragraph(sentence) for sentence in odds if sentence]
    return result or [blocks.paragraph("No attack has finished.")]


def _describe_accused(data: ReportData) -> str:
    """The odds of an accusation at 1 % FPR; outside in counts rounded like all others."""
    if not data.is_external:
        return describe_false_alarms(data.view)
    found, counts = find_strongest(data.results, "link", ORIGINAL), count_pairs(data.view)
    if found is None or found.metric != LOW_FPR or counts is None or found.reached <= 0:
        return ""
    hidden, unconnected = counts[0], counts[1] - counts[0]
    right, wrong = (data.count(round(n)) for n in (found.reached * hidden, 0.01 * unconnected))
    return (
        f"An attacker who accuses 1 of 100 unconnected pairs accuses {wrong} wrongly for {right} "
        "withheld links found."
    )


def build_attack_tables(data: ReportData) -> list[Block]:
    """Annex of the attacks: every figure on the original, ROC curves and control nodes."""
    result: list[Block] = []
    for threat in data.threats:
        table, metrics = _rank(data, threat)
        if not table.empty:
            result.append(blocks.heading(THREAT_WORDS[threat].title))
            result.append(_build_attack_table(table, metrics, threat))
            result += _build_roc(data, threat, set(table.method))
    return [*result, *_build_control(data)]


def _rank(data: ReportData, threat: Threat) -> tuple[pd.DataFrame, list[str]]:
    """Every attack on the original, and the metrics in which it is told, the first by rank."""
    metrics = _order_metrics(data, threat)
    return compute_ranking(data.results, threat, metrics), metrics


def _build_ranking(
    data: ReportData, threat: Threat, table: pd.DataFrame, metrics: list[str]
) -> Block:
    """The strongest attacks as bars, by two measures."""
    panels = dict.fromkeys((metrics[0], LOW_FPR, main_metric(data.results, threat)))
    drawn = table[table.metric.isin(list(panels)[:2])]
    ranked = table.drop_duplicates("method")
    shown = {
        method
        for is_baseline, most in ((False, MAX_RANKED), (True, MAX_BASELINES))
        for method in ranked[ranked.is_baseline == is_baseline].method.head(most)
    }
    drawn = drawn[drawn.method.isin(shown)]
    placed = place_bounds(drawn, ("value", "strength"))
    image = data.add_image(f"ranking_{threat}", partial(charts.draw_ranking, placed))
    alt = "Attacks from best to worst. " + "; ".join(
        f"{row.title} {format_row(row)}" for row in drawn[drawn.metric == metrics[0]].itertuples()
    )
    rest = len(ranked) - len(shown)
    more = f" {count_noun(rest, 'weaker one is', 'weaker ones are')} in the annex." if rest else ""
    sample = describe_sample(table, THREAT_WORDS[threat].unit)
    inverted = INVERTED_NOTE if drawn.is_inverted.any() else ""
    return blocks.figure(
        image,
        alt,
        f"{metric_title(metrics[0])} by attack. Hollow: baseline attackers; dashed: "
        f"the best of them; dotted: chance.{more} {sample}{inverted}",
    )


def _build_control(data: ReportData) -> list[Block]:
    """Effect of being in a release, if control nodes were left out."""
    table = tabulate_control(data.results, data.told.control)
    if table.empty:
        return []
    caption = "Control nodes: what being in a release adds, with 95 % intervals."
    numeric = range(4, table.shape[1])
    return [
        blocks.heading("Control nodes"),
        blocks.paragraph(NOTE),
        blocks.table(list(table), table.to_numpy().tolist(), caption, numeric=numeric),
    ]


def _order_metrics(data: ReportData, threat: Threat) -> list[str]:
    """Metrics of a threat, those with a limit first."""
    found = [m for m in list_metrics(data.results, "attack", threat) if m in TABLE_METRICS]
    limits = () if data.verdict is None else data.verdict.policy.limits
    limited = [x.metric for x in limits if x.threat == threat and x.metric in found]
    return list(dict.fromkeys([*limited[:1], *found]))


def _build_attack_table(table: pd.DataFrame, metrics: list[str], threat: Threat) -> Block:
    texts = [format_row(row) + (MARK if row.is_inverted else "") for row in table.itertuples()]
    titles = table.title + np.where(table.is_baseline, " (baseline)", "")
    wide = table.assign(text=texts, title=titles).pivot_table(
        "text", ["method", "title"], "metric", aggfunc="first", sort=False
    )
    wide = wide.reindex(columns=metrics).fillna("not resolved").droplevel("method").reset_index()
    return blocks.table(
        ["Attack", *map(metric_title, metrics)],
        wide.to_numpy().tolist(),
        f"{THREAT_WORDS[threat].title}: every attack on the original, best first. "
        f"{describe_sample(table, THREAT_WORDS[threat].unit)}",
        numeric=range(1, len(metrics) + 1),
        widths=[1.7] + [1] * len(metrics),
        inline=len(metrics) <= 4,
    )


def _build_roc(data: ReportData, threat: Threat, ranked: set[str]) -> list[Block]:
    chosen = ranked & {choice.id for choice in data.view.spec.attacks}
    curves = {
        data.view.get_attack(attack): curve
        for (release, attack), curve in data.view.rocs.items()
        if release == ORIGINAL and attack in chosen
    }
    if all(attack.is_baseline for attack in curves):
        return []
    level = find_level(data.results, threat)
    image = data.add_image(f"roc_{threat}", lambda: charts.draw_roc(curves, level))
    return [
        blocks.figure(
            image,
            f"ROC curves of {len(curves)} attacks on the original, log axes: share of the "
            "secrets found against the false-positive rate.",
            f"{THREAT_WORDS[threat].title}: what attackers find at a low FPR, mean over repeats.",
            0.62,
        )
    ]


def build_releases(data: ReportData) -> list[Block]:
    """Section on the cost and effect of each release."""
    table = compute_release_table(data.results, data.releases)
    table = table.drop(columns="release")
    columns = [c for c in table.columns if c in ("Release", "Guarantee") or (table[c] != "").any()]
    rows = table[columns].to_numpy().tolist()
    widths = [1.5, 1.0] + [0.75 if name.startswith("Links") else 1.0 for name in columns[2:]]
    result = [
        blocks.paragraph(sentence)
        for sentence in (answer_defense(data.results, t) for t in data.threats)
        if sentence
    ]
    result.append(
        blocks.table(
            columns,
            rows,
            "Every release: changes, guarantee, strongest attack and usefulness.",
            numeric=range(2, len(columns)),
            widths=widths,
        )
    )
    note = (
        "Worst case: the highest value over all attacks that ran, baseline attackers included. "
        "Links are shares of the original's links."
    )
    return [*result, blocks.note(note)]


def build_tradeoff(data: ReportData) -> list[Block]:
    """Risk against usefulness, one point per release; two threats side by side."""
    figures = [figure for threat in data.threats for figure in _build_tradeoff_chart(data, threat)]
    pairs = [figures[i : i + 2] for i in range(0, len(figures), 2)]
    found = [blocks.beside(*pair) if len(pair) == 2 else pair[0] | {"width": 0.5} for pair in pairs]
    return found or [blocks.paragraph("No release has both a risk and a usefulness yet.")]


def build_transfer(data: ReportData) -> list[Block]:
    """Annex of the trade-off: every attack on every release."""
    return [block for threat in data.threats for block in _build_transfer(data, threat)]


def _build_tradeoff_chart(data: ReportData, threat: Threat) -> list[Block]:
    axes = choose_axes(data.results, threat)
    if axes is None:
        return []
    metric, utility = axes
    table = compute_tradeoff(data.results, metric, utility, threat=threat)
    left_out = int((~table.release.isin(data.shown)).sum())
    table = table[table.release.isin(data.shown)]
    if table.empty:
        return []
    limit = None if data.verdict is None else data.verdict.policy.find_limit(threat, metric)
    drawn = place_bounds(table, ("risk",), ("risk_low", "risk_high"))
    image = data.add_image(
        f"tradeoff_{threat}",
        lambda: charts.draw_tradeoff(drawn, data.colors, data.symbols, metric, utility, limit),
    )
    front, answer = "", ""
    if data.verdict is not None:
        answer = answer_strengths(data.results, data.verdict, threat, metric, utility)
    if list_curves(table):
        front = "; lines join the strengths of one defense"
    elif find_clear_front(drawn).risk.notna().any():
        front = "; the line joins releases that no other one dominates, where beyond noise"
    line = "" if limit is None else f" Dashed: the policy's limit, {format_number(limit)}."
    if left_out:
        line += f" Not drawn: {count_noun(left_out, 'more release')}."
    alt = f"{metric_title(metric)} (worst case) and {metric_title(utility)} of each release: " + (
        "; ".join(
            f"{row.title} {find_told(row) or format_number(row.risk)} and "
            f"{format_number(row.utility)}"
            for row in table.itertuples()
        )
    )
    sample = describe_sample(select_results(data.results, utility), "")
    inverted = INVERTED_NOTE if table.is_inverted.any() else ""
    title = THREAT_WORDS[threat].title
    caption = f"{title}: risk against usefulness{front}.{line} {sample}{inverted} {answer}".rstrip()
    return [blocks.figure(image, alt, caption)]


def _compute_drawn(
    data: ReportData,
    metric: str,
    threat: Threat,
    order: list[str],
    of: Literal["value", "strength"],
) -> pd.DataFrame:
    """`compute_transfer` as it is drawn, attacks in the order of what was measured."""
    table = compute_transfer(data.drawn, metric, threat, of)
    return table.set_index("attack", drop=False).loc[order].reset_index(drop=True)


def _build_transfer(data: ReportData, threat: Threat) -> list[Block]:
    measure = choose_measure(data.results, threat)
    if measure is None:
        return []
    metric = measure.metric
    order = list(compute_transfer(data.results, metric, threat).attack)
    table = _compute_drawn(data, metric, threat, order, "value")
    shown = [r for r in data.shown if r in table.columns]
    if table.empty or len(shown) < 2:
        return []
    table = table[["attack", "title", *shown]]
    strengths = _compute_drawn(data, metric, threat, order, "strength")[table.columns]
    names = list_short_titles(map(data.view.get_release, shown))
    image = data.add_image(
        f"transfer_{threat}", lambda: charts.draw_transfer(table, strengths, metric, names)
    )
    alt = f"{metric_title(metric)} of each attack on each release. " + "; ".join(
        f"{row['title']}: " + ", ".join(format_number(row[r]) for r in shown)
        for _, row in table.iterrows()
    )
    left_out = len(data.ids) - len(shown)
    more = f" {left_out} more releases are in the tables." if left_out > 0 else ""
    inverted = "" if strengths.equals(table) else INVERTED_NOTE
    caption = (
        f"{THREAT_WORDS[threat].title}: {metric_title(metric)} of every attack (rows) on every "
        f"release (columns): a defense must hold against all of them.{more}{inverted}"
    )
    return [blocks.figure(image, alt, caption)]
