"""Which attack does best, and does it beat guessing."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.audit.scenarios import Threat
from core.findings.inverted_scores import invert_scores
from core.findings.labels import method_title
from core.findings.tables import attack_rows


def compute_ranking(
    results: pd.DataFrame, threat: Threat, release: str, metrics: Sequence[str]
) -> pd.DataFrame:
    """Rows attack × metric, ordered by the first metric, strongest attack first.

    Values are the attacks' own; `strength` has those that are clearly wrong inverted.
    """
    parts = []
    for metric in metrics:
        rows = attack_rows(results, metric, threat)
        inverted = invert_scores(rows)
        rows = rows.assign(strength=inverted.value, is_inverted=inverted.is_inverted)
        parts.append(rows[rows.release == release])
    if not parts or all(part.empty for part in parts):
        return pd.DataFrame(columns=["method", "title", "metric"])
    table = pd.concat(parts, ignore_index=True)
    table["title"] = table.method.map(method_title)
    rank = table.drop_duplicates("method").set_index("method").strength
    table["rank"] = -table.method.map(rank)
    table["metric"] = pd.Categorical(table.metric, list(metrics))
    table = table.sort_values(["metric", "rank", "method"])
    return table.assign(metric=table.metric.astype(str)).reset_index(drop=True)
