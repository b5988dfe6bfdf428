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
from dataclasses import replace

from scipy.special import stdtrit

from core.audit.asked.confidence import compute_level
from core.audit.asked.spec import AuditSpec
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.errors import InputError
from core.findings.evidence import TRIAL
from core.findings.kept import compute_kept, is_kept
from core.findings.policy import Policy, check_policy
from core.findings.tables import select_results
from core.findings.verdict import Check, ReleaseVerdict, judge
from core.words import count_noun, format_error

FEWEST_HOPELESS = 5
"""Repeats before which no confirmation is given up."""

FEW_MORE = 3
"""Repeats that a confirmation waits for another release once one may leave."""


def is_decided(spec: AuditSpec, repeats: int, assemble: Callable[[float], AuditView]) -> bool:
    """Whether the policy's decision on every release is clear after this many repeats.

    A confirmation asks this of defended releases only, and gives up those that its last repeat
    would not prove; once one that keeps what was asked may leave, those that `FEW_MORE` repeats
    would not prove.

    assemble  the audit's view with intervals of a given level
    """
    policy = check_policy(spec.policy)
    if repeats < max(policy.repeats, 2):
        return False
    level = compute_level(spec)
    view = assemble(level)
    view = replace(view, summary=replace(view.summary, state=State.DONE))  # as if it ended here
    verdict = judge(view, policy)
    if spec.confirmation_error is None:
        return all(_is_settled(view, release) for release in verdict.releases)
    most = spec.num_repeats
    if any(_may_leave(view, release) for release in verdict.defended):
        most = min(most, repeats + FEW_MORE)
    return all(
        _is_settled(view, release)
        or (repeats >= FEWEST_HOPELESS and is_hopeless(release, repeats, most, level))
        for release in verdict.defended
    )


def _may_leave(view: AuditView, verdict: ReleaseVerdict) -> bool:
    asked = view.spec.must_keep
    kept = {name: compute_kept(view, verdict.release, name) for name in asked}
    return verdict.decision == "publish" and is_kept(kept, asked)


def _is_settled(view: AuditView, verdict: ReleaseVerdict) -> bool:
    """Whether a stopping limit is exceeded, or every limit decided."""
    stops = (check for check in verdict.checks if check.limit.weight == "stop")
    return any(map(_is_exceeded, stops)) or all(
        _is_clear(view, verdict.release, check) for check in verdict.checks
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
    if error is None or not view.summary.is_confirmation:
        return text
    return (
        f"{text}, with intervals that miss in at most {format_error(error)} of all cases of its "
        "policy together"
    )


def explain_repeats(view: AuditView, policy: Policy) -> str:
    """What the repeats of a trial, of a confirmation and of an audit that stopped early tell under
    a policy, which need not be the audit's; "" for any other audit."""
    run, ran = view.summary, describe_repeats(view)
    if run.is_trial:
        return f"{TRIAL}."
    if not run.is_confirmation and not view.stopped_early:
        return ""
    own = f"the policy “{(view.spec.policy or {}).get('title', '')}”"
    if run.is_confirmation and _is_own(view, policy):
        return f"Confirms what a search chose, on new splits: {ran}."
    if run.is_confirmation:
        return (
            f"Confirms what a search chose under {own}, on new splits: {ran}. Under another policy "
            "it confirms nothing: search under that one."
        )
    if _is_own(view, policy):
        return (
            f"The audit ended after {ran}: more repeats would not change the decision. The "
            "intervals do not allow for this choice; the decision does."
        )
    return (
        f"The audit ended after {ran}, as {own} was decided. Under another policy more repeats "
        "could change the decision, and the intervals do not allow for this choice: an audit that "
        "does not stop early runs all repeats."
    )


def _is_own(view: AuditView, policy: Policy) -> bool:
    """Whether a policy is the one that the audit was started with."""
    try:
        return view.spec.policy is not None and check_policy(view.spec.policy) == policy
    except InputError:  # limits of an earlier version
        return False


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
