"""What stands at the top of every page and on page 1 of the report: cards, one sentence, exact
figures.

A sentence has at most 25 words and one number a clause, no brackets and no settings of methods,
and is rendered from facts (`core.findings.facts`): it calls figures different only where their
comparison says so. Exact figures with interval, n, splits and attack are in `detail` and `exact`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from core.audit.scenarios import THREAT_TITLES, Threat
from core.audit.view import AuditView
from core.findings.attackers import compute_exposed
from core.findings.beat_baseline import compare_with_baseline
from core.findings.facts import (
    STATE_MARKS,
    STATE_TITLES,
    Comparison,
    Count,
    Figure,
    LimitState,
    build_figure,
    compare_results,
    format_frequencies,
)
from core.findings.inverted_scores import invert_scores
from core.findings.labels import (
    MAIN_UTILITY_METRICS,
    is_data_independent,
    is_higher_useful,
    method_name,
    method_title,
    metric_title,
    release_title,
)
from core.findings.numbers import format_percent
from core.findings.policy import Policy, check_policy, find_policy
from core.findings.tables import attack_rows, list_releases, select_results
from core.findings.verdict import (
    Check,
    ReleaseVerdict,
    Verdict,
    find_least_severe,
    judge,
    judge_release,
)
from core.release import ORIGINAL
from core.results import RELEASE
from core.words import count_noun

__all__ = [
    "STATE_MARKS",
    "STATE_TITLES",
    "Card",
    "LimitState",
    "PageSummary",
    "summarize_attacks",
    "summarize_decision",
    "summarize_homophily",
    "summarize_release",
    "summarize_risk",
    "summarize_tradeoff",
]


@dataclass(frozen=True)
class Card:
    """One headline number: what it is compared with, its limit's state, its exact figure."""

    title: str
    value: str
    compared_with: str
    state: LimitState | None
    detail: str


@dataclass(frozen=True)
class PageSummary:
    """Cards, one sentence, and the exact figures behind it, a line each."""

    cards: tuple[Card, ...]
    sentence: str
    exact: tuple[str, ...]


@dataclass(frozen=True)
class _Headline:
    """How a threat's figure is worded. `says` has {found} for the natural frequency; `what`
    follows a frequency."""

    metric: str
    title: str
    says: str
    what: str


HEADLINES: dict[Threat, tuple[_Headline, ...]] = {
    "link": (
        _Headline(
            "tpr_at_fpr_0.01",
            "Withheld links found",
            "finds {found} withheld links while accusing 1 of 100 unconnected pairs",
            "withheld links",
        ),
    ),
    "included": (
        _Headline(
            "recovered_at_precision_0.9",
            "Released links recovered",
            "names {found} real links while erring in 1 of 10",
            "real links",
        ),
    ),
    "attribute": (
        _Headline(
            "tpr_at_fpr_0.01",
            "Private values recognised",
            "recognises {found} private values while wrongly accusing 1 of 100 people",
            "private values",
        ),
        _Headline(
            "accuracy",
            "Private values guessed",
            "guesses {found} private values right",
            "private values",
        ),
    ),
    "identity": (
        _Headline(
            "expected_found",
            "People re-identified",
            "finds {found} people behind their pseudonyms",
            "people",
        ),
        _Headline(
            "hits_at_1",
            "People re-identified",
            "finds {found} people behind their pseudonyms",
            "people",
        ),
    ),
}
"""In the order of preference, the first that was computed; `_RANKING` where none was."""

_RANKING = _Headline(
    "auc", "Attack AUC", "ranks secrets above the rest with an AUC of {found}", "AUC"
)
_UNTESTED = "No attack has finished yet."
_MAX_CARDS = 4


def find_policy_of(view: AuditView) -> Policy:
    """The policy that the audit names, else the strictest shipped one."""
    return find_policy("public") if view.spec.policy is None else check_policy(view.spec.policy)


