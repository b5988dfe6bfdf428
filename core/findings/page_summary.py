"""Top of every page and page 1 of the report: cards, one sentence and exact figures.

A sentence has at most 25 words and one number per clause, no brackets and no settings of methods.
It is rendered from facts (`core.findings.facts`) and calls figures different only if their
comparison does. Exact figures with interval, n, splits and attack are in `detail` and `exact`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.audit.results.view import AuditView
from core.findings.facts import STATE_TITLES, Comparison, Figure, LimitState, Outcome, format_both
from core.findings.labels import THREAT_WORDS, describe_attacker, metric_title
from core.findings.numbers import format_measure, format_row
from core.findings.policy import Policy
from core.findings.tables import list_releases
from core.findings.verdict import Check, Verdict, judge_release
from core.findings.verdict_words import describe_decision, find_subject, list_deciding
from core.words import count_noun


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
    """Cards, one sentence, the exact figures, one line each, and a second sentence without which
    the first would mislead."""

    cards: tuple[Card, ...]
    sentence: str
    exact: tuple[str, ...]
    aside: str = ""


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


def describe_figure(figure: Figure) -> str:
    """Exact line: measure, value with interval, attack, release, n and splits."""
    by = describe_attacker(figure.attack)
    sample = f"n = {figure.n:,}, {count_noun(figure.seeds, 'split')}"
    where = "" if figure.made is None else f" on {figure.made.title}"
    return f"{metric_title(figure.metric)}: {format_row(figure)}{by}{where}; {sample}."


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


def format_compared(figure: Figure, original: Figure, outcome: Outcome) -> tuple[str, str]:
    """A release's figure, and the original's with what cannot be called a difference."""
    words = {"tie": ", no difference", "within_noise": ", within noise"}
    value, beside = format_both(figure, original)
    return value, f"original {beside}{words.get(outcome, '')}"


def build_usefulness_card(found: Comparison) -> Card:
    """Usefulness of a release beside the original."""
    value, compared = format_compared(found.second, found.first, found.outcome)
    return build_card(metric_title(found.second.metric), found.second, value, compared, None)
