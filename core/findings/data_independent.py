"""Comparison of syntheses with their data-independent baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from core.findings.labels import is_higher_useful, metric_title
from core.findings.numbers import format_number, format_row
from core.findings.tables import list_metrics, select_results
from core.results import RELEASE

MAX_MEASURES = 4


def compute_data_independent_table(results: pd.DataFrame, pairs: Mapping[str, str]) -> pd.DataFrame:
    """One row per synthesis and measure of usefulness, headline measures first.

    pairs  release → its data-independent baseline
    made: the release; value, independent: texts with intervals; gain: in the useful direction;
    verdict: "from the data" if the intervals are disjoint in its favour, "none" if not, "unsure"
    without intervals.
    """
    rows = []
    metrics = list_metrics(results, "release")[:MAX_MEASURES]
    tables = {m: select_results(results, m, method=RELEASE).set_index("release") for m in metrics}
    for release, independent in pairs.items():
        for metric, table in tables.items():
            if {release, independent} <= set(table.index):
                mine, other = table.loc[release], table.loc[independent]
                sign = 1.0 if is_higher_useful(metric) else -1.0
                rows.append(
                    {
                        "release": release,
                        "made": mine.made,
                        "metric": metric,
                        "value": format_row(mine),
                        "independent": format_row(other),
                        "gain": sign * (mine.value - other.value),
                        "verdict": _judge(mine, other, sign),
                    }
                )
    return pd.DataFrame(rows)


def show_data_independent_table(table: pd.DataFrame) -> pd.DataFrame:
    """The same table with titles and words for display."""
    words = {"from the data": "the data", "none": "nothing clear", "unsure": "too few repeats"}
    return pd.DataFrame(
        {
            "Release": [made.title for made in table.made],
            "Measure": table.metric.map(metric_title),
            "This release": table.value,
            "Baseline": table.independent,
            "Difference": [format_number(gain) for gain in table.gain],
            "Due to": table.verdict.map(words),
        }
    )


def answer_data_independent(table: pd.DataFrame) -> list[str]:
    """One sentence per synthesis: whether it is better than its data-independent baseline."""
    sentences: list[str] = []
    if table.empty:
        return sentences
    for made, rows in table.groupby("made", sort=False):
        title = made.title
        better = rows[rows.verdict == "from the data"]
        if len(better):
            names = ", ".join(
                f"{metric_title(row.metric)} by {format_number(row.gain)}"
                for row in better.itertuples()
            )
            sentences.append(f"{title} exceeds its data-independent baseline in {names}.")
        elif (rows.verdict == "unsure").all():
            sentences.append(
                f"{title} has too few repeats for a comparison with its data-independent baseline."
            )
        else:
            sentences.append(
                f"{title} is not clearly better than its data-independent baseline in any of "
                f"{len(rows)} measures. Only the number of links is shown to come from the data."
            )
    return sentences


def _judge(mine: Any, other: Any, sign: float) -> str:
    if any(map(pd.isna, (mine.low, mine.high, other.low, other.high))):
        return "unsure"
    is_apart = mine.low > other.high if sign > 0 else mine.high < other.low
    return "from the data" if is_apart else "none"
