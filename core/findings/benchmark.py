"""Summary of a benchmark: the strongest attack per graph, the best defense and its cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.audit.asked.release_info import list_short_titles
from core.audit.asked.scenarios import THREAT_TITLES, Threat
from core.audit.results.benchmark import SUMMARY_REFERENTS, read_summary
from core.audit.results.view import AuditView
from core.findings.change import find_change
from core.findings.differences import estimate_difference
from core.findings.facts import find_outcome, format_frequencies, format_frequency
from core.findings.labels import metric_title
from core.findings.numbers import format_interval, format_number, format_row
from core.findings.strongest import MEASURES, find_measure, find_strongest
from core.findings.tables import (
    attack_rows,
    compute_worst_attacks,
    list_releases,
    main_metric,
    select_results,
)
from core.measures.metrics import METRICS
from core.release import EMPIRICAL, ORIGINAL
from core.results import RELEASE
from core.words import count_noun, format_percent

USEFULNESS = ("link_f1", "link_prediction_auc", "degree_ks")
"""Measures of a release's cost, available on every graph."""

NO_HELP = "No defense clearly lowers what the strongest attack reaches."

ENDS = ("", "_low", "_high")

SUMMARY_COLUMNS = (
    "graph",
    "num_nodes",
    "num_edges",
    "clustering",
    "threat",
    "metric",
    "release",
    "guarantee",
    "attack",
    "value",
    "low",
    "high",
    "n",
    "seeds",
    "baseline",
    "baseline_value",
    "baseline_low",
    "baseline_high",
    "against_baseline",
    "against_original",
    *(f"{metric}{end}" for metric in USEFULNESS for end in ENDS),
)
"""Columns of `summarize_benchmark`: a row a graph, threat and release.

clustering        average clustering coefficient of the graph
metric            measure of the threat: the first headline figure that this graph resolves
attack, value     the strongest attack on the release, baseline attackers included
n, seeds          cases of a repeat, repeats
baseline          the best baseline attacker on it
against_baseline  outcome of the strongest other attack against it: "higher", "within_noise", …
against_original  outcome against the strongest attack on the original, same attackers
"""


def summarize_benchmark(views: Iterable[AuditView]) -> pd.DataFrame:
    """The strongest attack of each threat on each release, and the release's cost: columns
    `SUMMARY_COLUMNS`, and what their ids refer to, `SUMMARY_REFERENTS`."""
    rows = [row for view in views for row in _summarize_view(view)]
    return pd.DataFrame(rows, columns=[*SUMMARY_COLUMNS, *SUMMARY_REFERENTS])


def _summarize_view(view: AuditView) -> Iterator[dict[str, Any]]:
    results, run = view.results, view.summary
    labels = {s.id: s.guarantee.label for s in view.releases} | {ORIGINAL: "none"}
    clustering = _find_value(results, ORIGINAL, "average_clustering")[0]
    head = (view.spec.graph_name, run.num_nodes, run.num_edges, clustering)
    useful = {
        release: {
            f"{metric}{end}": number
            for metric in USEFULNESS
            for end, number in zip(ENDS, _find_value(results, release, metric), strict=True)
        }
        for release in list_releases(results)
    }
    for threat in THREAT_TITLES:
        metric = find_metric(results, threat)
        if metric is None:
            continue
        for _, worst in compute_worst_attacks(results, metric, threat).iterrows():
            release = worst.release
            yield {
                **dict(zip(SUMMARY_COLUMNS, head, strict=False)),
                "threat": threat,
                "metric": metric,
                "release": release,
                "guarantee": labels[release],
                "attack": worst.method,
                "made": worst.made,
                "by": worst.attack,
                **{name: worst[name] for name in ("value", "low", "high", "n", "seeds")},
                **_compare_baseline(results, metric, threat, release),
                "against_original": _compare_original(results, metric, threat, release),
                **useful[release],
            }


