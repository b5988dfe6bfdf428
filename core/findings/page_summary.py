"""Top of every page and page 1 of the report: cards, one sentence and exact figures.

A sentence has at most 25 words and one number per clause, no brackets and no settings of methods.
It is rendered from facts (`core.findings.facts`) and calls figures different only if their
comparison does. Exact figures with interval, n, splits and attack are in `detail` and `exact`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pandas as pd

from core.audit.results.view import AuditView
from core.findings.facts import (
    STATE_TITLES,
    Comparison,
    Count,
    Figure,
    LimitState,
    build_figure,
    compare_results,
    format_both,
    format_frequencies,
)
from core.findings.labels import (
    MAIN_UTILITY_METRICS,
    THREAT_WORDS,
    describe_attacker,
    is_higher_useful,
    metric_title,
)
from core.findings.numbers import format_measure, format_row
from core.findings.policy import Policy
from core.findings.tables import list_releases, select_results
from core.findings.verdict import Check, Verdict, judge_release
from core.findings.verdict_words import describe_decision, find_subject, list_deciding
from core.release import ORIGINAL
from core.results import RELEASE
from core.words import begin_sentence, count_noun, format_percent


@dataclass(frozen=True)
class Card:
    """One headline number with its comparison, the state of its limit and the exact figure."""

    title: str
    value: str
    compared_with: str
    state: LimitState | None
    detail: str


@dataclass(frozen=True)
class PageSummary:
    """Cards, one sentence, and the exact figures, one line each."""

    cards: tuple[Card, ...]
    sentence: str
    exact: tuple[str, ...]


MAX_CARDS = 4


def summarize_decision(verdict: Verdict) -> PageSummary:
    """The release decision and the limits that determine it."""
    release = find_subject(verdict)
    checks = [] if release is None else list_deciding(release)
    return PageSummary(
        cards=tuple(_build_limit_card(check) for check in checks[:3]),
        sentence=describe_decision(verdict),
        exact=tuple(_describe_check(check) for check in checks),
    )


def summarize_risk(
    view: AuditView, release: str | None = None, policy: Policy | None = None
) -> PageSummary:
    """Number of nodes exposed on the original and on a release, per secret."""
    table, noun = view.nodes.exposed, view.spec.nodes
    first = ORIGINAL if ORIGINAL in set(table.release) else None
    checks = list_checks(view, release or ORIGINAL, policy)
    cards, exact, strongest = [], [], []
    for (threat, target), rows in table.groupby(["threat", "target"], sort=False):
        counts = {row.release: row for row in rows.itertuples()}
        shown = counts.get(release or first or "")
        if shown is None:
            continue
        before = counts.get(first or "")
        of = f" of {target}" if target else ""
        title = f"{begin_sentence(noun.many)} exposed: {THREAT_WORDS[str(threat)].attack}{of}"
        count = Count(int(shown.exposed), int(shown.n))
        check = find_check(checks, str(threat), "advantage_share")
        compared = f"{format_percent(shown.share)} of those at stake"
        if release not in (None, ORIGINAL) and before is not None:
            compared = f"original {Count(int(before.exposed), int(before.n)).format()}"
        state = None if check is None or target else check.state
        detail = f"by {shown.attacks} ({shown.how}); advantage above 0.2"
        cards.append(Card(title, count.format(), compared, state, detail))
        exact.append(f"{title}: {count.format()} on {view.get_release(shown.release).title}.")
        strongest.append((shown.share, count, str(threat), shown.release))
    sentence = "No node's risk is known yet."
    if strongest:
        _, count, threat, where = max(strongest, key=lambda item: item[0])
        aim = THREAT_WORDS[threat].attack
        verb = "is" if count.value == 1 else "are"
        name = view.get_release(where).name
        sentence = f"On {name}, {count.format()} {noun.many} {verb} exposed to {aim}."
    return PageSummary(tuple(cards[:MAX_CARDS]), sentence, tuple(exact))


def summarize_homophily(view: AuditView) -> PageSummary:
    """Similarity of nodes to neighbours and role peers, against chance."""
    noun = view.spec.nodes
    cards, exact, leaks, is_tested = [], [], [], False
    for key, who in (("proximity", "neighbours"), ("role", "role peers")):
        ratio = _find_release_row(view.results, f"ghratio_{key}", ORIGINAL)
        gap = _find_release_row(view.results, f"ghratio_{key}_gap", ORIGINAL)
        if ratio is None or gap is None:
            continue
        figure, excess = build_figure(ratio), build_figure(gap)
        chance = figure.value - excess.value
        texts = format_frequencies(figure.value, chance)
        title, compared = f"{who.capitalize()} that share a value", f"chance {texts[1]}"
        exact += [describe_figure(figure), describe_figure(excess)]
        if excess.low is not None and excess.high is not None:
            is_tested = True
            if excess.low > 0:
                leaks.append((excess.value, who, texts))
            elif excess.high >= 0:
                compared += ", within noise"
        cards.append(Card(title, texts[0], compared, None, describe_figure(figure)))
    sentence = "Homophily has not been measured."
    if leaks:
        _, who, texts = max(leaks)
        sentence = f"{texts[0]} {who} share a {noun.one}'s value, against {texts[1]} by chance."
    elif is_tested:
        sentence = f"Neither neighbours nor role peers share a {noun.one}'s value beyond chance."
    elif cards:
        sentence = "Too few splits to distinguish homophily from chance."
    return PageSummary(tuple(cards), sentence, tuple(exact))


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
            sentence = f"{defended[0].made.name} is not cleared for publishing."
        return PageSummary(tuple(cards), begin_sentence(sentence), ())
    sentence = f"{best.name} may be published"
    useful = find_usefulness(view.results, best.id)
    if useful is not None:
        cards.append(build_usefulness_card(useful))
        exact = [describe_figure(useful.second), describe_figure(useful.first)]
        sentence += _format_usefulness(useful)
    rivals = [made.title for made in passing if made != best]
    if rivals:
        exact.append(f"May be published as well: {', '.join(rivals)}.")
    return PageSummary(tuple(cards), begin_sentence(f"{sentence}."), tuple(exact))


def describe_figure(figure: Figure) -> str:
    """Exact line: measure, value with interval, attack, release, n and splits."""
    by = describe_attacker(figure.attack)
    sample = f"n = {figure.n:,}, {count_noun(figure.repeats, 'split')}"
    where = "" if figure.made is None else f" on {figure.made.title}"
    return f"{metric_title(figure.metric)}: {format_row(figure)}{by}{where}; {sample}."


def _find_release_row(results: pd.DataFrame, metric: str, release: str) -> pd.Series | None:
    rows = select_results(results, metric, [release], RELEASE)
    return None if rows.empty else rows.iloc[0]


def find_usefulness(results: pd.DataFrame, release: str) -> Comparison | None:
    """The first measure of usefulness that release and original share."""
    for metric in MAIN_UTILITY_METRICS:
        rows = [_find_release_row(results, metric, r) for r in (ORIGINAL, release)]
        if rows[0] is not None and rows[1] is not None:
            return compare_results(*rows)
    return None


def list_checks(view: AuditView, release: str, policy: Policy | None) -> tuple[Check, ...]:
    """Checks of the policy's limits on a release; none without either."""
    if policy is None or release not in list_releases(view.results):
        return ()
    return judge_release(view, release, policy).checks