def summarize_decision(
    view: AuditView, policy: Policy | None = None, verdict: Verdict | None = None
) -> PageSummary:
    """The release decision, and the limits that decide it.

    policy   None: the audit's own, else the strictest
    verdict  of `judge` under that policy, where the caller has it
    """
    verdict = verdict or judge(view, policy or find_policy_of(view))
    release = find_subject(verdict)
    checks = [] if release is None else list_deciding(release)
    return PageSummary(
        cards=tuple(_build_limit_card(check) for check in checks[:3]),
        sentence=describe_decision(verdict),
        exact=tuple(_describe_check(check) for check in checks),
    )


def summarize_attacks(
    view: AuditView,
    release: str = ORIGINAL,
    policy: Policy | None = None,
    verdict: Verdict | None = None,
) -> PageSummary:
    """What the strongest attack reaches on a release, beside the best baseline attacker."""
    limits = _find_release_limits(view, release, policy, verdict)
    cards, sentences, exact = [], [], []
    for threat, headline in _list_headlines(view.results):
        found = next(
            (
                c
                for c in compare_with_baseline(view.results, threat, release)
                if c.metric == headline.metric
            ),
            None,
        )
        if found is None:
            row = _find_worst(view.results, headline.metric, threat, release)
            if row is None:
                continue
            best, baseline = build_figure(row), None
        else:
            best = build_figure(found.best)
            baseline = (
                None if found.baseline is None else compare_results(found.baseline, found.best)
            )
        check = limits.get((threat, headline.metric))
        cards.append(
            Card(
                title=headline.title,
                value=best.format(),
                compared_with=_compare_baseline(baseline),
                state=None if check is None else check.state,
                detail=describe_figure(best),
            )
        )
        sentences.append(_describe_attack(headline, best, baseline))
        exact.append(describe_figure(best))
        if baseline is not None:
            exact.append(describe_figure(baseline.first))
    sentence = sentences[0] if sentences else _UNTESTED
    return PageSummary(tuple(cards[:_MAX_CARDS]), sentence, tuple(exact))


def summarize_release(
    view: AuditView,
    release: str,
    policy: Policy | None = None,
    verdict: Verdict | None = None,
) -> PageSummary:
    """What a release lowers against the original, over the attackers that both faced, and what
    it keeps useful."""
    limits = _find_release_limits(view, release, policy, verdict)
    cards, exact, sentence = [], [], ""
    for threat, headline in _list_headlines(view.results):
        worst = _find_worst(view.results, headline.metric, threat, release)
        if worst is None:
            continue
        shared = compare_releases(view.results, headline.metric, threat, release)
        figure = build_figure(worst)
        check = limits.get((threat, headline.metric))
        compared = "not compared with the original"
        if shared is not None:
            compared = f"original {shared.first.format()}"
            exact.append(describe_figure(shared.first))
        cards.append(
            Card(
                title=headline.title,
                value=figure.format(),
                compared_with=compared,
                state=None if check is None else check.state,
                detail=describe_figure(figure),
            )
        )
        exact.append(describe_figure(figure))
        missing = list_missing_attackers(view.results, headline.metric, threat, release)
        if missing:
            exact.append(f"On one of the two only: {', '.join(map(method_title, missing))}.")
        if not sentence and shared is not None:
            sentence = _describe_release(headline, release, shared)
    useful = _find_usefulness(view.results, release)
    if useful is not None:
        cards = cards[: _MAX_CARDS - 1]
        cards.append(_build_usefulness_card(useful))
        exact += [describe_figure(useful.second), describe_figure(useful.first)]
    return PageSummary(tuple(cards[:_MAX_CARDS]), sentence or _UNTESTED, tuple(exact))


