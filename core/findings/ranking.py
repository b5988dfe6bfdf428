"""Ranking of attacks, with baseline attackers and chance, and of their ROC curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.scenarios import Threat
from core.findings.inverted_scores import invert_scores
from core.findings.numbers import EDITION
from core.findings.tables import attack_rows
from core.release import ORIGINAL

COLUMNS = ("method", "title", "metric", "value", "low", "high", "n", "seeds")
FLAGS = ("is_baseline", "strength", "is_inverted")
FLOOR = 1e-4
"""Smallest rate of a ROC curve that is drawn."""


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
    more = [name for name in EDITION if name in table]
    return table[[*COLUMNS, *FLAGS, *more]].reset_index(drop=True)


def rank_curves(curves: Mapping[Attack, pd.DataFrame], level: float) -> list[Attack]:
    """Attacks of curves (columns fpr, tpr), the strongest first and baseline attackers last.

    level  false positive rate at which they are compared, as the headline is
    """
    ranked = sorted(curves, key=lambda a: compute_strength(curves[a], level), reverse=True)
    return sorted(ranked, key=lambda attack: attack.is_baseline)


def compute_strength(curve: pd.DataFrame, level: float) -> tuple[float, float]:
    """By what curves are compared: TPR at an FPR, −1 where the curve does not reach it, then the
    area under the curve as it is drawn, on a logarithmic axis that emphasises low FPRs."""
    fpr, tpr = (curve[name].to_numpy(float) for name in ("fpr", "tpr"))
    is_reached = fpr.min() <= level <= fpr.max()
    area = float(np.trapezoid(tpr, np.log10(np.clip(fpr, FLOOR, 1))))
    return float(np.interp(level, fpr, tpr)) if is_reached else -1.0, area
