"""The verdict as sentences for page, report and command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import pandas as pd

from core.findings.channels import shorten_names
from core.findings.differences import is_clear
from core.findings.evidence import TRIAL
from core.findings.facts import STATE_TITLES, LimitState
from core.findings.labels import THREAT_WORDS, describe_attacker, metric_title
from core.findings.numbers import format_limited, format_row
from core.findings.usefulness import select_usefulness
from core.findings.verdict import (
    SEVERITY,
    Check,
    Decision,
    ReleaseVerdict,
    Verdict,
    find_least_severe,
)
from core.methods import THIS_SIZE
from core.release import ORIGINAL
from core.words import count_noun, format_percent, join_words

DECISION_TITLES: dict[Decision, str] = {
    "publish": "Publish",
    "review": "Review",
    "do_not_publish": "Do not publish",
}
DECISION_MEANINGS: dict[Decision, str] = {
    "publish": "every tested limit is met, and every required test was run",
    "review": "nothing forbids the release, but a person must decide",
    "do_not_publish": "a limit is exceeded, or a guarantee was refuted",
}


NUM_NEAREST = 3
"""Limits that are shown where none stands in a release's way."""


def rank_limits(release: ReleaseVerdict) -> list[Check]:
    """Limits of a release: exceeded, not proven and not tested ones that stand in its way, then
    the others; each by the multiple of the limit."""
    order = {"exceeded": 0, "not_proven": 1, "met": 2, "not_tested": 3}

    def rank(check: Check) -> tuple[int, int, float]:
        return -SEVERITY[check.decision], order[check.state], -check.severity

    return sorted(release.checks, key=rank)


def list_deciding(release: ReleaseVerdict) -> list[Check]:
    """All limits that stand in a release's way; where none does, the nearest that are met."""
    ranked = rank_limits(release)
    against = [check for check in ranked if check.decision != "publish"]
    return against or [check for check in ranked if check.state == "met"][:NUM_NEAREST] or ranked


def title_deciding(release: ReleaseVerdict) -> str:
    """Heading of `list_deciding`."""
    states = {check.state for check in list_deciding(release)}
    if states == {"met"}:
        return f"Nearest limits for {release.made.title}, all met"
    return f"Deciding limits for {release.made.title}"


def find_subject(verdict: Verdict) -> ReleaseVerdict | None:
    """The release that the summary is about.

    The recommended one; else, among tested releases of the best decision, one that can be
    published, unless all are refused, with the smallest severity; of those tied within noise a
    defended one before the original, and the one that exceeds the fewest limits by the least.
    """
    if verdict.recommended is not None:
        return verdict.find(verdict.recommended)
    nearest = find_least_severe(verdict)
    offered = [r for r in verdict.offered if not r.made.is_data_independent]
    return min(
        offered,
        key=lambda r: (
            not r.is_tested,
            SEVERITY[r.decision],
            bool(r.obstacle) and r.decision != "do_not_publish",
            r.release not in nearest,
            r.release == ORIGINAL,
            sum(check.state == "exceeded" for check in r.checks),
            max((check.severity for check in r.checks), default=0.0),
        ),
        default=None,
    )


FEW_LINKS = 0.1
"""Share of the links below which a release says little of them, which its decision tells."""


def describe_decision(verdict: Verdict) -> str:
    """One sentence on what may be published."""
    if verdict.recommended is not None:
        found = verdict.find(verdict.recommended)
        assert found is not None
        told = _count_met(found, verdict)
        if found.oversized:
            told += f"; not run {THIS_SIZE}: {shorten_names(found.oversized)}"
        if found.links_kept is not None and found.links_kept < FEW_LINKS:
            told += f". It keeps {format_percent(found.links_kept)} of the links"
        return f"Publish {verdict.names[found.release]}: {told}."
    original = next((v for v in verdict.offered if v.release == ORIGINAL), None)
    if original is not None and original.decision == "publish":
        more = "no defense was tried" if not verdict.defended else "no defended release does"
        return f"Review: the original meets every tested limit, but {more}."
    if verdict.decision == "review":
        return _describe_review(verdict)
    least = find_least_severe(verdict)
    near = "none comes clearly closest to passing"
    if len(least) == 1:
        near = f"{verdict.names[least[0]]} comes closest to passing"
    if len(verdict.offered) > 1:
        count = len(verdict.offered)
        return f"Do not publish: each of the {count} releases exceeds at least one limit; {near}."
    only = verdict.offered[0]
    tried = ", and no defense was tried" if only.made.is_original else ""
    return f"Do not publish: {verdict.names[only.release]} exceeds at least one limit{tried}."