def summarize_risk(
    view: AuditView,
    release: str | None = None,
    policy: Policy | None = None,
    verdict: Verdict | None = None,
    hide_below: int = 0,
) -> PageSummary:
    """How many people are exposed on the original and on a release, secret by secret.

    hide_below  smaller counts are told as "fewer than" that
    """
    table = compute_exposed(view.nodes)
    first = ORIGINAL if ORIGINAL in set(table.release) else None
    limits = _find_release_limits(view, release or ORIGINAL, policy, verdict)
    cards, exact, told = [], [], []
    for (threat, target), rows in table.groupby(["threat", "target"], sort=False):
        counts = {row.release: row for row in rows.itertuples()}
        shown = counts.get(release or first or "")
        if shown is None:
            continue
        before = counts.get(first or "")
        title = f"People exposed: {_format_secret(str(threat), str(target))}"
        count = Count(int(shown.exposed), int(shown.n))
        check = limits.get((threat, "advantage_share"))
        compared = f"{format_percent(shown.share)} of those at stake"
        if release not in (None, ORIGINAL) and before is not None:
            compared = f"original {Count(int(before.exposed), int(before.n)).format(hide_below)}"
        state = None if check is None or target else check.state
        detail = f"by {shown.attacks} ({shown.how}); advantage above 0.2"
        cards.append(Card(title, count.format(hide_below), compared, state, detail))
        exact.append(f"{title}: {count.format(hide_below)} on {release_title(shown.release)}.")
        told.append((shown.share, count, str(threat), shown.release))
    sentence = "No node's risk is known yet."
    if told:
        _, count, threat, where = max(told, key=lambda item: item[0])
        on = "the original" if where == ORIGINAL else method_name(where)
        aim = THREAT_NOUNS.get(threat, "inference")
        verb = "is" if count.value == 1 and hide_below <= 1 else "are"
        sentence = f"On {on}, {count.format(hide_below)} people {verb} exposed to {aim}."
    return PageSummary(tuple(cards[:_MAX_CARDS]), sentence, tuple(exact))


def summarize_homophily(view: AuditView, release: str = ORIGINAL) -> PageSummary:
    """How alike people are to their neighbours and role peers, against what chance gives."""
    cards, exact, clear = [], [], []
    for key, who in (("proximity", "neighbours"), ("role", "role peers")):
        ratio = _find_release_row(view.results, f"ghratio_{key}", release)
        gap = _find_release_row(view.results, f"ghratio_{key}_gap", release)
        if ratio is None or gap is None:
            continue
        figure, excess = build_figure(ratio), build_figure(gap)
        chance = figure.value - excess.value
        texts = format_frequencies(figure.value, chance)
        cards.append(
            Card(
                title=f"{who.capitalize()} with one's own value",
                value=texts[0],
                compared_with=f"chance {texts[1]}",
                state=None,
                detail=describe_figure(figure),
            )
        )
        exact += [describe_figure(figure), describe_figure(excess)]
        if excess.low is not None and excess.high is not None:
            side = 1 if excess.low > 0 else -1 if excess.high < 0 else 0
            clear.append((abs(excess.value), side, who, texts))
    sentence = "Homophily has not been measured."
    leaks = [found for found in clear if found[1] > 0]
    if leaks:
        _, _, who, texts = max(leaks)
        sentence = f"{texts[0]} {who} share a person's value, against {texts[1]} by chance."
    elif clear:
        sentence = "Neither neighbours nor role peers share a person's value beyond chance."
    elif cards:
        sentence = "Too few splits tell homophily from chance."
    return PageSummary(tuple(cards), sentence, tuple(exact))


