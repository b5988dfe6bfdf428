"""How attacks do as one circumstance is varied: a line an attack, an audit a point."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.audit.cases import Threat
from core.audit.studies import StudyKind
from core.audit.view import AuditView
from core.findings.labels import is_null, method_title, metric_title
from core.findings.numbers import format_interval, format_percent
from core.findings.tables import attack_rows, list_threats, main_metric
from core.release import ORIGINAL

COLUMNS = ["share", "threat", "method", "metric", "value", "low", "high", "n", "seeds"]


def compute_study(points: Sequence[tuple[float, AuditView]]) -> pd.DataFrame:
    """The headline metric of every attack on the original at each point; `COLUMNS`."""
    parts = []
    for share, view in points:
        for threat in list_threats(view.results):
            metric = main_metric(view.results, threat)
            if metric is not None:
                rows = attack_rows(view.results, metric, threat)
                rows = rows[rows.release == ORIGINAL].assign(share=share, metric=metric)
                parts.append(rows[COLUMNS])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def describe_study(table: pd.DataFrame, threat: Threat, kind: StudyKind) -> str:
    """One sentence: the best attack's figure at both ends of what was varied."""
    rows = table[(table.threat == threat) & ~table.method.map(is_null).astype(bool)]
    if rows.empty:
        return ""
    ends = []
    for share in (rows.share.min(), rows.share.max()):
        here = rows[rows.share == share]
        best = here.loc[here.value.idxmax()]
        value = format_interval(best.value, best.low, best.high)
        ends.append(f"{value} at {format_percent(share)} ({method_title(best.method)})")
    if rows.share.nunique() == 1:
        return f"The best attack's {metric_title(rows.metric.iloc[0])} is {ends[0]}."
    return (
        f"The best attack's {metric_title(rows.metric.iloc[0])} goes from {ends[0]} to {ends[1]}."
    )
