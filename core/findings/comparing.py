"""All releases against every limit of a policy, and against an earlier audit of the graph."""

from __future__ import annotations

import pandas as pd

from core.findings.facts import STATE_TITLES
from core.findings.labels import release_title, short_titles
from core.findings.numbers import format_interval, format_number
from core.findings.verdict import Check, Verdict

COLUMNS = (
    "name",
    "title",
    "release",
    "value",
    "low",
    "high",
    "limit",
    "state",
    "attack",
    "n",
    "before",
    "before_low",
    "before_high",
    "change",
)
MAX_CHANGES = 6


def compute_comparison(verdict: Verdict, earlier: Verdict | None = None) -> pd.DataFrame:
    """`COLUMNS`: a row a limit and release that was measured, limits in the policy's order.

    state   met; exceeded; not proven
    before  the same limit on the same release in an earlier verdict; change: "higher" or "lower"
            where the two intervals do not meet, else ""
    """
    known = {} if earlier is None else _index(earlier)
    rows = []
    for name in dict.fromkeys(c.limit.name for r in verdict.releases for c in r.checks):
        for release in verdict.releases:
            check = next((c for c in release.checks if c.limit.name == name), None)
            if check is None or check.evidence.value is None:
                continue
            old = known.get((release.release, name))
            found, before = check.evidence, None if old is None else old.evidence
            rows.append(
                (
                    name,
                    check.limit.title,
                    release.release,
                    found.value,
                    found.low,
                    found.high,
                    check.limit.limit,
                    STATE_TITLES[check.state],
                    found.attack,
                    found.n,
                    None if before is None else before.value,
                    None if before is None else before.low,
                    None if before is None else before.high,
                    "" if old is None else format_change(check, old),
                )
            )
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["value", "low", "high", "limit", "before", "before_low", "before_high"]
    return table.astype(dict.fromkeys(numbers, float))


def format_change(now: Check, before: Check) -> str:
    """ "higher" or "lower" where the intervals are apart; "" where they meet or one is unknown."""
    a, b = now.evidence, before.evidence
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return ""
    if a.low > b.high:
        return "higher"
    return "lower" if a.high < b.low else ""


def answer_changes(table: pd.DataFrame, earlier: str) -> str:
    """What is clearly higher or lower than in an earlier audit, as a sentence.

    earlier  how that audit is called, such as "the audit of 3 March 2026"
    """
    both = table[table.before.notna()]
    if both.empty:
        return f"Nothing here was measured in {earlier}."
    changed = both[both.change != ""]
    if changed.empty:
        return (
            f"Nothing has clearly changed since {earlier}: all {len(both)} intervals that both "
            "have meet."
        )
    told = [
        f"{row.title} on {release_title(row.release)} is {row.change}, "
        f"{format_interval(row.value, row.low, row.high)} after "
        f"{format_interval(row.before, row.before_low, row.before_high)}"
        for row in changed.head(MAX_CHANGES).itertuples()
    ]
    more = len(changed) - len(told)
    return f"Since {earlier}: " + "; ".join(told) + (f"; {more} more" if more > 0 else "") + "."


def tabulate_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """A row a limit, a column a release: value with interval, and whether it is kept."""
    texts = [
        f"{format_interval(row.value, row.low, row.high)} {row.state}" for row in table.itertuples()
    ]
    heads = [f"{row.title} (at most {format_number(row.limit)})" for row in table.itertuples()]
    names = short_titles(table.release)
    wide = pd.DataFrame(
        {"Limit": heads, "release": table.release.map(names), "text": texts}
    ).pivot_table(index="Limit", columns="release", values="text", aggfunc="first", sort=False)
    return wide.rename_axis(None, axis=1).fillna("not measured").reset_index()


def _index(verdict: Verdict) -> dict[tuple[str, str], Check]:
    return {
        (release.release, check.limit.name): check
        for release in verdict.releases
        for check in release.checks
        if check.evidence.value is not None
    }