def summarize_tradeoff(
    view: AuditView, policy: Policy | None = None, verdict: Verdict | None = None
) -> PageSummary:
    """How many releases meet every limit, and what the recommended one keeps useful."""
    verdict = verdict or judge(view, policy or find_policy_of(view))
    defended = [
        r for r in verdict.releases if r.release != ORIGINAL and not is_data_independent(r.release)
    ]
    passing = [r.release for r in defended if r.decision == "publish"]
    count = Count(len(passing), len(defended))
    state: LimitState = "met" if passing else "exceeded"
    if not passing and any(r.decision == "review" for r in defended):
        state = "not_proven"
    cards = [
        Card(
            "Defended releases that meet every limit",
            count.format(),
            f"policy {verdict.policy.title}",
            state if defended else "not_tested",
            ", ".join(map(release_title, passing)) or "none",
        )
    ]
    exact: list[str] = []
    if not defended:
        return PageSummary(tuple(cards), "No defense was tried.", ())
    best = verdict.recommended
    if best is None:
        sentence = f"None of the {len(defended)} defended releases meets every limit."
        if len(defended) == 1:
            sentence = f"{method_name(defended[0].release)} does not meet every limit."
        return PageSummary(tuple(cards), sentence, ())
    sentence = f"{method_name(best)} meets every limit"
    useful = _find_usefulness(view.results, best)
    if useful is not None:
        cards.append(_build_usefulness_card(useful))
        exact = [describe_figure(useful.second), describe_figure(useful.first)]
        sentence += _format_usefulness(useful)
    rivals = [r for r in passing if r != best]
    if rivals:
        exact.append(f"Meet every limit as well: {', '.join(map(release_title, rivals))}.")
    return PageSummary(tuple(cards), f"{sentence}.", tuple(exact))


THREAT_NOUNS: dict[str, str] = {
    "link": "link inference",
    "included": "inference of released links",
    "attribute": "attribute inference",
    "identity": "re-identification",
}


def describe_figure(figure: Figure) -> str:
    """The exact line: measure, value with interval, attack, release, n and splits."""
    by = "" if figure.attack in ("", RELEASE) else f" by {method_title(figure.attack)}"
    sample = f"n = {figure.n:,}, {count_noun(figure.repeats, 'split')}"
    where = release_title(figure.release)
    return f"{metric_title(figure.metric)}: {figure.format_exact()}{by} on {where}; {sample}."


def list_deciding(release: ReleaseVerdict) -> list[Check]:
    """The limits of a release, the most exceeded first: a threat's gravest before the others."""
    order = {"exceeded": 0, "not_proven": 1, "not_tested": 2, "met": 3}
    ranked = sorted(release.checks, key=lambda c: (order[c.state], -c.severity))
    first = list({c.limit.threat: c for c in reversed(ranked)}.values())
    first.sort(key=ranked.index)
    return [*first, *(c for c in ranked if c not in first)]


def compare_releases(
    results: pd.DataFrame, metric: str, threat: Threat, release: str, first: str = ORIGINAL
) -> Comparison | None:
    """The strongest attack on each of two releases, over the attackers that both faced."""
    rows = invert_scores(attack_rows(results, metric, threat))
    faced = [set(rows[rows.release == r].method) for r in (first, release)]
    rows = rows[rows.method.isin(faced[0] & faced[1])]
    if rows.empty:
        return None
    worst = [part.loc[part.value.idxmax()] for part in _split(rows, (first, release))]
    return compare_results(*worst)


def list_missing_attackers(
    results: pd.DataFrame, metric: str, threat: Threat, release: str, first: str = ORIGINAL
) -> list[str]:
    """Attackers that one of two releases faced and the other did not."""
    rows = attack_rows(results, metric, threat)
    faced = [dict.fromkeys(part.method) for part in _split(rows, (first, release))]
    return [m for m in {**faced[0], **faced[1]} if (m in faced[0]) != (m in faced[1])]


def _split(rows: pd.DataFrame, releases: Iterable[str]) -> list[pd.DataFrame]:
    return [rows[rows.release == release] for release in releases]


def _list_headlines(results: pd.DataFrame) -> list[tuple[Threat, _Headline]]:
    """The threats that were attacked, each with the first of its headline figures."""
    found = []
    for threat in THREAT_TITLES:
        for headline in (*HEADLINES[threat], _RANKING):
            if not attack_rows(results, headline.metric, threat).empty:
                found.append((threat, headline))
                break
    return found


