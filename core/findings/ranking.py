"""Ranking of attacks, with baseline attackers and chance."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.audit.asked.scenarios import Threat
from core.findings.inverted_scores import invert_scores
from core.findings.tables import attack_rows
from core.release import ORIGINAL

COLUMNS = ("method", "title", "metric", "value", "low", "high", "n", "seeds")
FLAGS = ("is_baseline", "strength", "is_inverted")


def compute_ranking(results: pd.DataFrame, threat: Threat, metrics: Sequence[str]) -> pd.DataFrame:
    """Rows attack × metric on the original, ordered by the first metric, strongest attack first.

    `value` is the attack's own;
    `strength` has those clearly below chance inverted.
    """
    parts = []
    for metric in metrics:
        rows = attack_rows(results, metric, threat)
        inverted = invert_scores(rows)
        rows = rows.assign(strength=inverted.value, is_inverted=inverted.is_inverted)
        parts.append(rows[rows.release == ORIGINAL])
    if not parts or all(part.empty for part in parts):
        return pd.DataFrame(columns=[*COLUMNS, *FLAGS])
    table = pd.concat(parts, ignore_index=True)
    table["title"] = [attack.title for attack in table.attack]
    rank = table.drop_duplicates("method").set_index("method").strength
    table["rank"] = -table.method.map(rank)
    table["metric"] = pd.Categorical(table.metric, list(metrics))
    table = table.sort_values(["metric", "rank", "method"])
    table = table.assign(metric=table.metric.astype(str))
    return table[[*COLUMNS, *FLAGS]].reset_index(drop=True)
