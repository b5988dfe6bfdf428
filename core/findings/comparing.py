"""Releases against the limits of a policy, and against an earlier audit of the same graph."""

from __future__ import annotations

import pandas as pd

from core.findings.evidence import Evidence
from core.findings.facts import STATE_TITLES
from core.findings.numbers import format_interval, format_row
from core.findings.verdict import Check, Verdict
from core.results import RELEASE

MAX_CHANGES = 6


def compute_comparison(verdict: Verdict, earlier: Verdict | None = None) -> pd.DataFrame:
    """One row per limit and measured release, limits in the policy's order.

    state   met; exceeded; not proven
    before  the same limit on the same release in an earlier verdict; change: "higher" or "lower"
    if the two intervals do not overlap, else ""
    made, by  what release and attack refer to; by: None for a measure of the release
    """
    known = {} if earlier is None else _index(earlier)
    now = _index(verdict)
    made = {one.release: one.made for one in verdict.releases}
    order = [check.limit.name for release in verdict.releases for check in release.checks]
    rows = []
    for (release, name), check in sorted(now.items(), key=lambda item: order.index(item[0][1])):
        old = known.get((release, name))
        found, before = check.evidence, Evidence() if old is None else old.evidence
        rows.append(
            {
                "name": name,
                "title": check.limit.title,
                "release": release,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "limit": check.limit.limit,
                "state": STATE_TITLES[check.state],
                "attack": RELEASE if found.attack is None else found.attack.id,
                "n": found.n,
                "before": before.value,
                "before_low": before.low,
                "before_high": before.high,
                "change": "" if old is None else format_change(check, old),
                "made": made[release],
                "by": found.attack,
            }
        )
    table = pd.DataFrame(rows)
    numbers = ["value", "low", "high", "limit", "before", "before_low", "before_high"]
    return table if table.empty else table.astype(dict.fromkeys(numbers, float))


def format_change(now: Check, before: Check) -> str:
    """ "higher" or "lower" if the intervals are disjoint; "" if they overlap or one is missing."""
    a, b = now.evidence, before.evidence
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return ""
    if a.low > b.high:
        return "higher"
    return "lower" if a.high < b.low else ""


def answer_changes(table: pd.DataFrame, earlier: str) -> str:
    """Sentence on what is clearly higher or lower than in an earlier audit.

    earlier  name of that audit, such as "the audit of 3 March 2026"
    """
    both = table if table.empty else table[table.before.notna()]
    if both.empty:
        return f"Nothing here was measured in {earlier}."
    changed = both[both.change != ""]
    if changed.empty:
        return (
            f"Nothing has clearly changed since {earlier}: the intervals of all {len(both)} "
            "values overlap."
        )
    listed = [
        f"{row.title} on {row.made.title} is {row.change}, "
        f"{format_row(row)} after "
        f"{format_interval(row.before, row.before_low, row.before_high)}"
        for row in changed.head(MAX_CHANGES).itertuples()
    ]
    more = len(changed) - len(listed)
    return f"Since {earlier}: " + "; ".join(listed) + (f"; {more} more" if more > 0 else "") + "."


def _index(verdict: Verdict) -> dict[tuple[str, str], Check]:
    """(release, limit name) → check, for measured checks."""
    return {
        (release.release, check.limit.name): check
        for release in verdict.releases
        for check in release.checks
        if check.evidence.value is not None
    }
