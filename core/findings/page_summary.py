"""What stands at the top of every page and on page 1 of the report: cards, one sentence, exact
figures.

A sentence has at most 25 words and one number a clause, no brackets and no settings of methods,
and is rendered from facts (`core.findings.facts`): it calls figures different only where their
comparison says so. Exact figures with interval, n, splits and attack are in `detail` and `exact`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pandas as pd

from core.audit.scenarios import THREAT_TITLES, Threat
from core.audit.view import AuditView
from core.findings.attackers import compute_exposed
from core.findings.beat_baseline import compare_with_baseline
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
from core.findings.inverted_scores import invert_scores
from core.findings.labels import (
    MAIN_UTILITY_METRICS,
    THREAT_WORDS,
    is_baseline,
    is_higher_useful,
    method_name,
    method_title,
    metric_title,
    release_title,
)
from core.findings.numbers import format_percent, format_row
from core.findings.policy import Policy
from core.findings.tables import attack_rows, list_releases, select_results
from core.findings.verdict import Check, Verdict, judge_release
from core.findings.verdict_words import describe_decision, find_subject, list_deciding
from core.release import ORIGINAL
from core.results import RELEASE
from core.words import count_noun


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
        _Headline(
            "advantage_share",
            "People exposed by their private value",
            "exposes {found} people by their private value",
            "exposed people",
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
"""In the order of preference; `_RANKING` where none was computed."""

_RANKING = _Headline(
    "auc", "Attack AUC", "ranks secrets above the rest with an AUC of {found}", "AUC"
)
_UNTESTED = "No attack has finished yet."
_MAX_CARDS = 4


def summarize_decision(verdict: Verdict) -> PageSummary:
    """The release decision, and the limits that decide it."""
    release = find_subject(verdict)
    checks = [] if release is None else list_deciding(release)
    return PageSummary(
        cards=tuple(_build_limit_card(check) for check in checks[:3]),
        sentence=describe_decision(verdict),
        exact=tuple(_describe_check(check) for check in checks),
    )


@dataclass(frozen=True)
class _Reached:
    """A headline figure on one release beside the best baseline attacker, and how much the threat
    exceeds its limits: 0 without limits."""

    headline: _Headline
    best: Figure
    baseline: Comparison | None
    severity: float

    @property
    def excess(self) -> float:
        """How far the figure is above the baseline's, or above nothing where none was run."""
        if is_baseline(self.best.attack):
            return 0.0
        return self.best.value - (0.0 if self.baseline is None else self.baseline.first.value)


def summarize_attacks(
    view: AuditView, release: str = ORIGINAL, policy: Policy | None = None
) -> PageSummary:
    """What the strongest attack on each secret reaches on a release, beside the best baseline
    attacker.

    The sentence tells the worst threat: the most severe against its limits or, where the policy
    has none, the one furthest above its baseline attackers.
    """
    checks = _list_checks(view, release, policy)
    cards, reached, exact = [], [], []
    for threat in THREAT_TITLES:
        found = _find_reached(view.results, threat, release, checks)
        if found is None:
            continue
        reached.append(found)
        check = _find_check(checks, threat, found.headline.metric)
        cards.append(_build_attack_card(found, check))
        exact.append(describe_figure(found.best))
        if found.baseline is not None:
            exact.append(describe_figure(found.baseline.first))
    worst = max(reached, key=lambda r: (r.severity, r.excess), default=None)
    sentence = _UNTESTED if worst is None else _describe_attack(worst)
    return PageSummary(tuple(cards[:_MAX_CARDS]), sentence, tuple(exact))


def _find_reached(
    results: pd.DataFrame, threat: Threat, release: str, checks: Iterable[Check]
) -> _Reached | None:
    """Of a threat's headline figures the one furthest above its baseline attackers."""
    severity = max((c.severity for c in checks if c.limit.threat == threat), default=0.0)
    found = []
    for headline in _list_headlines(results, threat):
        compared = compare_with_baseline(results, threat, release, [headline.metric])
        row = compared[0].best if compared else None
        if row is None:  # baseline attackers alone
            row = _find_worst(results, headline.metric, threat, release)
        if row is not None:
            rival = compared[0].baseline if compared else None
            baseline = None if rival is None else compare_results(rival, row)
            found.append(_Reached(headline, build_figure(row), baseline, severity))
    return max(found, key=lambda reached: reached.excess, default=None)