def _count_met(release: ReleaseVerdict, verdict: Verdict) -> str:
    """Limits that a cleared release meets; those that were not tested, which are optional; and
    those that do not apply: of threats that were not audited, or on an ε that is not claimed."""
    states = Counter(check.state for check in release.checks)
    met, untested = states["met"], states["not_tested"]
    left = len(verdict.policy.limits) - len(release.checks)
    if not untested and not left:
        return f"it meets the policy's {count_noun(met, 'limit')}"
    others = [f"{untested} {'was' if untested == 1 else 'were'} not tested"] * bool(untested)
    others += [f"{left} {'does' if left == 1 else 'do'} not apply"] * bool(left)
    return f"it meets {count_noun(met, 'limit')}; {join_words(others)}"


def _describe_review(verdict: Verdict) -> str:
    """Sentence for the case that no release may be published but some exceeds no limit."""
    open_ones = [
        r for r in verdict.offered if r.decision == "review" and not r.made.is_data_independent
    ]
    tested = [release for release in open_ones if release.is_tested]
    if not open_ones:
        return "Review: every release made from the data is refused; only baselines remain."
    if not tested:
        return "Review: no attack has finished on the releases that may still be published."
    if len(tested) == 1:
        release = tested[0]
        unproven = sum(c.state == "not_proven" for c in release.checks)
        name = verdict.names[release.release]
        above = sum(c.state == "exceeded" for c in release.checks)
        if above:
            limits = count_noun(above, "limit that calls", "limits that call")
            return f"Review {name}: it exceeds {limits} for review."
        if release.obstacle:
            why = "its sensitive links must be named first"
        elif unproven:
            why = f"{count_noun(unproven, 'limit is', 'limits are')} not proven"
        elif release.is_unchanged:
            why = "nothing was changed"
        elif release.unattacked:
            names = shorten_names([c.name for c in release.channels if c.is_open])
            why = f"its {names} leave and are not attacked"
        elif TRIAL in release.untried:
            why = "only the confirmation of its search decides"
        else:
            why = "not every required test was run"
        return f"Review {name}: no limit is exceeded, but {why}."
    refused = sum(r.decision == "do_not_publish" for r in verdict.offered)
    if refused:
        out = f"{refused} of {len(verdict.offered)} releases {'is' if refused == 1 else 'are'}"
        return f"Review: {out} ruled out; no other is cleared yet."
    return "Review: no limit rules out a release, but none is cleared yet."


def explain_release(verdict: ReleaseVerdict) -> list[str]:
    """Reasons why a release may not simply be published, the gravest first; empty if it may."""
    against = [check for check in rank_limits(verdict) if check.decision != "publish"]
    return [*verdict.refuted, *map(explain_check, against), *verdict.open_points]


def count_others(verdict: ReleaseVerdict, told: Collection[str]) -> str:
    """ "2 more limits are exceeded, 1 more limit is not proven": what else is against a release
    than the reasons that are told; empty if nothing is."""
    against = [check for check in verdict.checks if check.decision != "publish"]
    counts = Counter(check.state for check in against if explain_check(check) not in told)
    order: tuple[LimitState, ...] = ("exceeded", "not_proven", "not_tested")
    parts = [
        f"{counts[state]} more {'limit is' if counts[state] == 1 else 'limits are'} "
        f"{STATE_TITLES[state]}"
        for state in order
        if counts[state]
    ]
    points = {*verdict.refuted, *verdict.open_points}.difference(told)
    limits = ", ".join(parts)
    reasons = count_noun(len(points), "more reason") if points else ""
    return " and ".join(filter(None, [limits, reasons]))


