"""What a release keeps of the original's usefulness: one measure for all releases of an audit."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from core.findings.differences import estimate_difference
from core.findings.facts import Comparison, compare_results
from core.findings.labels import MAIN_UTILITY_METRICS, is_higher_useful, metric_title
from core.findings.numbers import format_row
from core.findings.tables import list_metrics, select_results
from core.release import ORIGINAL
from core.results import RELEASE

FIRST = (*MAIN_UTILITY_METRICS, "link_error")
"""Measures that count added links as well as lost ones, in order of preference."""


def choose_usefulness(results: pd.DataFrame) -> str | None:
    """The measure by which releases are compared: of the preferred ones, the first of those that
    most releases have; None if none was computed."""
    metrics = list_metrics(results, "release")
    counts = select_results(results, method=RELEASE).groupby("metric").release.nunique()
    known = [metric for metric in FIRST if metric in metrics]
    return max(known or metrics, key=lambda metric: int(counts[metric]), default=None)


def select_usefulness(results: pd.DataFrame) -> pd.DataFrame:
    """The rows of `choose_usefulness`, by release."""
    metric = choose_usefulness(results)
    rows = select_results(results, metric or "", method=RELEASE)
    return rows.set_index("release", drop=False)


def find_usefulness(results: pd.DataFrame, release: str) -> Comparison | None:
    """Usefulness of a release beside the original's; None if either is unknown."""
    rows = select_usefulness(results)
    if ORIGINAL not in rows.index or release not in rows.index:
        return None
    return compare_results(rows.loc[ORIGINAL], rows.loc[release])


def list_most_useful(results: pd.DataFrame, releases: Collection[str]) -> list[str]:
    """The most useful of the releases, and those as useful within noise; the better first. All of
    them where it is known of none."""
    rows = select_usefulness(results)
    is_rising = not is_higher_useful(choose_usefulness(results) or "")
    values = rows.value.reindex(list(releases)).sort_values(ascending=is_rising, kind="stable")
    known = list(values.dropna().index)
    if not known:
        return list(values.index)
    return [known[0], *(name for name in known[1:] if _is_tie(rows.loc[known[0]], rows.loc[name]))]


def _is_tie(first: Any, second: Any) -> bool:
    """Whether the difference is within its noise; not if the noise is unknown."""
    found = estimate_difference(first, second)
    return found.low is not None and found.high is not None and found.low <= 0 <= found.high


def describe_usefulness(found: Comparison) -> str:
    """ "Node classification AUC 0.70 [0.69, 0.71], original 0.90 [0.89, 0.91]"."""
    text = f"{metric_title(found.second.metric)} {format_row(found.second)}"
    is_original = found.second.made == found.first.made
    return text if is_original else f"{text}, original {format_row(found.first)}"


def describe_cost(found: Comparison) -> str:
    """The same to follow the name of a release in a headline: ", at a cost: its node classification
    AUC is 0.70"."""
    metric = metric_title(found.second.metric)
    what = f"its {metric[0].lower()}{metric[1:]}"
    worse = "lower" if is_higher_useful(found.second.metric) else "higher"
    if found.outcome in ("tie", "within_noise"):
        return ", as useful as the original within noise"
    if found.outcome == worse:
        return f", at a cost: {what} is {found.second.format()}"
    return f"; {what} is {found.second.format()}"