def summarize_release(view: AuditView, release: str, policy: Policy | None = None) -> PageSummary:
    """What a release lowers against the original, over the attackers that both faced, and what
    it keeps useful."""
    checks = _list_checks(view, release, policy)
    cards, exact, changes = [], [], []
    for threat in THREAT_TITLES:
        headline = next(iter(_list_headlines(view.results, threat)), None)
        worst = headline and _find_worst(view.results, headline.metric, threat, release)
        if headline is None or worst is None:
            continue
        shared, alone = compare_with_original(view.results, headline.metric, threat, release)
        figure = build_figure(worst)
        value, compared = figure.format(), "not compared with the original"
        if shared is not None:
            value, original = format_both(figure, shared.first)
            compared = f"original {original}"
            exact.append(describe_figure(shared.first))
            if shared.outcome == "lower" and figure.value >= shared.first.value:
                shared = replace(shared, outcome="within_noise")  # by who faced the release alone
            changes.append((headline, shared))
        check = _find_check(checks, threat, headline.metric)
        cards.append(_build_card(headline.title, figure, value, compared, check))
        exact.append(describe_figure(figure))
        if alone:
            exact.append(f"On one of the two only: {', '.join(map(method_title, alone))}.")
    useful = find_usefulness(view.results, release)
    if useful is not None:
        cards = [*cards[: _MAX_CARDS - 1], _build_usefulness_card(useful)]
        exact += [describe_figure(useful.second), describe_figure(useful.first)]
    sentence = _describe_release(method_name(release), changes)
    return PageSummary(tuple(cards[:_MAX_CARDS]), sentence, tuple(exact))


def summarize_risk(
    view: AuditView, release: str | None = None, policy: Policy | None = None
) -> PageSummary:
    """How many people are exposed on the original and on a release, secret by secret."""
    table = compute_exposed(view.nodes)
    first = ORIGINAL if ORIGINAL in set(table.release) else None
    checks = _list_checks(view, release or ORIGINAL, policy)
    cards, exact, told = [], [], []
    for (threat, target), rows in table.groupby(["threat", "target"], sort=False):
        counts = {row.release: row for row in rows.itertuples()}
        shown = counts.get(release or first or "")
        if shown is None:
            continue
        before = counts.get(first or "")
        of = f" of {target}" if target else ""
        title = f"People exposed: {THREAT_WORDS[str(threat)].attack}{of}"
        count = Count(int(shown.exposed), int(shown.n))
        check = _find_check(checks, str(threat), "advantage_share")
        compared = f"{format_percent(shown.share)} of those at stake"
        if release not in (None, ORIGINAL) and before is not None:
            compared = f"original {Count(int(before.exposed), int(before.n)).format()}"
        state = None if check is None or target else check.state
        detail = f"by {shown.attacks} ({shown.how}); advantage above 0.2"
        cards.append(Card(title, count.format(), compared, state, detail))
        exact.append(f"{title}: {count.format()} on {release_title(shown.release)}.")
        told.append((shown.share, count, str(threat), shown.release))
    sentence = "No node's risk is known yet."
    if told:
        _, count, threat, where = max(told, key=lambda item: item[0])
        on = "the original" if where == ORIGINAL else method_name(where)
        aim = THREAT_WORDS[threat].attack
        verb = "is" if count.value == 1 else "are"
        sentence = f"On {on}, {count.format()} people {verb} exposed to {aim}."
    return PageSummary(tuple(cards[:_MAX_CARDS]), sentence, tuple(exact))


def summarize_homophily(view: AuditView) -> PageSummary:
    """How alike people are to their neighbours and role peers, against what chance gives."""
    cards, exact, clear = [], [], []
    for key, who in (("proximity", "neighbours"), ("role", "role peers")):
        ratio = _find_release_row(view.results, f"ghratio_{key}", ORIGINAL)
        gap = _find_release_row(view.results, f"ghratio_{key}_gap", ORIGINAL)
        if ratio is None or gap is None:
            continue
        figure, excess = build_figure(ratio), build_figure(gap)
        chance = figure.value - excess.value
        texts = format_frequencies(figure.value, chance)
        title, compared = f"{who.capitalize()} with one's own value", f"chance {texts[1]}"
        exact += [describe_figure(figure), describe_figure(excess)]
        if excess.low is not None and excess.high is not None:
            side = 1 if excess.low > 0 else -1 if excess.high < 0 else 0
            clear.append((abs(excess.value), side, who, texts))
            compared += "" if side else ", within noise"
        cards.append(Card(title, texts[0], compared, None, describe_figure(figure)))
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