def _find_worst(
    results: pd.DataFrame, metric: str, threat: Threat, release: str
) -> pd.Series | None:
    rows = invert_scores(attack_rows(results, metric, threat))
    rows = rows[rows.release == release]
    return None if rows.empty else rows.loc[rows.value.idxmax()]


def _find_release_row(results: pd.DataFrame, metric: str, release: str) -> pd.Series | None:
    rows = select_results(results, metric, [release], RELEASE)
    return None if rows.empty else rows.iloc[0]


def _find_usefulness(results: pd.DataFrame, release: str) -> Comparison | None:
    """The first measure of usefulness that release and original both have."""
    for metric in MAIN_UTILITY_METRICS:
        rows = [_find_release_row(results, metric, r) for r in (ORIGINAL, release)]
        if rows[0] is not None and rows[1] is not None:
            return compare_results(*rows)
    return None


def _find_release_limits(
    view: AuditView, release: str, policy: Policy | None, verdict: Verdict | None
) -> dict[tuple[str, str], Check]:
    if verdict is not None:
        found = verdict.find(release)
    elif release in list_releases(view.results):
        found = judge_release(view, release, policy or find_policy_of(view))
    else:
        found = None
    return {} if found is None else {(c.limit.threat, c.limit.metric): c for c in found.checks}


def _build_limit_card(check: Check) -> Card:
    found = check.evidence
    value, compared = "not tested", _format_limit(check)
    if found.value is not None:
        value = _limit_figure(check, found.value).format()
    return Card(check.limit.title, value, f"limit {compared}", check.state, _describe_check(check))


def _limit_figure(check: Check, value: float) -> Figure:
    return Figure(check.limit.metric, "", check.evidence.attack, value)


def _format_limit(check: Check) -> str:
    return _limit_figure(check, check.limit.limit).format()


def _describe_check(check: Check) -> str:
    found, limit = check.evidence, check.limit
    state = f"{STATE_TITLES[check.state]}, limit {_format_limit(check)}"
    if found.value is None:
        return f"{limit.title}: {state}."
    figure = Figure(limit.metric, "", found.attack, found.value, found.low, found.high, found.n)
    by = "" if found.attack in ("", RELEASE) else f" by {method_title(found.attack)}"
    sample = f"; n = {found.n:,}" if found.n else ""
    return f"{limit.title}: {figure.format_exact()}{by}; {state}{sample}."


def find_subject(verdict: Verdict) -> ReleaseVerdict | None:
    """The release that the decision is about: the recommended one, else a least severe one, a
    defended one before the original where they are tied."""
    nearest = sorted(find_least_severe(verdict), key=lambda release: release == ORIGINAL)
    subject = verdict.recommended or (nearest[0] if nearest else None)
    return None if subject is None else verdict.find(subject)


def describe_decision(verdict: Verdict) -> str:
    """What may be published, as one sentence."""
    nearest = find_least_severe(verdict)
    if verdict.recommended is not None:
        found = verdict.find(verdict.recommended)
        assert found is not None
        limits = count_noun(len(found.checks), "limit")
        return f"Publish {method_name(verdict.recommended)}: it meets the policy's {limits}."
    defended = [
        r for r in verdict.releases if r.release != ORIGINAL and not is_data_independent(r.release)
    ]
    original = verdict.find(ORIGINAL)
    if original is not None and original.decision == "publish":
        more = "no defense was tried" if not defended else "no defended release does"
        return f"Review: the original meets every limit, but {more}."
    if any(r.decision != "do_not_publish" for r in verdict.releases):
        return _describe_review(verdict)
    near = "no release comes clearly nearest to meeting them"
    if len(nearest) == 1:
        name = "the original" if nearest[0] == ORIGINAL else method_name(nearest[0])
        near = f"{name} comes nearest to meeting them"
    if len(verdict.releases) == 1:
        return "Do not publish: the original exceeds at least one limit, and no defense was tried."
    return f"Do not publish: each of the {len(verdict.releases)} releases exceeds a limit; {near}."


