"""What an audit of a search says of one release: limits, and what it keeps of the usefulness."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from core.audit.asked.release_info import ReleaseInfo
from core.audit.results.view import AuditView
from core.findings.kept import compute_kept, is_kept
from core.findings.policy import Policy
from core.findings.verdict import Check, Decision, judge


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
    def is_open(self) -> bool:
        """Whether more attackers could refuse it: it was made, and no figure exceeds its limit."""
        return not self.not_made and (self.is_within or not self.tested)

    @property
    def score(self) -> float:
        """The share of the measure that is kept least; nan if one was not measured."""
        return float(np.min(list(self.kept.values()))) if self.kept else math.nan

    def keeps(self, asked: dict[str, float]) -> bool:
        """Whether every measure keeps the share asked for."""
        return is_kept(self.kept, asked)


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