def summarize_tradeoff(view: AuditView, verdict: Verdict) -> PageSummary:
    """How many releases meet every limit, and what the recommended one keeps useful."""
    defended = verdict.defended
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
    useful = find_usefulness(view.results, best)
    if useful is not None:
        cards.append(_build_usefulness_card(useful))
        exact = [describe_figure(useful.second), describe_figure(useful.first)]
        sentence += _format_usefulness(useful)
    rivals = [r for r in passing if r != best]
    if rivals:
        exact.append(f"Meet every limit as well: {', '.join(map(release_title, rivals))}.")
    return PageSummary(tuple(cards), f"{sentence}.", tuple(exact))


def describe_figure(figure: Figure) -> str:
    """The exact line: measure, value with interval, attack, release, n and splits."""
    by = "" if figure.attack in ("", RELEASE) else f" by {method_title(figure.attack)}"
    sample = f"n = {figure.n:,}, {count_noun(figure.repeats, 'split')}"
    where = release_title(figure.release)
    return f"{metric_title(figure.metric)}: {figure.format_exact()}{by} on {where}; {sample}."


def compare_with_original(
    results: pd.DataFrame, metric: str, threat: Threat, release: str
) -> tuple[Comparison | None, list[str]]:
    """The strongest attack on the original and on a release, over the attackers that both faced;
    and the attackers that one of them alone faced."""
    both = list(dict.fromkeys((ORIGINAL, release)))
    rows = invert_scores(attack_rows(results, metric, threat))
    rows = rows[rows.release.isin(both)]
    faced = rows.groupby("method", sort=False).release.nunique()
    alone = [str(method) for method in faced.index[faced < len(both)]]
    rows = rows[~rows.method.isin(alone)]
    if rows.empty:
        return None, alone
    worst = rows.loc[rows.groupby("release").value.idxmax()].set_index("release", drop=False)
    return compare_results(worst.loc[ORIGINAL], worst.loc[release]), alone


def _list_headlines(results: pd.DataFrame, threat: Threat) -> list[_Headline]:
    """The headline figures of a threat that were computed; else its ranking, if that was."""
    for headlines in (HEADLINES[threat], (_RANKING,)):
        found = [h for h in headlines if not attack_rows(results, h.metric, threat).empty]
        if found:
            return found
    return []


def _find_worst(
    results: pd.DataFrame, metric: str, threat: Threat, release: str
) -> pd.Series | None:
    rows = invert_scores(attack_rows(results, metric, threat))
    rows = rows[rows.release == release]
    return None if rows.empty else rows.loc[rows.value.idxmax()]


def _find_release_row(results: pd.DataFrame, metric: str, release: str) -> pd.Series | None:
    rows = select_results(results, metric, [release], RELEASE)
    return None if rows.empty else rows.iloc[0]


def find_usefulness(results: pd.DataFrame, release: str) -> Comparison | None:
    """The first measure of usefulness that release and original both have."""
    for metric in MAIN_UTILITY_METRICS:
        rows = [_find_release_row(results, metric, r) for r in (ORIGINAL, release)]
        if rows[0] is not None and rows[1] is not None:
            return compare_results(*rows)
    return None


def _list_checks(view: AuditView, release: str, policy: Policy | None) -> tuple[Check, ...]:
    """The limits of the policy on a release; none without either."""
    if policy is None or release not in list_releases(view.results):
        return ()
    return judge_release(view, release, policy).checks


def _find_check(checks: Iterable[Check], threat: str, metric: str) -> Check | None:
    return next((c for c in checks if (c.limit.threat, c.limit.metric) == (threat, metric)), None)


def _build_card(title: str, figure: Figure, value: str, compared: str, check: Check | None) -> Card:
    state = None if check is None else check.state
    return Card(title, value, compared, state, describe_figure(figure))