def _describe_review(verdict: Verdict) -> str:
    """No release may be published, and some release exceeds nothing."""
    open_ones = [r for r in verdict.releases if r.decision == "review"]
    tested = [r for r in open_ones if any(c.evidence.value is not None for c in r.checks)]
    if not open_ones:
        return "Review: only releases made without the data meet every limit."
    if not tested:
        return "Review: no attack has finished on any release that exceeds no limit."
    if len(tested) == 1:
        release = tested[0]
        unproven = sum(c.state == "not_proven" for c in release.checks)
        name = "the original" if release.release == ORIGINAL else method_name(release.release)
        above = sum(c.state == "exceeded" for c in release.checks)
        if above:
            return f"Review {name}: it exceeds {count_noun(above, 'limit')} that asks for a review."
        why = f"{count_noun(unproven, 'limit')} {'is' if unproven == 1 else 'are'} not proven"
        if not unproven:
            why = "not everything that the policy asks for was tested"
        return f"Review {name}: no limit is exceeded, but {why}."
    return f"Review: {len(tested)} releases need a review, because not every limit is met for sure."


def _compare_baseline(found: Comparison | None) -> str:
    if found is None:
        return "no baseline attacker was run"
    text = f"baseline attacker {found.first.format()}"
    words = {"lower": "clearly above", "tie": "no difference", "within_noise": "within noise"}
    return text if found.outcome == "higher" else f"{text}, {words.get(found.outcome, 'not told')}"


def _describe_attack(headline: _Headline, best: Figure, baseline: Comparison | None) -> str:
    says = headline.says.format(found=best.format())
    if baseline is None:
        return f"An attacker {says}."
    if baseline.first.value > best.value:
        says = headline.says.format(found=baseline.first.format())
        return f"A baseline attacker {says}; no attack does better."
    if baseline.outcome == "higher":
        texts = best.format(), baseline.first.format()
        if best.is_share:
            texts = format_frequencies(best.value, baseline.first.value)
        says = headline.says.format(found=texts[0])
        return f"An attacker {says}; a baseline attacker reaches {texts[1]}."
    return f"An attacker {says}, not clearly more than a baseline attacker."


def _describe_release(headline: _Headline, release: str, found: Comparison) -> str:
    name = method_name(release)
    if found.outcome in ("lower", "higher"):
        texts = found.second.format(), found.first.format()
        if found.second.is_share:
            texts = format_frequencies(found.second.value, found.first.value)
        if texts[0] != texts[1]:
            return (
                f"With {name}, an attacker reaches {texts[0]} {headline.what}, "
                f"against {texts[1]} on the original."
            )
    if found.outcome == "not_tested":
        return f"Too few splits tell whether {name} lowers the {headline.what} that are found."
    return f"{name} does not clearly change how many {headline.what} an attacker finds."


def _build_usefulness_card(found: Comparison) -> Card:
    words = {"tie": ", no difference", "within_noise": ", within noise"}
    return Card(
        title=metric_title(found.second.metric),
        value=found.second.format(),
        compared_with=f"original {found.first.format()}{words.get(found.outcome, '')}",
        state=None,
        detail=describe_figure(found.second),
    )


def _format_usefulness(found: Comparison) -> str:
    metric = metric_title(found.second.metric)
    what = f"its {metric[0].lower()}{metric[1:]}"
    worse = "lower" if is_higher_useful(found.second.metric) else "higher"
    if found.outcome in ("tie", "within_noise"):
        return ", as useful as the original within noise"
    if found.outcome == worse:
        return f", at a cost: {what} is {found.second.format()}"
    return f"; {what} is {found.second.format()}"


def _format_secret(threat: str, target: str) -> str:
    noun = THREAT_NOUNS.get(threat, threat)
    return f"{noun} of {target}" if target else noun