def find_metric(results: pd.DataFrame, threat: Threat) -> str | None:
    """Headline metric of a threat that is available on the original, else its ranking; None if
    nothing was measured."""
    for measure in MEASURES[threat]:
        rows = attack_rows(results, measure.metric, threat)
        if (rows.release == ORIGINAL).any():
            return measure.metric
    metric = "released_auc" if threat == "included" else main_metric(results, threat)
    found = metric is not None and not attack_rows(results, metric, threat).empty
    return metric if found else None


def _find_value(results: pd.DataFrame, release: str, metric: str) -> tuple[float, ...]:
    """(value, low, high) of a measure of the release; NaN if missing."""
    rows = select_results(results, metric, [release], RELEASE)
    if rows.empty:
        return (np.nan,) * 3
    return tuple(float(rows.iloc[0][name]) for name in ("value", "low", "high"))


def _compare_baseline(
    results: pd.DataFrame, metric: str, threat: Threat, release: str
) -> dict[str, Any]:
    found = find_strongest(results, threat, release, metric)
    if found is None or found.baseline is None or found.baseline.attack is None:
        return {"against_baseline": "not_tested"}
    best, baseline = found.best, found.baseline
    return {
        "baseline": found.baseline.attack.id,
        "baseline_by": baseline.attack,
        "baseline_value": baseline.value,
        "baseline_low": baseline.low,
        "baseline_high": baseline.high,
        "against_baseline": find_outcome(estimate_difference(baseline, best)),
    }


def _compare_original(results: pd.DataFrame, metric: str, threat: Threat, release: str) -> str:
    change = find_change(results, threat, release, metric)
    return "not_tested" if change is None or change.shared is None else change.shared.outcome


def choose_defense(rows: pd.DataFrame) -> pd.Series | None:
    """The release to prefer among the summary's rows of one graph and threat; None if none helps.

    Considered are defenses on which the strongest attack is clearly below that on the original. Of
    those on which no attack is clearly above the baseline attackers, the one with the highest link
    F1 is chosen; if there are none, the one on which the strongest attack reaches least.
    """
    is_defended = np.array([made.is_defended for made in rows.made], bool)
    lower = rows[(rows.against_original == "lower") & is_defended]
    if lower.empty:
        return None
    safe = lower[lower.against_baseline.isin(["lower", "tie", "within_noise"])]
    if safe.empty:
        return lower.sort_values(["value", "link_f1"], ascending=[True, False]).iloc[0]
    return safe.sort_values(["link_f1", "value"], ascending=[False, True]).iloc[0]


def summarize_threat(rows: pd.DataFrame) -> tuple[str, str]:
    """`describe_threat` in two sentences without intervals."""
    original, best = rows[rows.release == ORIGINAL].iloc[0], choose_defense(rows)
    fear, choose = "No attack is clearly above the baseline attackers.", NO_HELP
    is_share = METRICS[original.metric].is_share
    if original.against_baseline == "higher":
        reached = original.value, original.baseline_value
        found, other = format_frequencies(*reached) if is_share else map(format_number, reached)
        phrase = find_measure(original.threat, original.metric).phrase.format(found=found)
        fear = f"{original.by.name} {phrase}; a baseline attacker reaches {other}."
    if best is not None:
        left = format_frequency(best.value) if is_share else format_number(best.value)
        cost = f"its F1 of right links is {best.link_f1:.2f}"
        choose = f"{best.made.name} lowers the strongest to {left}, at a cost: {cost}."
    return fear, choose


