"""What an audit of a search says of one release: limits, and what it keeps of the usefulness."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from core.audit.asked.release_info import ReleaseInfo
from core.audit.results.view import AuditView
from core.findings.policy import Policy
from core.findings.tables import select_results
from core.findings.verdict import Check, Decision, judge
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


@dataclass(frozen=True)
class Measured:
    """One release in one audit.

    kept      measure of `USEFUL` → share of the original's, at most 1; nan if it was not measured
    decision  by the policy, with the intervals of the audit
    not_made  reason why the defense could not run, or ""
    """

    made: ReleaseInfo
    checks: tuple[Check, ...] = ()
    kept: dict[str, float] = field(default_factory=dict)
    decision: Decision = "review"
    open_points: tuple[str, ...] = ()
    not_made: str = ""

    @property
    def tested(self) -> tuple[Check, ...]:
        """Limits with a figure."""
        return tuple(check for check in self.checks if check.evidence.value is not None)

    @property
    def binding(self) -> Check | None:
        """The limit that the figures come nearest to, or exceed most."""
        return max(self.tested, key=lambda check: check.severity, default=None)

    @property
    def is_within(self) -> bool:
        """Whether no figure exceeds its limit; intervals do not count."""
        return bool(self.tested) and all(check.state != "exceeded" for check in self.tested)

    @property
    def score(self) -> float:
        """The share of the measure that is kept least; nan if one was not measured."""
        return float(np.min(list(self.kept.values()))) if self.kept else math.nan

    def keeps(self, asked: dict[str, float]) -> bool:
        """Whether every measure keeps the share asked for."""
        return all(self.kept.get(name, math.nan) >= share for name, share in asked.items())


def measure_releases(view: AuditView, policy: Policy, names: list[str]) -> dict[str, Measured]:
    """Release id → what its audit says, the original included.

    names  measures of `USEFUL`
    """
    verdict = judge(view, policy)
    found = {
        release: Measured(view.get_release(release), not_made=reason)
        for release, reason in verdict.not_made.items()
    }
    for one in verdict.releases:
        kept = {name: compute_kept(view, one.release, name) for name in names}
        found[one.release] = Measured(
            one.made, one.checks, kept, one.decision, (*one.refuted, *one.open_points)
        )
    return found


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


def _divide(value: float, whole: float) -> float:
    """value / whole, between 0 and 1; nan where the original has nothing to keep."""
    return float(np.clip(value / whole, 0.0, 1.0)) if whole > 0 else math.nan
