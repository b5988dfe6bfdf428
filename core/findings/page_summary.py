"""Top of every page and page 1 of the report: cards, one sentence and exact figures.

A sentence has at most 25 words and one number per clause, no brackets and no settings of methods.
It is rendered from facts (`core.findings.facts`) and calls figures different only if their
comparison does. Exact figures with interval, n, splits and attack are in `detail` and `exact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

from core.audit.results.view import AuditView
from core.findings.facts import (
    STATE_TITLES,
    Comparison,
    Figure,
    LimitState,
    Outcome,
    format_both,
    format_frequency_pairs,
)
from core.findings.labels import THREAT_WORDS, describe_attacker, metric_title
from core.findings.numbers import format_limited, format_row
from core.findings.policy import Policy
from core.findings.tables import list_releases
from core.findings.verdict import Check, Verdict, judge_release
from core.findings.verdict_words import (
    describe_decision,
    describe_state,
    find_subject,
    list_deciding,
    rank_limits,
)
from core.words import count_noun


@dataclass(frozen=True)
class ScoreBar:
    """A figure between what guessing reaches and all of it, as shares of a bar's length: the figure
    with its interval, the best baseline attacker and the same attack on control nodes (None without
    one)."""

    value: float
    low: float | None
    high: float | None
    baseline: float | None
    control: float | None


@dataclass(frozen=True)
class Card:
    """One headline number with its comparison, the state of its limit and the exact figure; with
    the question that it answers and a bar where it has one."""

    title: str
    value: str
    compared_with: str
    state: LimitState | None
    detail: str
    question: str = ""
    bar: ScoreBar | None = None


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
    """The release decision, a card for each limit that determines it, and all limits exactly."""
    release = find_subject(verdict)
    return PageSummary(
        cards=() if release is None else _build_limit_cards(list_deciding(release)),
        sentence=describe_decision(verdict),
        exact=() if release is None else tuple(map(_describe_check, rank_limits(release))),
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
    if check is None:
        return Card(title, value, compared, None, describe_figure(figure))
    told, state = describe_state(check), STATE_TITLES[check.state]
    detail = describe_figure(figure) + (f" Limit {told}." if told != state else "")
    return Card(title, value, compared, check.state, detail)


def _build_limit_cards(checks: Sequence[Check]) -> tuple[Card, ...]:
    return tuple(
        Card(check.limit.title, value, f"limit {limit}", check.state, _describe_check(check))
        for check, (value, limit) in zip(checks, format_checks(checks), strict=True)
    )


def format_checks(checks: Sequence[Check]) -> list[tuple[str, str]]:
    """The measured value of each check, or why there is none, and the limit; without interval, and
    all shares over one denominator, so that they can be read against each other."""
    limits = [Figure(c.limit.metric, None, c.evidence.attack, c.limit.limit) for c in checks]
    values = [c.limit.limit if c.evidence.value is None else c.evidence.value for c in checks]
    pairs = [*zip(values, (figure.value for figure in limits), strict=True)]
    shares = iter(format_frequency_pairs([*compress(pairs, (f.is_share for f in limits))]))
    found = []
    for check, figure, (measured, most) in zip(checks, limits, pairs, strict=True):
        if figure.is_share:
            value, limit = next(shares)
        else:
            value, limit = format_limited(measured, most, metric=figure.metric)
        if check.evidence.value is None:
            value = _explain_untested(check)
        elif value == limit and measured != most:
            value = f"just {'above' if measured > most else 'below'} {value}"
        found.append((value, limit))
    return found


def _explain_untested(check: Check) -> str:
    if check.evidence.is_unresolved:
        return f"too few {THREAT_WORDS[check.limit.threat].unit}s"
    return "not tested"


def _describe_check(check: Check) -> str:
    found, limit = check.evidence, check.limit
    ends = (found.low, found.shown_high)
    value, most = format_limited(found.value, limit.limit, *ends, limit.metric)
    state = describe_state(check, most)
    if found.value is None:
        why = f"{_explain_untested(check)} to measure, " if found.is_unresolved else ""
        return f"{limit.title}: {why}{state}."
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
