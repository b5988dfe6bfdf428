"""The releases of an audit side by side: changes, guarantee, risk and usefulness."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.audit.asked.release_info import ReleaseInfo
from core.audit.results.view import ReleaseSummary
from core.findings.inverted_scores import format_strength
from core.findings.labels import MAIN_UTILITY_METRICS, THREAT_WORDS, metric_title
from core.findings.numbers import format_row
from core.findings.strongest import choose_measure
from core.findings.tables import compute_worst_attacks, list_metrics, list_threats, select_results
from core.findings.usefulness import choose_usefulness
from core.release import ORIGINAL
from core.results import RELEASE

MAX_UTILITIES = 2


def compute_release_table(
    results: pd.DataFrame, releases: Sequence[ReleaseSummary]
) -> pd.DataFrame:
    """One row per release, original first; texts as "0.84 [0.80, 0.88]", "" if unknown.

    Columns release (id), Release, Guarantee, Links kept, Links added, the worst case of each
    threat, and up to two measures of usefulness.
    """
    changes = ("links_kept", "links_added")
    columns = {metric_title(metric): _release_texts(results, metric) for metric in changes}
    for threat in list_threats(results):
        measure = choose_measure(results, threat)
        if measure is not None:
            worst = compute_worst_attacks(results, measure.metric, threat)
            title = f"Worst case, {THREAT_WORDS[threat].attack} ({metric_title(measure.metric)})"
            columns[title] = {row.release: format_strength(row) for row in worst.itertuples()}
    useful = [m for m in MAIN_UTILITY_METRICS if m in list_metrics(results, "release")]
    useful = [*filter(None, [choose_usefulness(results)]), *useful]
    for metric in list(dict.fromkeys(useful))[:MAX_UTILITIES]:
        columns[metric_title(metric)] = _release_texts(results, metric)
    guarantees = {summary.id: summary.guarantee.label for summary in releases} | {ORIGINAL: "none"}
    first = ReleaseInfo(ORIGINAL)
    made = [first, *(summary.info for summary in releases if summary.info != first)]
    return pd.DataFrame(
        [
            {
                "release": release.id,
                "Release": release.title,
                "Guarantee": guarantees[release.id],
                **{title: texts.get(release.id, "") for title, texts in columns.items()},
            }
            for release in made
        ]
    )


def _release_texts(results: pd.DataFrame, metric: str) -> dict[str, str]:
    rows = select_results(results, metric, method=RELEASE)
    return {row.release: format_row(row) for row in rows.itertuples()}