def _build_limit_card(check: Check) -> Card:
    shown, limit = _format_check(check)
    return Card(check.limit.title, shown, f"limit {limit}", check.state, _describe_check(check))


def _format_check(check: Check) -> tuple[str, str]:
    """What was measured, and the limit."""
    limit = Figure(check.limit.metric, "", check.evidence.attack, check.limit.limit)
    if check.evidence.value is None:
        return "not tested", limit.format()
    return format_both(replace(limit, value=check.evidence.value), limit)


def _describe_check(check: Check) -> str:
    found, limit = check.evidence, check.limit
    state = f"{STATE_TITLES[check.state]}, limit {_format_check(check)[1]}"
    if found.value is None:
        return f"{limit.title}: {state}."
    value = format_row(found)
    by = "" if found.attack in ("", RELEASE) else f" by {method_title(found.attack)}"
    sample = f"; n = {found.n:,}" if found.n else ""
    return f"{limit.title}: {value}{by}; {state}{sample}."


def _build_attack_card(reached: _Reached, check: Check | None) -> Card:
    """The strongest attack beside the best baseline attacker."""
    title, best, found = reached.headline.title, reached.best, reached.baseline
    if found is None:
        alone = is_baseline(best.attack)
        compared = "by a baseline attacker" if alone else "no baseline attacker was run"
        return _build_card(title, best, best.format(), compared, check)
    value, baseline = format_both(best, found.first)
    words = {"lower": "clearly above", "tie": "no difference", "within_noise": "within noise"}
    more = "" if found.outcome == "higher" else f", {words.get(found.outcome, 'not told')}"
    return _build_card(title, best, value, f"baseline {baseline}{more}", check)


def _describe_attack(reached: _Reached) -> str:
    headline, best, baseline = reached.headline, reached.best, reached.baseline
    says = headline.says.format(found=best.format())
    if is_baseline(best.attack):
        return f"A baseline attacker {says}; no other attack has finished."
    if baseline is None:
        return f"An attacker {says}."
    if baseline.first.value > best.value:
        says = headline.says.format(found=baseline.first.format())
        return f"A baseline attacker {says}; no attack does better."
    if baseline.outcome == "higher":
        texts = format_both(best, baseline.first)
        says = headline.says.format(found=texts[0])
        return f"An attacker {says}; a baseline attacker reaches {texts[1]}."
    return f"An attacker {says}, not clearly more than a baseline attacker."


def _describe_release(name: str, changes: list[tuple[_Headline, Comparison]]) -> str:
    """What an attacker finds more of, fewer of, or neither clearly; figures where one is told."""
    if not changes:
        return _UNTESTED
    found: dict[str, list[str]] = {}
    for headline, change in changes:
        found.setdefault(change.outcome, []).append(headline.what)
    more, fewer = (" and ".join(found.pop(side, [])) for side in ("higher", "lower"))
    same = " or ".join(itertools.chain(*found.values()))
    if len(changes) == 1 or _RANKING in dict(changes):
        return _describe_change(name, *changes[0])
    if more:
        return f"With {name}, an attacker finds more {more}{f', fewer {fewer}' * bool(fewer)}."
    if fewer:
        but = f", but not clearly fewer {same}" if same else ""
        return f"With {name}, an attacker finds fewer {fewer}{but}."
    if set(found) == {"not_tested"}:
        return f"Too few splits tell whether {name} lowers the {same} that are found."
    return f"{name} does not clearly change how many {same} an attacker finds."


def _describe_change(name: str, headline: _Headline, found: Comparison) -> str:
    if found.outcome in ("lower", "higher"):
        texts = format_both(found.second, found.first)
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
    value, original = format_both(found.second, found.first)
    compared = f"original {original}{words.get(found.outcome, '')}"
    return _build_card(metric_title(found.second.metric), found.second, value, compared, None)


def _format_usefulness(found: Comparison) -> str:
    metric = metric_title(found.second.metric)
    what = f"its {metric[0].lower()}{metric[1:]}"
    worse = "lower" if is_higher_useful(found.second.metric) else "higher"
    if found.outcome in ("tie", "within_noise"):
        return ", as useful as the original within noise"
    if found.outcome == worse:
        return f", at a cost: {what} is {found.second.format()}"
    return f"; {what} is {found.second.format()}"
