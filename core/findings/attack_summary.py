"""Summaries at the top of the Attack and Defend pages: attack strength and effect of a release."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.scenarios import THREAT_TITLES, Threat
from core.audit.results.view import AuditView
from core.findings.beat_baseline import compare_with_baseline
from core.findings.facts import Comparison, Figure, build_figure, compare_results, format_both
from core.findings.inverted_scores import invert_scores
from core.findings.labels import THREAT_WORDS
from core.findings.page_summary import (
    MAX_CARDS,
    Card,
    PageSummary,
    build_card,
    build_usefulness_card,
    describe_figure,
    find_check,
    find_usefulness,
    format_compared,
    list_checks,
)
from core.findings.policy import Policy
from core.findings.tables import attack_rows, compute_worst_attacks
from core.findings.verdict import Check
from core.release import ORIGINAL
from core.words import begin_sentence


@dataclass(frozen=True)
class _Headline:
    """Wording of a threat's figure. `phrase` contains {found} for the natural frequency; `what`
    follows a frequency."""

    metric: str
    title: str
    phrase: str
    what: str

    @property
    def is_ranking(self) -> bool:
        return self.metric == "auc"


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
            "recognises {found} private values while wrongly accusing 1 of 100 others",
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
            "Nodes re-identified",
            "finds {found} nodes behind their pseudonyms",
            "nodes",
        ),
        _Headline(
            "hits_at_1",
            "Nodes re-identified",
            "finds {found} nodes behind their pseudonyms",
            "nodes",
        ),
    ),
}
"""In order of preference; `_RANKING` if none was computed."""

_RANKING = _Headline(
    "auc", "Attack AUC", "ranks secrets above the rest with an AUC of {found}", "AUC"
)


def find_headline(threat: Threat, metric: str) -> _Headline:
    """Wording of a threat's metric; that of a ranking for any other metric."""
    return next((found for found in HEADLINES[threat] if found.metric == metric), _RANKING)


_UNTESTED = "No attack has finished yet."


@dataclass(frozen=True)
class _Reached:
    """A headline figure on one release, the best baseline, and the severity against its limits
    (0 without limits)."""

    headline: _Headline
    best: Figure
    baseline: Comparison | None
    severity: float

    @property
    def is_clear(self) -> bool:
        """Whether noise does not explain the difference to the baseline, as far as is known, or a
        baseline attacker reached it."""
        if self.baseline is None or self.baseline.first.value > self.best.value:
            return True
        return self.baseline.outcome in ("higher", "not_tested")

    @property
    def is_by_baseline(self) -> bool:
        """Whether a baseline attacker reached the figure, as no other attack was run."""
        return self.best.attack is not None and self.best.attack.is_baseline

    @property
    def excess(self) -> float:
        """Difference to the baseline, or the figure itself if no baseline was run."""
        if self.is_by_baseline:
            return 0.0
        return self.best.value - (0.0 if self.baseline is None else self.baseline.first.value)


def summarize_attacks(
    view: AuditView, release: str = ORIGINAL, policy: Policy | None = None
) -> PageSummary:
    """The strongest attack on each secret of a release, beside the best baseline attacker.

    The sentence reports the worst threat whose figure noise does not explain: the most severe
    against its limits or, if the policy has none, the one furthest above its baseline attackers.
    """
    checks = list_checks(view, release, policy)
    cards, reached, exact = [], [], []
    for threat in THREAT_TITLES:
        found = _find_reached(view.results, threat, release, checks)
        if found is None:
            continue
        reached.append(found)
        check = find_check(checks, threat, found.headline.metric)
        cards.append(_build_attack_card(found, check))
        exact.append(describe_figure(found.best))
        if found.baseline is not None:
            exact.append(describe_figure(found.baseline.first))
    worst = max(reached, key=lambda r: (r.is_clear, r.severity, r.excess), default=None)
    sentence = _UNTESTED if worst is None else _describe_attack(worst)
    return PageSummary(tuple(cards[:MAX_CARDS]), sentence, tuple(exact))


def _find_reached(
    results: pd.DataFrame, threat: Threat, release: str, checks: Iterable[Check]
) -> _Reached | None:
    """The headline figure of a threat that is furthest above its baseline attackers."""
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
    """Change of risk against the original, over attackers run on both, and usefulness kept."""
    checks = list_checks(view, release, policy)
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
            if shared.outcome == "lower" and figure.value >= shared.first.value:
                shared = replace(shared, outcome="within_noise")  # by who faced the release alone
            value, compared = format_compared(figure, shared)
            exact.append(describe_figure(shared.first))
            changes.append((headline, shared))
        check = find_check(checks, threat, headline.metric)
        cards.append(build_card(headline.title, figure, value, compared, check))
        exact.append(describe_figure(figure))
        if alone:
            exact.append(f"On one of the two only: {', '.join(attack.title for attack in alone)}.")
    useful = find_usefulness(view.results, release)
    if useful is not None:
        cards = [*cards[: MAX_CARDS - 1], build_usefulness_card(useful)]
        exact += [describe_figure(useful.second), describe_figure(useful.first)]
    sentence = begin_sentence(_describe_release(view.get_release(release).name, changes))
    return PageSummary(tuple(cards[:MAX_CARDS]), sentence, tuple(exact))


