"""What a release keeps of the original's usefulness, by the measures that one may ask to keep."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from core.audit.results.view import AuditView
from core.findings.tables import select_results
from core.release import ORIGINAL
from core.results import RELEASE

USEFUL = {
    "links": "the links (F1)",
    "link_prediction": "link prediction (AUC above chance)",
    "column": "the prediction of the utility column",
    "statistics": "the network's statistics",
}
"""What may have to stay useful, by its name in options, and how it follows "60 % of"."""

CHANCE = 0.5


def compute_kept(view: AuditView, release: str, name: str) -> float:
    """Share of the original's usefulness that a release keeps; nan if it was not measured."""

    def find(metric: str, where: str = release) -> float:
        value = view.estimate(where, RELEASE, metric).value
        return math.nan if value is None else value

    if name == "links":
        return 1.0 if release == ORIGINAL else find("link_f1")
    if name == "link_prediction":
        return _divide(*(find("link_prediction_auc", r) - CHANCE for r in (release, ORIGINAL)))
    if name == "column":
        auc = [find("node_classification_auc", r) - CHANCE for r in (release, ORIGINAL)]
        f1 = [find("node_classification_f1", r) for r in (release, ORIGINAL)]
        return _divide(*(f1 if math.isnan(auc[1]) else auc))
    if release == ORIGINAL:
        return 1.0
    rows = select_results(view.results, method=RELEASE)
    rows = rows[(rows.release == release) & rows.metric.str.startswith(("mre_", "degree_ks"))]
    errors = np.clip(rows.value.to_numpy(float), 0.0, 1.0)
    return 1.0 - float(errors.mean()) if len(errors) else math.nan


def is_kept(kept: Mapping[str, float], asked: Mapping[str, float]) -> bool:
    """Whether every measure keeps the share asked for; one that was not measured does not."""
    return all(kept.get(name, math.nan) >= share for name, share in asked.items())


def _divide(value: float, whole: float) -> float:
    """value / whole, between 0 and 1; nan where the original has nothing to keep."""
    return float(np.clip(value / whole, 0.0, 1.0)) if whole > 0 else math.nan
