"""The verdict in words: for the page, the report, the command line."""

from __future__ import annotations

import pandas as pd

from core.findings.differences import is_clear
from core.findings.labels import (
    MAIN_UTILITY_METRICS,
    method_title,
    metric_title,
    release_title,
)
from core.findings.numbers import format_interval, format_number
from core.findings.tables import select_results
from core.findings.verdict import Check, Decision, ReleaseVerdict, Verdict, list_candidates
from core.release import ORIGINAL
from core.results import RELEASE

DECISION_TITLES: dict[Decision, str] = {
    "publish": "Publish",
    "refer": "Refer",
    "do_not_publish": "Do not publish",
}
DECISION_MEANINGS: dict[Decision, str] = {
    "publish": "every limit is kept, interval included, and enough was tried",
    "refer": "no limit is broken, but not all is proven: a person has to decide",
    "do_not_publish": "at least one limit is broken",
}


def answer_verdict(verdict: Verdict) -> str:
    """One sentence: what may leave, and what is recommended."""
    title = verdict.policy.title
    counts = {d: sum(r.decision == d for r in verdict.releases) for d in DECISION_TITLES}
    if verdict.recommended is not None:
        rivals = [r for r in list_candidates(verdict.releases) if r.release != verdict.recommended]
        others = "no other defended release does"
        if rivals:
            others = f"of the {len(rivals) + 1} that do it comes first by usefulness"
        return (
            f"**Publish {release_title(verdict.recommended)}**: under “{title}” it keeps every "
            f"limit over all threats; {others}."
        )
    defended = [r for r in verdict.releases if r.release != ORIGINAL]
    original = verdict.find(ORIGINAL)
    if original is not None and original.decision == "publish":
        only = " No defense was tried." if not defended else ""
        return (
            f"Under “{title}” the original keeps every limit; the tool does not recommend it "
            f"by itself.{only}"
        )
    if counts["publish"]:
        return (
            f"**Nothing may be published yet** under “{title}”: only what is there to compare "
            "with, and holds nothing of the people, keeps every limit."
        )
    if counts["refer"]:
        referred = [r for r in verdict.releases if r.decision == "refer"]
        tried = [release_title(r.release) for r in referred if _is_measured(r)]
        untried = [release_title(r.release) for r in referred if not _is_measured(r)]
        told = [f"nothing has been tried on {_join(untried)}"] if untried else []
        if tried:
            told.insert(0, f"somebody has to decide on {_join(tried)}")
        unproven = " No limit is broken there, but not everything is proven." if tried else ""
        return f"**Nothing may be published yet** under “{title}”: {'; '.join(told)}.{unproven}"
    broken = f"every release breaks a limit of “{title}”"
    if any(r.refuted for r in verdict.releases):
        broken += " or a promise that was refuted"
    return f"**Do not publish**: {broken}.{_name_nearest(verdict)}"


def _is_measured(release: ReleaseVerdict) -> bool:
    """Whether any attack has a result on it."""
    return any(c.evidence.value is not None and c.limit.threat != "release" for c in release.checks)


def _name_nearest(verdict: Verdict) -> str:
    """A release than which none breaks fewer limits, how many, and the first of them."""
    broken = {
        release.release: [c for c in release.checks if c.decision == "do_not_publish"]
        for release in verdict.releases
        if release.release != ORIGINAL
    }
    if not any(broken.values()):
        return ""
    nearest, checks = min(broken.items(), key=lambda item: len(item[1]))
    if not checks:
        return ""
    total = next(len(r.checks) for r in verdict.releases if r.release == nearest)
    return (
        f" **{release_title(nearest)}** breaks {len(checks)} of {total}, none fewer; the first by "
        f"{explain_check(checks[0])[0].lower()}{explain_check(checks[0])[1:]}."
    )


def explain_release(verdict: ReleaseVerdict) -> list[str]:
    """Why a release is not simply published; empty where it is."""
    broken = [c for c in verdict.checks if c.decision == "do_not_publish"]
    unsure = [c for c in verdict.checks if c.decision == "refer"]
    return [
        *verdict.refuted,
        *(explain_check(check) for check in (*broken, *unsure)),
        *verdict.untried,
    ]


def explain_check(check: Check) -> str:
    """ "Withheld links found at 1 % false alarms: 0.43 [0.40, 0.46] by Adamic–Adar, limit 0.05"."""
    found, limit = check.evidence, check.limit
    if found.value is None:
        return f"{limit.title}: not tried"
    who = f" by {method_title(found.attack)}" if found.attack not in ("", RELEASE) else ""
    high = found.high if found.own_high is None else found.own_high
    value = format_interval(found.value, found.low, high)
    unproven = ""
    if name_state(check) == "not proven":
        unproven = ", interval reaches over it"
        if high is None:
            unproven = ", without an interval"
        elif high <= limit.limit:
            unproven = ", but another attack's interval reaches over it"
    return f"{limit.title}: {value}{who}, limit {format_number(limit.limit)}{unproven}"


def name_state(check: Check) -> str:
    """kept; not kept; not proven, where the interval reaches over the limit; or not tried."""
    value = check.evidence.value
    if value is None:
        return "not tried"
    if check.met:
        return "kept"
    return "not kept" if value > check.limit.limit else "not proven"


def explain_others(verdict: Verdict, results: pd.DataFrame) -> list[tuple[str, str]]:
    """Why each release but the recommended one is not recommended: (release, reason)."""
    utility = _find_utility(results, [v.release for v in verdict.releases])
    rows = []
    for other in verdict.releases:
        if other.release == verdict.recommended:
            continue
        reasons = explain_release(other)
        if other.decision != "publish":
            reason = reasons[0] if reasons else DECISION_MEANINGS[other.decision]
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


def list_refused(verdict: Verdict) -> dict[str, str]:
    """Releases that must not leave, each with its first reason."""
    return {
        other.release: explain_release(other)[0]
        for other in verdict.releases
        if other.decision == "do_not_publish"
    }


def compute_limit_table(verdict: ReleaseVerdict) -> pd.DataFrame:
    """A row a limit: what is limited, value with interval, limit, kept, by which attack, n,
    source."""
    return pd.DataFrame(
        [
            {
                "What is limited": check.limit.title,
                "Measured": format_interval(
                    check.evidence.value, check.evidence.low, check.evidence.high
                ),
                "Limit": format_number(check.limit.limit),
                "": name_state(check),
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


def _join(names: list[str], limit: int = 3) -> str:
    shown = [f"**{name}**" for name in names[:limit]]
    if len(names) > limit:
        shown.append(f"{len(names) - limit} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" and {shown[-1]}"
