"""The verdict in words: for the page, the report, the command line."""

from __future__ import annotations

import pandas as pd

from core.findings.differences import is_clear
from core.findings.facts import STATE_TITLES
from core.findings.labels import (
    MAIN_UTILITY_METRICS,
    method_title,
    metric_title,
)
from core.findings.numbers import format_interval, format_number
from core.findings.tables import select_results
from core.findings.verdict import Check, Decision, ReleaseVerdict, Verdict
from core.release import ORIGINAL
from core.results import RELEASE

DECISION_TITLES: dict[Decision, str] = {
    "publish": "Publish",
    "review": "Review",
    "do_not_publish": "Do not publish",
}
DECISION_MEANINGS: dict[Decision, str] = {
    "publish": "every limit is met, interval included, and enough was tested",
    "review": "no limit that stops a release is exceeded, but not all are met: a person decides",
    "do_not_publish": "at least one limit is exceeded, or a guarantee was refuted",
}


def explain_release(verdict: ReleaseVerdict) -> list[str]:
    """Why a release is not simply published; empty where it is."""
    broken = [c for c in verdict.checks if c.decision == "do_not_publish"]
    unsure = [c for c in verdict.checks if c.decision == "review"]
    return [
        *verdict.refuted,
        *(explain_check(check) for check in (*broken, *unsure)),
        *verdict.untried,
    ]


def explain_check(check: Check) -> str:
    """ "Withheld links: TPR at 1 % FPR: 0.43 [0.40, 0.46] by Adamic–Adar, limit 0.05"."""
    found, limit = check.evidence, check.limit
    if found.value is None:
        return f"{limit.title}: not tested"
    who = f" by {method_title(found.attack)}" if found.attack not in ("", RELEASE) else ""
    high = found.high if found.own_high is None else found.own_high
    value = format_interval(found.value, found.low, high)
    unproven = ""
    if check.state == "not_proven":
        unproven = ", interval reaches over it"
        if high is None:
            unproven = ", without an interval"
        elif high <= limit.limit:
            unproven = ", but another attack's interval reaches over it"
    return f"{limit.title}: {value}{who}, limit {format_number(limit.limit)}{unproven}"


def explain_others(verdict: Verdict, results: pd.DataFrame) -> list[tuple[str, str]]:
    """Why each release but the recommended one is not recommended: (release, reason)."""
    utility = _find_utility(results, [v.release for v in verdict.releases])
    rows = []
    for other in verdict.releases:
        if other.release == verdict.recommended:
            continue
        if other.decision != "publish":
            reason = _summarize_reasons(other)
        elif other.release == ORIGINAL:
            reason = "the original is never recommended by the tool itself"
        elif utility is not None and other.release in utility.index:
            row = utility.loc[other.release]
            value = format_interval(row.value, row.low, row.high)
            less = "less useful"
            if verdict.recommended not in utility.index or not is_clear(
                row, utility.loc[verdict.recommended]
            ):
                less = "comes later by usefulness, though not by more than the noise"
            reason = f"{less}: {metric_title(str(row.metric))} {value}"
        else:
            reason = "there to compare with, not to be published"
        rows.append((other.release, reason))
    return rows


def _summarize_reasons(release: ReleaseVerdict) -> str:
    """ "exceeds 6 limits, by most “…”": how many limits speak against it, and the gravest."""
    if release.refuted:
        return release.refuted[0]
    for decision, verb in (("do_not_publish", "exceeds"), ("review", "does not surely meet")):
        checks = [check for check in release.checks if check.decision == decision]
        if not checks:
            continue
        gravest = max(checks, key=lambda check: check.severity).limit.title
        more = f"{len(checks)} limits, by most" if len(checks) > 1 else "the limit"
        return f"{verb} {more} “{gravest}”"
    return release.untried[0] if release.untried else DECISION_MEANINGS[release.decision]


def list_refused(verdict: Verdict) -> dict[str, str]:
    """Releases that must not leave, each with its first reason."""
    return {
        other.release: explain_release(other)[0]
        for other in verdict.releases
        if other.decision == "do_not_publish"
    }


def compute_limit_table(verdict: ReleaseVerdict) -> pd.DataFrame:
    """A row a limit: what is limited, value with interval, limit, state, by which attack, n,
    source."""
    return pd.DataFrame(
        [
            {
                "What is limited": check.limit.title,
                "Measured": format_interval(
                    check.evidence.value, check.evidence.low, check.evidence.high
                ),
                "Limit": format_number(check.limit.limit),
                "": STATE_TITLES[check.state],
                "By": method_title(check.evidence.attack) if check.evidence.attack else "",
                "n": f"{check.evidence.n:,}" if check.evidence.n else "",
                "Source": check.limit.source,
            }
            for check in verdict.checks
        ]
    )


def _find_utility(results: pd.DataFrame, releases: list[str]) -> pd.DataFrame | None:
    for metric in MAIN_UTILITY_METRICS:
        rows = select_results(results, metric, releases, RELEASE)
        if len(rows):
            return rows.set_index("release")
    return None