def explain_check(check: Check) -> str:
    """ "Withheld links: TPR at 1 % FPR: 0.43 [0.40, 0.46] by Adamic–Adar, limit 0.05"."""
    found, limit = check.evidence, check.limit
    if found.is_unresolved:
        return f"{limit.title}: too few {THREAT_WORDS[limit.threat].unit}s to measure"
    if found.value is None:
        what = "; it compares the groups chosen on the Data page"
        return f"{limit.title}: not tested{what if limit.metric == 'group_gap' else ''}"
    who = describe_attacker(found.attack)
    high = found.shown_high
    value, most = format_limited(found.value, limit.limit, found.low, high, limit.metric)
    why = explain_unproven(check)
    unproven = why and (f", but {why}" if high is not None else f", {why}")
    return f"{limit.title}: {value}{who}, limit {most}{unproven}"


def explain_unproven(check: Check) -> str:
    """ "the interval of another attack extends above it": why a figure below its limit is not
    proven to meet it; "" in any other state."""
    found, limit = check.evidence, check.limit.limit
    high = found.shown_high
    if check.state != "not_proven":
        return ""
    if high is None:
        return "without an interval"
    if found.high is not None and found.high <= limit:
        return f"no attack measured it for {join_words(found.untested)}"
    if high > limit:
        return "its interval extends above it"
    whose = "inverted guesses" if found.is_by_inversion else "another attack"
    return f"the interval of {whose} extends above it"


def describe_state(check: Check, limit: str = "") -> str:
    """ "not proven, limit 0.20: the interval of another attack extends above it"; the reason only
    where the figure's own interval does not show it.

    limit  its text, "" where it stands elsewhere
    """
    why = explain_unproven(check)
    is_shown = why in ("", "its interval extends above it", "without an interval")
    state = STATE_TITLES[check.state] + (f", limit {limit}" if limit else "")
    return state if is_shown else f"{state}: {why}"


def explain_others(verdict: Verdict, results: pd.DataFrame) -> list[tuple[str, str]]:
    """(release, reason) why each other release is not recommended."""
    utility = select_usefulness(results)
    rows = []
    for other in verdict.releases:
        if other.release == verdict.recommended:
            continue
        if other.decision != "publish":
            reason = summarize_reasons(other)
        elif other.release == ORIGINAL:
            reason = "an original is never recommended"
        elif other.release in utility.index:
            row = utility.loc[other.release]
            value = format_row(row)
            less = "less useful"
            if verdict.recommended not in utility.index or not is_clear(
                row, utility.loc[verdict.recommended]
            ):
                less = "as useful within noise"
                best = verdict.find(verdict.recommended or "")
                if best is not None and best.has_guarantee and not other.has_guarantee:
                    less += ", without a guarantee"
            reason = f"{less}: {metric_title(str(row.metric))} {value}"
        else:
            reason = "for comparison only"
        rows.append((other.release, reason))
    return rows


def summarize_reasons(release: ReleaseVerdict) -> str:
    """ "exceeds 6 limits, above all “…”": the gravest state that stands in its way, all limits in
    that state, and the most severe of those in the way."""
    if release.refuted:
        return release.refuted[0]
    verbs: dict[LimitState, str] = {
        "exceeded": "exceeds",
        "not_proven": "is not proven to meet",
        "not_tested": "is not tested against",
    }
    for state, verb in verbs.items():
        count = sum(check.state == state for check in release.checks)
        against = [c for c in release.checks if c.state == state and c.decision != "publish"]
        if not against:
            continue
        gravest = max(against, key=lambda check: check.severity).limit.title
        more = f"{count} limits, above all" if count > 1 else "the limit"
        return f"{verb} {more} “{gravest}”"
    return next(iter(release.open_points), DECISION_MEANINGS[release.decision])


def list_uncleared(verdict: Verdict) -> dict[str, str]:
    """Releases that are not cleared for publishing, each with its first reason."""
    return {
        other.release: explain_release(other)[0]
        for other in verdict.releases
        if other.decision != "publish"
    }


def compute_limit_table(verdict: ReleaseVerdict) -> pd.DataFrame:
    """One row per limit: title, value with interval, limit, state, attack, n, source."""
    rows = []
    for check in verdict.checks:
        found, limit = check.evidence, check.limit
        ends = (found.low, found.shown_high)
        value, most = format_limited(found.value, limit.limit, *ends, limit.metric)
        rows.append(
            {
                "What is limited": limit.title,
                "Measured": value,
                "At most": most,
                "State": describe_state(check),
                "By": "" if found.attack is None else found.attack.title,
                "n": f"{found.n:,}" if found.n else "",
                "Source": limit.source,
            }
        )
    return pd.DataFrame(rows)