def describe_threat(rows: pd.DataFrame) -> tuple[str, str]:
    """(strongest attack, recommended defense and its cost) on one graph, as sentences.

    rows  summary rows of one graph and threat
    """
    original = rows[rows.release == ORIGINAL].iloc[0]
    title = original.by.title
    figure = f"{format_row(original)} (n = {int(original.n):,})"
    words = {"higher": "clearly above", "lower": "clearly below"}
    against = words.get(original.against_baseline, "not clearly different from")
    fear = f"{title} reaches {metric_title(original.metric)} {figure}"
    if isinstance(original.baseline, str):
        other = format_interval(*(original[f"baseline_{n}"] for n in ("value", "low", "high")))
        fear += f", {against} the baseline attacker {original.baseline_by.title} ({other})"
        if original.attack == original.baseline:
            fear = f"{title}, a baseline attacker, reaches {metric_title(original.metric)} {figure}"
            fear += "; no attack does better"
    best = choose_defense(rows)
    if best is None:
        return f"{fear}.", NO_HELP
    left = "no attack is clearly above the baseline attackers"
    if best.against_baseline == "higher":
        left = f"{best.by.title} is still above the baseline attackers"
    elif best.against_baseline == "not_tested":
        left = "no baseline attacker was run"
    cost = format_interval(best.link_f1, best.link_f1_low, best.link_f1_high)
    is_empirical = best.guarantee == EMPIRICAL.label
    name = best.made.title if is_empirical else best.made.name
    choose = (
        f"{name} ({best.guarantee}) lowers it to {format_row(best)}; {left}. "
        f"Cost: links right (F1) {cost} instead of 1."
    )
    return f"{fear}.", choose


MARKS = {"lower": "✓ lower", "higher": "✗ higher"}


def tabulate_releases(rows: pd.DataFrame) -> pd.DataFrame:
    """Summary rows of one graph and threat for display, lowest attack value first.

    Column `release` holds the ids.
    """
    rows = rows.sort_values("value", kind="stable")
    titles = list_short_titles(rows.made)

    def show(*columns: str) -> list[str]:
        ends = (rows[column] for column in columns)
        return [format_interval(*found) for found in zip(*ends, strict=True)]

    counts = zip(rows.n.astype(int), rows.seeds.astype(int), strict=True)
    return pd.DataFrame(
        {
            "release": rows.release,
            "Release": rows.release.map(titles),
            "Guarantee": rows.guarantee,
            f"Strongest attack: {metric_title(rows.metric.iloc[0])}": show("value", "low", "high"),
            "Attack": [attack.title for attack in rows.by],
            "Baseline attacker": show("baseline_value", "baseline_low", "baseline_high"),
            "Against the original": rows.against_original.map(lambda o: MARKS.get(o, "–")),
            **{metric_title(m): show(*(f"{m}{end}" for end in ENDS)) for m in USEFULNESS},
            "n": [f"{n:,} in {count_noun(seeds, 'repeat')}" for n, seeds in counts],
        }
    ).reset_index(drop=True)


SHIPPED = Path(__file__).parents[2] / "assets" / "benchmark.csv"


@cache
def load_shipped() -> pd.DataFrame:
    """Summary of the quick benchmark shipped with the program."""
    return read_summary(SHIPPED)


def rank_graphs(
    summary: pd.DataFrame, num_nodes: int, num_edges: int, clustering: float
) -> list[str]:
    """Graphs of the summary by similarity to a graph of this shape, most similar first.

    Euclidean distance over log₁₀ nodes, log₁₀ average degree and twice the average clustering.
    """
    graphs = summary.drop_duplicates("graph")
    degree = np.log10(np.maximum(graphs.num_edges, 1) / graphs.num_nodes)
    gaps = (
        np.log10(graphs.num_nodes / max(num_nodes, 1)),
        degree - np.log10(max(num_edges, 1) / max(num_nodes, 1)),
        2 * (graphs.clustering - clustering),
    )
    distance = sum(gap**2 for gap in gaps)
    return [str(graphs.graph[i]) for i in distance.sort_values(kind="stable").index]


def format_shape(rows: pd.DataFrame) -> str:
    """ "1,000 nodes, 11,928 links, clustering 12 %" of one graph's rows."""
    first = rows.iloc[0]
    text = f"{first.num_nodes:,} nodes, {first.num_edges:,} links"
    known = not pd.isna(first.clustering)
    return f"{text}, clustering {format_percent(first.clustering)}" if known else text