def compare_with_original(
    results: pd.DataFrame, metric: str, threat: Threat, release: str
) -> tuple[Comparison | None, list[Attack]]:
    """Strongest attack on the original against that on a release, over attackers run on both;
    and the attackers that were run on one of them only."""
    both = list(dict.fromkeys((ORIGINAL, release)))
    rows = invert_scores(attack_rows(results, metric, threat))
    rows = rows[rows.release.isin(both)]
    faced = rows.groupby("method", sort=False).release.nunique()
    is_alone = rows.method.isin(faced.index[faced < len(both)])
    alone = list(dict.fromkeys(rows[is_alone].attack))
    rows = rows[~is_alone]
    if rows.empty:
        return None, alone
    worst = rows.loc[rows.groupby("release").value.idxmax()].set_index("release", drop=False)
    return compare_results(worst.loc[ORIGINAL], worst.loc[release]), alone


def _list_headlines(results: pd.DataFrame, threat: Threat) -> list[_Headline]:
    """Headline figures of a threat that were computed, else its ranking if that was."""
    ranking = replace(_RANKING, title=f"{THREAT_WORDS[threat].title} (AUC)")
    for headlines in (HEADLINES[threat], (ranking,)):
        found = [h for h in headlines if not attack_rows(results, h.metric, threat).empty]
        if found:
            return found
    return []


def _find_worst(
    results: pd.DataFrame, metric: str, threat: Threat, release: str
) -> pd.Series | None:
    worst = compute_worst_attacks(results, metric, threat).set_index("release", drop=False)
    return worst.loc[release] if release in worst.index else None


def _build_attack_card(reached: _Reached, check: Check | None) -> Card:
    """Card of the strongest attack beside the best baseline attacker."""
    title, best, found = reached.headline.title, reached.best, reached.baseline
    if found is None:
        alone = reached.is_by_baseline
        compared = "by a baseline attacker" if alone else "no baseline attacker was run"
        return build_card(title, best, best.format(), compared, check)
    value, baseline = format_both(best, found.first)
    words = {"lower": "clearly above", "tie": "no difference", "within_noise": "within noise"}
    more = "" if found.outcome == "higher" else f", {words.get(found.outcome, 'not shown')}"
    return build_card(title, best, value, f"baseline {baseline}{more}", check)


def _describe_attack(reached: _Reached) -> str:
    headline, best, baseline = reached.headline, reached.best, reached.baseline
    phrase = headline.phrase.format(found=best.format())
    if reached.is_by_baseline:
        return f"A baseline attacker {phrase}; no other attack has finished."
    if baseline is None:
        return f"An attacker {phrase}."
    if baseline.first.value > best.value:
        phrase = headline.phrase.format(found=baseline.first.format())
        return f"A baseline attacker {phrase}; no attack does better."
    if baseline.outcome == "higher":
        texts = format_both(best, baseline.first)
        phrase = headline.phrase.format(found=texts[0])
        return f"An attacker {phrase}; a baseline attacker reaches {texts[1]}."
    return f"An attacker {phrase}, not clearly more than a baseline attacker."


def _describe_release(name: str, changes: list[tuple[_Headline, Comparison]]) -> str:
    """Sentence on which figures rise, fall or do not clearly change; with numbers for one
    change."""
    if not changes:
        return _UNTESTED
    found: dict[str, list[str]] = {}
    for headline, change in changes:
        found.setdefault(change.outcome, []).append(headline.what)
    more, fewer = (" and ".join(found.pop(side, [])) for side in ("higher", "lower"))
    same = " or ".join(itertools.chain(*found.values()))
    # The AUC does not join with counts: then the worst figure alone is named.
    if len(changes) == 1 or any(headline.is_ranking for headline, _ in changes):
        order = {"higher": 0, "lower": 2}
        return _describe_change(name, *min(changes, key=lambda c: order.get(c[1].outcome, 1)))
    if more:
        less = f", fewer {fewer}" if fewer else ""
        return f"With {name}, an attacker finds more {more}{less}."
    if fewer:
        but = f", but not clearly fewer {same}" if same else ""
        return f"With {name}, an attacker finds fewer {fewer}{but}."
    if set(found) == {"not_tested"}:
        return f"Too few splits to decide whether {name} lowers the {same} that are found."
    return f"{name} does not clearly change how many {same} an attacker finds."


def _describe_change(name: str, headline: _Headline, found: Comparison) -> str:
    if found.outcome in ("lower", "higher"):
        texts = format_both(found.second, found.first)
        if texts[0] != texts[1]:
            return (
                f"With {name}, an attacker reaches {texts[0]} {headline.what}, "
                f"against {texts[1]} on the original."
            )
    reached, is_ranking = f"the {headline.what} that an attacker reaches", headline.is_ranking
    if found.outcome == "not_tested":
        what = reached if is_ranking else f"the {headline.what} that are found"
        return f"Too few splits to decide whether {name} lowers {what}."
    what = reached if is_ranking else f"how many {headline.what} an attacker finds"
    return f"{name} does not clearly change {what}."
