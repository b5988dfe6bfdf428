"""The release decision as a pure function of a policy and an audit's findings.

A release is published only if the whole interval of every limit is inside and enough was tested; it
is refused as soon as one stopping value exceeds its limit; anything between needs a review, as does
a release with a channel that no attack reads. A
tighter limit never makes the decision milder, and omitting a required attack never turns "do not
publish" into "publish".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from core.audit.asked.release_info import ReleaseInfo, list_phrases
from core.audit.results.view import AuditView
from core.defenses.external import EXTERNAL
from core.findings.channels import Channel, describe_open, explain_unchosen, list_channels
from core.findings.evidence import (
    Evidence,
    find_evidence,
    find_not_made,
    find_obstacle,
    list_asked,
    list_oversized,
    list_untried,
)
from core.findings.facts import LimitState
from core.findings.policy import Limit, Policy
from core.findings.published_before import disown_runs
from core.findings.recipient import explain_lax_policy
from core.findings.usefulness import list_most_useful
from core.once import find_once
from core.results import RELEASE

Decision = Literal["publish", "review", "do_not_publish"]
SMALLEST_LIMIT = 1e-3
"""Lower bound for limits in ratios, which would grow without bound otherwise."""

UNCHANGED = "nothing was changed, so the release is the original"

SEVERITY: dict[Decision, int] = {"publish": 0, "review": 1, "do_not_publish": 2}


class Check(BaseModel):
    """One limit on one release."""

    model_config = ConfigDict(frozen=True)
    limit: Limit
    evidence: Evidence

    @property
    def state(self) -> LimitState:
        """met: the whole interval is inside; not proven: it crosses the limit, there is none, or
        a private column has no figure; exceeded: the value is above the limit."""
        value = self.evidence.value
        if value is None:
            return "not_tested"
        if value > self.limit.limit:
            return "exceeded"
        return "met" if self.end <= self.limit.limit else "not_proven"

    @property
    def end(self) -> float:
        """The lowest limit that is met: the largest upper end over all attacks; infinite without
        an interval, or where a private column has no figure."""
        found = self.evidence
        return math.inf if found.high is None or found.untested else found.high

    @property
    def severity(self) -> float:
        """The measured value as a multiple of the limit; 0 if nothing was measured."""
        value = self.evidence.value
        return 0.0 if value is None else value / max(self.limit.limit, SMALLEST_LIMIT)

    @property
    def decision(self) -> Decision:
        """Decision that this limit alone implies."""
        if self.state == "met" or (self.state == "not_tested" and self.limit.optional):
            return "publish"
        stops = self.state == "exceeded" and self.limit.weight == "stop"
        return "do_not_publish" if stops else "review"

    def describe(self) -> dict[str, Any]:
        """As audit.json has it."""
        found = self.evidence
        return {
            "name": self.limit.name,
            "limit": self.limit.limit,
            "value": found.value,
            "low": found.low,
            "high": found.high,
            "state": self.state,
        }


class ReleaseVerdict(BaseModel):
    """untried: tests missing before clearance; refuted: failed claim checks; obstacle: reason
    why it cannot be published whatever its limits; channels: what leaves with it;
    is_unchanged: whether it is the original under another name; oversized: attacks that the size
    of the graph keeps from running; has_guarantee: whether it has a formal one; links_kept: share
    of the original's links in it, None if not measured."""

    model_config = ConfigDict(frozen=True)
    made: ReleaseInfo
    checks: tuple[Check, ...]
    untried: tuple[str, ...] = ()
    refuted: tuple[str, ...] = ()
    obstacle: str = ""
    channels: tuple[Channel, ...] = ()
    is_unchanged: bool = False
    oversized: tuple[str, ...] = ()
    has_guarantee: bool = False
    links_kept: float | None = None

    @property
    def release(self) -> str:
        """Id of the release."""
        return self.made.id

    @property
    def unattacked(self) -> tuple[str, ...]:
        """What leaves and is not attacked, with the remedy."""
        return describe_open(self.channels)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is said of it wherever its decision is: that nothing was changed, and what leaves
        and is not attacked."""
        return (*([UNCHANGED] if self.is_unchanged else []), *self.unattacked)

    @property
    def open_points(self) -> tuple[str, ...]:
        """What has to be done before clearance, one sentence each."""
        return (*filter(None, [self.obstacle]), *self.warnings, *self.untried)

    @property
    def is_tested(self) -> bool:
        """Whether any limit has a figure."""
        return any(check.evidence.value is not None for check in self.checks)

    @property
    def decision(self) -> Decision:
        """The most severe decision implied by limits, open points and refuted claims."""
        found: list[Decision] = [check.decision for check in self.checks]
        if self.open_points or not self.is_tested:
            found.append("review")
        if self.refuted:
            found.append("do_not_publish")
        return max(found, key=SEVERITY.__getitem__)


class Verdict(BaseModel):
    """All releases under one policy.

    releases     those that were made or still may be, the original included
    recommended  None if nothing may be published
    not_made     release → reason why it could not be made; such releases are never offered
    policy_warning  that the policy is laxer than the recipient's; "" if it is not
    """

    model_config = ConfigDict(frozen=True)
    policy: Policy
    releases: tuple[ReleaseVerdict, ...]
    recommended: str | None
    not_made: dict[str, str] = {}
    policy_warning: str = ""

    def find(self, release: str) -> ReleaseVerdict | None:
        """Verdict of one release, or None."""
        return next((v for v in self.releases if v.release == release), None)

    @property
    def names(self) -> dict[str, str]:
        """Release id → name in a sentence."""
        return list_phrases(verdict.made for verdict in self.releases)

    @property
    def offered(self) -> tuple[ReleaseVerdict, ...]:
        """Releases under decision: all, or only the one that was made elsewhere."""
        return tuple(v for v in self.releases if v.release == EXTERNAL) or self.releases

    @property
    def decision(self) -> Decision:
        """Overall: publish if a release is recommended, review if any release is not refused."""
        if self.recommended is not None:
            return "publish"
        is_open = any(release.decision != "do_not_publish" for release in self.offered)
        return "review" if is_open else "do_not_publish"

    @property
    def defended(self) -> list[ReleaseVerdict]:
        """`list_defended` of the releases."""
        return list_defended(self.releases)

    @property
    def may_leave(self) -> bool:
        """Whether any release may be published without a review. Data-independent baselines do
        not count: they were made for comparison."""
        made = (v for v in self.offered if not v.made.is_data_independent)
        return any(verdict.decision == "publish" for verdict in made)

    def describe(self) -> dict[str, Any]:
        """`verdict` of audit.json; its schema: assets/schemas/verdict.json."""
        return {
            "policy": self.policy.key,
            "policy_warning": self.policy_warning,
            "recommended": self.recommended,
            "releases": {
                verdict.release: {
                    "decision": verdict.decision,
                    "limits": [check.describe() for check in verdict.checks],
                }
                for verdict in self.releases
            },
            "not_made": self.not_made,
        }


def judge(view: AuditView, policy: Policy) -> Verdict:
    """Verdict on every release; recommended is the most useful defended one that may be
    published, or of those as useful within noise the first with a formal guarantee."""
    not_made = find_not_made(view)
    releases = [summary.id for summary in view.releases if summary.id not in not_made]
    verdicts = tuple(judge_release(view, release, policy) for release in releases)
    allowed = {v.release: v for v in list_defended(verdicts) if v.decision == "publish"}
    best = list_most_useful(view.results, allowed)
    private = (release for release in best if allowed[release].has_guarantee)
    return Verdict(
        policy=policy,
        releases=verdicts,
        recommended=next(private, next(iter(best), None)),
        not_made=not_made,
        policy_warning=explain_lax_policy(view.spec.purpose, policy),
    )


def judge_next(view: AuditView, release: str, policy: Policy) -> ReleaseVerdict | None:
    """Verdict on a release yet to be made, for which the audit's own publishing runs count as
    published before; None for one that cannot be made."""
    if release in find_not_made(view) or all(summary.id != release for summary in view.releases):
        return None
    return judge_release(disown_runs(view), release, policy)


@find_once
def judge_release(view: AuditView, release: str, policy: Policy) -> ReleaseVerdict:
    """Verdict on one release."""
    checks = tuple(_check_limits(view, release, policy))
    untried = list_untried(view, release, policy)
    if any(check.state == "exceeded" for check in checks):
        untried += filter(None, [explain_unchosen(view, release)])
    return ReleaseVerdict(
        made=view.get_release(release),
        checks=checks,
        untried=tuple(untried),
        refuted=tuple(
            run.check.verdict
            for run in view.claims
            if run.release == release and run.check is not None and run.check.is_refuted
        ),
        obstacle=find_obstacle(view, release),
        channels=list_channels(view, release),
        is_unchanged=view.node_channels.find_unchanged(release),
        oversized=tuple(list_oversized(view, release)),
        links_kept=view.estimate(release, RELEASE, "links_kept").value,
        has_guarantee=any(r.guarantee.is_private for r in view.releases if r.id == release),
    )


def _check_limits(view: AuditView, release: str, policy: Policy) -> list[Check]:
    """One check per limit of the audited threats; ε only if it is claimed."""
    asked, checks = list_asked(view.spec), []
    for limit in policy.limits:
        if limit.threat not in asked:
            continue
        evidence = find_evidence(view, release, limit)
        if evidence.value is None and limit.threat == "release" and limit.optional:
            continue
        checks.append(Check(limit=limit, evidence=evidence))
    return checks


def list_defended(verdicts: Iterable[ReleaseVerdict]) -> list[ReleaseVerdict]:
    """Releases that a defense made from the data: neither the original nor a baseline."""
    return [v for v in verdicts if v.made.is_defended]


def find_least_severe(verdict: Verdict) -> list[str]:
    """Offered releases with the best decision and the smallest severity, ties within noise
    included.

    The severity is the largest multiple of a limit. Data-independent baselines and untested
    releases are left out.
    """
    gravest: dict[Decision, dict[str, Check]] = {}
    for release in verdict.offered:
        known = [c for c in release.checks if c.evidence.value is not None]
        is_tested = any(c.limit.threat != "release" for c in known)
        if is_tested and not release.made.is_data_independent:
            check = max(known, key=lambda c: c.severity)
            gravest.setdefault(release.decision, {})[release.release] = check
    if not gravest:
        return []
    best = gravest[min(gravest, key=SEVERITY.__getitem__)]
    least = min(best.values(), key=lambda c: c.severity)
    return [name for name, check in best.items() if not _is_graver(check, least)]


def _is_graver(first: Check, second: Check) -> bool:
    """Whether the first check's severity exceeds the second's beyond noise."""
    gap = first.severity - second.severity
    halves = []
    for check in (first, second):
        value, found = check.evidence.value, check.evidence
        high = found.shown_high
        if value is None or found.low is None or high is None:
            return False
        half = max(value - found.low, high - value)
        halves.append(half / max(check.limit.limit, SMALLEST_LIMIT))
    return gap > math.hypot(*halves)
