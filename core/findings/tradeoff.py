"""Usefulness against risk, one point per release; and every attack on every release."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.audit.asked.scenarios import Threat
from core.audit.results.view import REPEATS, AuditView
from core.findings.differences import is_clear
from core.findings.facts import Count, LimitState
from core.findings.inverted_scores import invert_scores
from core.findings.labels import is_higher_useful, metric_title
from core.findings.numbers import EDITION, format_interval, format_limited
from core.findings.page_summary import (
    Card,
    PageSummary,
    build_usefulness_card,
    describe_figure,
    find_check,
)
from core.findings.strongest import choose_measure
from core.findings.tables import (
    attack_rows,
    compute_worst_attacks,
    list_made,
    list_releases,
    list_threats,
    select_results,
    sort_releases,
)
from core.findings.usefulness import choose_usefulness, describe_cost, find_usefulness
from core.findings.verdict import Check, Verdict
from core.findings.verdict_words import explain_unproven
from core.release import ORIGINAL
from core.results import RELEASE, Estimate
from core.words import begin_sentence


def choose_axes(results: pd.DataFrame, threat: Threat) -> tuple[str, str] | None:
    """Measures of risk and of usefulness by which releases are compared; None if either lacks."""
    measure, utility = choose_measure(results, threat), choose_usefulness(results)
    return None if measure is None or utility is None else (measure.metric, utility)


def choose_threat(results: pd.DataFrame, verdict: Verdict) -> Threat | None:
    """The threat that is shown first: the one whose limit, on the measure of `choose_axes`, most
    defended releases exceed; the first where none is exceeded, None without any."""
    threats = list_threats(results)

    def count(threat: Threat) -> int:
        measure = choose_measure(results, threat)
        return sum(
            check.state == "exceeded"
            for release in verdict.defended
            for check in release.checks
            if measure and (check.limit.threat, check.limit.metric) == (threat, measure.metric)
        )

    return max(threats, key=count, default=None)


def compute_tradeoff(
    results: pd.DataFrame,
    attack_metric: str,
    utility_metric: str,
    attack: str | None = None,
    threat: Threat | None = None,
    verdict: Verdict | None = None,
) -> pd.DataFrame:
    """One row per release that has both figures.

    attack   one attack, or None for the worst case: the highest value over all attacks
    verdict  decides of the worst case which releases meet a limit of its policy
    Columns release, title, attack, risk and utility with their intervals, risk_end (the lowest
    limit that is met: by the verdict, else the interval's end), unproven (why a figure below its
    limit is not proven to meet it), is_pareto (no other release is at least as safe and as useful
    and better in one), is_inverted (`risk` is the inverted strength of an attack clearly below
    chance), made and by (what release and attack refer to). Of results of an edition for outsiders
    also told and bound, of the risk.
    """
    if attack is None:
        risk = compute_worst_attacks(results, attack_metric, threat)
    else:
        risk = invert_scores(select_results(results, attack_metric, method=attack))
    utility = select_results(results, utility_metric, method=RELEASE)
    both = risk.merge(utility, on="release", suffixes=("_risk", "_utility"))
    table = pd.DataFrame(
        {
            "release": both.release,
            "title": [made.title for made in both.made_risk],
            "attack": both.method_risk,
            "risk": both.value_risk,
            "risk_low": both.low_risk,
            "risk_high": both.high_risk,
            "utility": both.value_utility,
            "utility_low": both.low_utility,
            "utility_high": both.high_utility,
            "utility_repeats": both.get(f"{REPEATS}_utility"),
            "is_inverted": both.is_inverted,
            "made": both.made_risk,
            "by": both.attack_risk,
        }
    )
    checks = {}
    if verdict is not None and threat is not None and attack is None:
        found = ((one, find_check(one.checks, threat, attack_metric)) for one in verdict.releases)
        checks = {one.release: check for one, check in found if check is not None}
    table["risk_end"] = [_find_end(row, checks.get(row.release)) for row in table.itertuples()]
    table["unproven"] = [
        explain_unproven(checks[release]) if release in checks else "" for release in table.release
    ]
    for name in EDITION:
        if name in risk:
            table[name] = both[f"{name}_risk"]
    gain = table.utility if is_higher_useful(utility_metric) else -table.utility
    table["is_pareto"] = compute_pareto(table.risk.to_numpy(float), gain.to_numpy(float))
    return sort_releases(table, results)


def _find_end(row: Any, check: Check | None) -> float:
    """The lowest limit that a figure meets. One without an interval has none of its own, or is
    told rounded: then only the state of the verdict is told."""
    if check is None:
        end = float(row.risk if pd.isna(row.risk_high) else row.risk_high)
        return round(end, 12)  # 0.66 + 0.04 is within 0.70
    if pd.isna(row.risk_high):
        return min(float(row.risk), check.limit.limit) if check.state == "met" else math.inf
    return check.end


def compute_pareto(risk: np.ndarray, utility: np.ndarray) -> np.ndarray:
    """(k,) bool: points not dominated by another (lower risk, higher utility).

    Equal points do not dominate each other.
    """
    lower, higher = risk[:, None] - risk, utility - utility[:, None]  # of each other point
    dominated = (lower >= 0) & (higher >= 0) & ((lower > 0) | (higher > 0))
    front: np.ndarray = ~dominated.any(axis=1)
    return front


def find_clear_front(table: pd.DataFrame) -> pd.DataFrame:
    """risk, utility: Pareto front of a `compute_tradeoff` table, safest first, with a row of NaN
    between neighbours that do not differ beyond noise in both."""
    front = table[table.is_pareto].sort_values("risk")
    both = ("risk", "utility")
    estimates = [[_get_estimate(row, name) for name in both] for row in front.itertuples()]
    rows: list[tuple[float | None, float | None]] = []
    for before, after in itertools.pairwise(estimates):
        if all(is_clear(*pair) for pair in zip(before, after, strict=True)):
            rows += [(e[0].value, e[1].value) for e in (before, after)]
        rows.append((np.nan, np.nan))
    return pd.DataFrame(rows, columns=list(both))


def _get_estimate(row: Any, name: str) -> Estimate:
    value, low, high = (getattr(row, f"{name}{end}") for end in ("", "_low", "_high"))
    return Estimate(value, low, high, 0, 1)


def find_best_release(
    table: pd.DataFrame, max_risk: float, utility_metric: str, refused: Collection[str] = ()
) -> str | None:
    """The most useful defended release of a `compute_tradeoff` table within the accepted risk.

    Which are within it: `compute_admissible`. None if no release qualifies; ties in usefulness go
    to the lower risk. Never the original, a data-independent baseline, or a
    release `refused` for another reason.
    """
    may_leave = [made.is_defended and made.id not in refused for made in table.made]
    rows = table[compute_admissible(table, max_risk) & np.array(may_leave, bool)]
    if rows.empty:
        return None
    sign = -1.0 if is_higher_useful(utility_metric) else 1.0
    order = np.lexsort((rows.risk.to_numpy(float), sign * rows.utility.to_numpy(float)))
    return str(rows.release.iloc[order[0]])


def list_equally_useful(table: pd.DataFrame, release: str, among: Collection[str]) -> list[str]:
    """Other releases of a `compute_tradeoff` table whose usefulness differs by no more than
    noise."""
    names = {f"utility_{name}": name for name in ("low", "high", "repeats")} | {"utility": "value"}
    shown = table.rename(columns=names)[["release", *names.values()]]
    rows = {row.release: row for row in shown.itertuples()}
    return [r for r in rows if r != release and r in among and not is_clear(rows[r], rows[release])]


def compute_admissible(table: pd.DataFrame, max_risk: float) -> np.ndarray:
    """(k,) bool: rows of a trade-off table whose risk, with the intervals that count, is within
    `max_risk`: those that meet it by the verdict that the table has."""
    return np.asarray((table.risk_end <= max_risk).to_numpy())


def compute_transfer(
    results: pd.DataFrame, metric: str, threat: Threat, of: Literal["value", "strength"] = "value"
) -> pd.DataFrame:
    """attack, title, one column per release; attacks by their strength on the original.

    of  the attack's own value, or with those clearly below chance inverted; where its form cannot
        differ from the standard one, that one's
    """
    rows = attack_rows(results, metric, threat)
    if rows.empty:
        return pd.DataFrame(columns=["attack", "title"])
    rows["strength"] = invert_scores(rows).value
    strengths, values = (
        rows.pivot_table(name, "method", "release", sort=False) for name in ("strength", of)
    )
    releases = [release for release in list_releases(results) if release in strengths.columns]
    made, attacks = list_made(results), {attack.id: attack for attack in rows.attack}
    for attack, release in itertools.product(attacks.values(), releases):
        form = attack.find_form(made[release]).id
        if form != attack.id and form in attacks:
            for table in (strengths, values):
                table.loc[attack.id, release] = table.loc[form, release]
    order = strengths[releases[0]].sort_values(ascending=False, kind="stable").index
    wide = values.loc[order, releases].rename_axis(index="attack", columns=None).reset_index()
    wide.insert(1, "title", [attacks[attack].title for attack in wide.attack])
    return wide


def summarize_tradeoff(view: AuditView, verdict: Verdict) -> PageSummary:
    """Number of releases that may be published, and the usefulness of the recommended one."""
    defended = verdict.defended
    passing = [r.made for r in defended if r.decision == "publish"]
    count = Count(len(passing), len(defended))
    state: LimitState | None = "met" if passing else None  # a count of zero exceeds no limit
    cards = [
        Card(
            "Defended releases that may be published",
            count.format(),
            f"policy {verdict.policy.title}",
            state,
            ", ".join(made.title for made in passing) or "none",
        )
    ]
    exact: list[str] = []
    if not defended:
        return PageSummary(tuple(cards), "No defense was tried.", ())
    best = None if verdict.recommended is None else view.get_release(verdict.recommended)
    if best is None:
        sentence = f"None of the {len(defended)} defended releases is cleared for publishing."
        if len(defended) == 1:
            sentence = f"{verdict.names[defended[0].release]} is not cleared for publishing."
        return PageSummary(tuple(cards), begin_sentence(sentence), ())
    sentence = f"{verdict.names[best.id]} may be published"
    useful = find_usefulness(view.results, best.id)
    if useful is not None:
        cards.append(build_usefulness_card(useful))
        exact = [describe_figure(useful.second), describe_figure(useful.first)]
        sentence += describe_cost(useful)
    rivals = [made.title for made in passing if made != best]
    if rivals:
        exact.append(f"May be published as well: {', '.join(rivals)}.")
    return PageSummary(tuple(cards), begin_sentence(f"{sentence}."), tuple(exact))


def answer_tradeoff(
    table: pd.DataFrame,
    limit: float,
    risk: str,
    utility: str,
    refused: Mapping[str, str] | None = None,
) -> str:
    """The most useful defended release within `limit` that nothing else stands against.

    table    `compute_tradeoff` of one threat
    refused  release → reason why it is not cleared for publishing
    """
    if table.empty:
        return "No release has both numbers yet."
    refused = refused or {}
    rows = table.set_index("release", drop=False)
    best_id = find_best_release(table, limit, utility, refused)
    admissible = set(table.release[compute_admissible(table, limit)])
    barred = _bar(rows.title[rows.index.isin(admissible & set(refused))], refused)
    told = rows.loc[best_id or rows.risk.idxmin()]
    value, most = format_limited(told.risk, limit, told.risk_low, told.risk_high, risk)
    within = f"{metric_title(risk)} at or below {most}, interval included"
    if not admissible:
        why = f", but {told.unproven}" if told.unproven else ""
        return f"No release keeps {within}; the lowest is {value} on {told.title}{why}."
    keep = f"{len(admissible)} of {len(table)} releases keep {within}"
    if best_id is None:
        others = barred or "Only the original is: add a defense."
        return f"{keep}, but none of them can be recommended. {others}"
    passing = {made.id for made in rows.made if made.is_defended} & admissible - set(refused)
    tied = list_equally_useful(table, best_id, passing)
    rank = "as useful as any within noise" if tied else "the most useful"
    if len(passing) == 1:
        rank = "the only one to recommend"
    useful = rows.apply(_format_utility, axis=1)
    beside = f" (the original: {useful[ORIGINAL]})" if ORIGINAL in rows.index else ""
    inverted = " (that attack is clearly wrong, and counts inverted)" if told.is_inverted else ""
    return (
        f"{keep}. Of these, {told.title} is {rank}: {metric_title(utility)} {useful[best_id]}"
        f"{beside} at a risk of {value}{inverted}. {barred}"
    ).strip()


def _format_utility(row: pd.Series) -> str:
    return format_interval(row.utility, row.utility_low, row.utility_high)


def _bar(titles: pd.Series, refused: Mapping[str, str]) -> str:
    """Releases (id → title) that satisfy this limit and are not cleared for another reason."""
    if titles.empty:
        return ""
    parts = [f"{title}, {refused[str(release)]}" for release, title in titles[:3].items()]
    more = [f"{len(titles) - 3} more"] if len(titles) > 3 else []
    return f"Not cleared: {'; '.join(parts + more)}."
