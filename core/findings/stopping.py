"""When an audit may stop early: once more repeats could not change the release decision.

After each repeat, from the policy's number on and never before the second, every limit is compared
with intervals that share an error of 5 % among all looks, limits, attacks and releases
(Bonferroni). As far as the intervals cover, the probability of stopping at a decision that the
expected values contradict is at most that error. The confirmation of what a search chose has its
own error, and also ends where its last repeat would not prove a limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import stdtrit

from core.audit.asked.confidence import compute_level
from core.audit.asked.spec import AuditSpec
from core.audit.results.view import AuditView
from core.findings.policy import check_policy
from core.findings.tables import select_results
from core.findings.verdict import Check, ReleaseVerdict, judge
from core.words import count_noun, format_error

FEWEST_HOPELESS = 5
"""Repeats before which no confirmation is given up."""


def is_decided(spec: AuditSpec, repeats: int, assemble: Callable[[float], AuditView]) -> bool:
    """Whether the policy's decision on every release is clear after this many repeats, or, of a
    confirmation, cannot become clear.

    assemble  the audit's view with intervals of a given level
    """
    policy = check_policy(spec.policy)
    if repeats < max(policy.repeats, 2):
        return False
    level = compute_level(spec)
    view = assemble(level)
    may_give_up = spec.confirmation_error is not None and repeats >= FEWEST_HOPELESS
    return all(
        any(check.limit.weight == "stop" and _is_exceeded(check) for check in release.checks)
        or all(_is_clear(view, release.release, check) for check in release.checks)
        or (may_give_up and is_hopeless(release, repeats, spec.num_repeats, level))
        for release in judge(view, policy).releases
    )


def is_hopeless(release: ReleaseVerdict, repeats: int, most: int, level: float) -> bool:
    """Whether a figure that stays as it is would not prove its limit at the last repeat.

    Its interval is taken to narrow as if all of its error were between repeats, the fastest way.
    """
    tail = 0.5 + level / 2
    now, last = (stdtrit(n - 1, tail) / math.sqrt(n) for n in (repeats, most))
    for check in release.checks:
        value, high = check.evidence.value, check.evidence.high
        if check.limit.threat == "release" or value is None or high is None:
            continue
        if value + (high - value) * last / now > check.limit.limit:
            return True
    return False


def describe_repeats(view: AuditView) -> str:
    """ "5 repeats", or "3 repeats of at most 10" where the audit stopped early; of a confirmation,
    how its intervals differ from others."""
    text = count_noun(view.num_repeats, "repeat")
    text = f"{text} of at most {view.spec.num_repeats}" if view.stopped_early else text
    error = view.spec.confirmation_error
    if error is None:
        return text
    return (
        f"{text}, with intervals that miss in at most {format_error(error)} of all cases together"
    )


def _is_exceeded(check: Check) -> bool:
    low = check.evidence.low
    return low is not None and low > check.limit.limit


def _is_clear(view: AuditView, release: str, check: Check) -> bool:
    """Whether the interval lies on one side of the limit. What was not tested is clear only where
    it may be missing; an interval over people instead of repeats proves nothing about repeats."""
    if check.state == "not_tested":
        return check.limit.optional
    if check.limit.threat != "release":
        rows = select_results(view.results, check.limit.metric, [release])
        if rows.empty:
            return False
    return check.state == "met" or _is_exceeded(check)