def find_check(checks: Iterable[Check], threat: str, metric: str) -> Check | None:
    """Check of this metric of a threat, if there is one."""
    return next((c for c in checks if (c.limit.threat, c.limit.metric) == (threat, metric)), None)


def build_card(title: str, figure: Figure, value: str, compared: str, check: Check | None) -> Card:
    """Card of a measured figure; `value` is its text, formatted with what it is compared to."""
    state = None if check is None else check.state
    return Card(title, value, compared, state, describe_figure(figure))


def _build_limit_card(check: Check) -> Card:
    shown, limit = format_check(check)
    return Card(check.limit.title, shown, f"limit {limit}", check.state, _describe_check(check))


def format_check(check: Check) -> tuple[str, str]:
    """The measured value and the limit, without interval; or why nothing was measured."""
    limit = Figure(check.limit.metric, None, check.evidence.attack, check.limit.limit)
    if check.evidence.is_unresolved:
        return f"too few {THREAT_WORDS[check.limit.threat].unit}s", limit.format()
    if check.evidence.value is None:
        return "not tested", limit.format()
    return format_both(replace(limit, value=check.evidence.value), limit)


def _describe_check(check: Check) -> str:
    found, limit = check.evidence, check.limit
    shown, most = format_check(check)
    state = f"{STATE_TITLES[check.state]}, limit {most}"
    if found.value is None:
        why = f"{shown} to measure, " if found.is_unresolved else ""
        return f"{limit.title}: {why}{state}."
    value = format_measure(limit.metric, found.value, found.low, found.high)
    by = describe_attacker(found.attack)
    sample = f"; n = {found.n:,}" if found.n else ""
    return f"{limit.title}: {value}{by}; {state}{sample}."


def format_compared(figure: Figure, found: Comparison) -> tuple[str, str]:
    """A release's figure, and the original's with what cannot be called a difference."""
    words = {"tie": ", no difference", "within_noise": ", within noise"}
    value, original = format_both(figure, found.first)
    return value, f"original {original}{words.get(found.outcome, '')}"


def build_usefulness_card(found: Comparison) -> Card:
    """Usefulness of a release beside the original."""
    value, compared = format_compared(found.second, found)
    return build_card(metric_title(found.second.metric), found.second, value, compared, None)


def _format_usefulness(found: Comparison) -> str:
    metric = metric_title(found.second.metric)
    what = f"its {metric[0].lower()}{metric[1:]}"
    worse = "lower" if is_higher_useful(found.second.metric) else "higher"
    if found.outcome in ("tie", "within_noise"):
        return ", as useful as the original within noise"
    if found.outcome == worse:
        return f", at a cost: {what} is {found.second.format()}"
    return f"; {what} is {found.second.format()}"
