"""Attacks as one condition varies: one line per attack, one audit per point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from core.audit.asked.scenarios import Threat
from core.audit.results.view import AuditView
from core.audit.studies import EVERYTHING
from core.findings.differences import is_clear
from core.findings.labels import metric_title
from core.findings.numbers import format_row
from core.findings.tables import attack_rows, list_threats, main_metric
from core.release import ORIGINAL
from core.words import format_percent

COLUMNS = ["share", "threat", "method", "metric", "value", "low", "high", "n", "seeds", "attack"]


def compute_study(points: Sequence[tuple[float, AuditView]]) -> pd.DataFrame:
    """Headline metric of every attack on the original at each point; columns `COLUMNS`."""
    parts = []
    for share, view in points:
        for threat in list_threats(view.results):
            metric = main_metric(view.results, threat)
            if metric is not None:
                rows = attack_rows(view.results, metric, threat)
                rows = rows[rows.release == ORIGINAL].assign(share=share, metric=metric)
                parts.append(rows[COLUMNS])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def describe_study(table: pd.DataFrame, threat: Threat) -> str:
    """Sentence with the best attack's figure at both ends of the varied condition."""
    rows = table[(table.threat == threat) & ~np.array([a.is_baseline for a in table.attack], bool)]
    if rows.empty:
        return ""
    ends = []
    for share in (rows.share.min(), rows.share.max()):
        here = rows[rows.share == share]
        best = here.loc[here.value.idxmax()]
        value = format_row(best)
        ends.append(f"{value} at {format_percent(share)} ({best.attack.title})")
    if rows.share.nunique() == 1:
        return f"The best attack's {metric_title(rows.metric.iloc[0])} is {ends[0]}."
    return (
        f"The best attack's {metric_title(rows.metric.iloc[0])} goes from {ends[0]} to {ends[1]}."
    )


FALLS = ["withheld", "attack", "value", "low", "high", "falls by", "beyond noise"]


def compute_falls(table: pd.DataFrame, threat: Threat, names: Mapping[float, str]) -> pd.DataFrame:
    """Decrease of each attack of a threat per withheld item, against nothing withheld.

    table, names  of `compute_study` and `Study.names`; columns `FALLS`, largest decrease first
    """
    rows = table[table.threat == threat]
    whole = rows[rows.share == 0].set_index("method")
    found = []
    for row in rows[rows.share > 0].itertuples():
        if row.method not in whole.index:
            continue
        before = whole.loc[row.method]
        fall = float(before.value - row.value)
        found.append(
            (
                names.get(row.share, f"{row.share:g}"),
                row.attack.title,
                row.value,
                row.low,
                row.high,
                fall,
                is_clear(row, before),
            )
        )
    falls = pd.DataFrame(found, columns=FALLS)
    return falls.sort_values("falls by", ascending=False, kind="stable", ignore_index=True)


def describe_falls(table: pd.DataFrame, threat: Threat, names: Mapping[float, str]) -> str:
    """Sentence on the single item whose withholding lowers the best attack most, else on all
    together.

    The best attack may differ between points. Baseline attackers count, since one that uses columns
    alone may be the leak.
    """
    rows = table[table.threat == threat]
    if rows.empty or not (rows.share == 0).any():
        return ""
    best = rows.loc[rows.groupby("share").value.idxmax()].set_index("share", drop=False)
    whole, rest = best.loc[0.0], best[best.share > 0]
    is_lower = [row.value < whole.value and is_clear(row, whole) for row in rest.itertuples()]
    clear = rest[np.array(is_lower, bool)]
    metric = metric_title(rows.metric.iloc[0])
    before = format_row(whole)
    if clear.empty:
        return f"Withholding columns does not lower the best attack's {metric}, {before}, clearly."
    alone = clear[[names.get(share) != EVERYTHING for share in clear.share]]
    first = (clear if alone.empty else alone).sort_values("value").iloc[0]
    after = format_row(first)
    return (
        f"Withholding {names.get(first.share, first.share)} lowers the best attack's {metric} "
        f"most: from {before} to {after} ({first.attack.title})."
    )
