"""The strongest attack on each kind of secret, beside the best baseline attacker.

Which attack and which measure are chosen here, once for page, PDF and command. Attacks of equal AUC
can differ tenfold at low FPR (Carlini et al., IEEE S&P 2022), so the AUC alone decides only where
nothing else was measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.knowledge import Joint
from core.audit.asked.release_info import ReleaseInfo
from core.audit.asked.scenarios import THREAT_TITLES, Threat
from core.audit.results.view import AuditView
from core.findings.differences import estimate_difference, is_clear
from core.findings.facts import Comparison, Figure, build_figure, compare_results, format_both
from core.findings.inverted_scores import (
    describe_inverted,
    describe_strength,
    explain_inverted,
    format_strength,
    invert_scores,
)
from core.findings.labels import LOW_FPR, THREAT_WORDS, metric_title
from core.findings.link_prior import describe_accused
from core.findings.numbers import format_estimate, format_row
from core.findings.page_summary import MAX_CARDS, PageSummary, describe_figure, list_checks
from core.findings.policy import Policy
from core.findings.tables import attack_rows, main_metric
from core.findings.threat_cards import build_threat_card
from core.findings.verdict import Check
from core.once import find_once
from core.release import ORIGINAL

UNTESTED = "No attack has finished yet."


@dataclass(frozen=True)
class Measure:
    """A metric in which a threat is told. `phrase` contains {found} for the natural frequency;
    `what` follows a frequency."""

    metric: str
    title: str
    phrase: str
    what: str

    @property
    def is_ranking(self) -> bool:
        return self.metric in RANKINGS


RANKINGS = ("auc", "released_auc")

MEASURES: dict[Threat, tuple[Measure, ...]] = {
    "link": (
        Measure(
            LOW_FPR,
            "Withheld links found",
            "finds {found} withheld links while accusing 1 of 100 unconnected pairs",
            "withheld links",
        ),
    ),
    "included": (
        Measure(
            "recovered_at_precision_0.9",
            "Released links recovered",
            "names {found} real links while erring in 1 of 10",
            "real links",
        ),
    ),
    "attribute": (
        Measure(
            LOW_FPR,
            "Private values recognised",
            "recognises {found} private values while wrongly accusing 1 of 100 others",
            "private values",
        ),
        Measure(
            "accuracy",
            "Private values guessed",
            "guesses {found} private values right",
            "private values",
        ),
    ),
    "identity": tuple(
        Measure(
            metric, "Nodes re-identified", "finds {found} nodes behind their pseudonyms", "nodes"
        )
        for metric in ("expected_found", "hits_at_1")
    ),
}
"""In order of preference; a ranking if none was computed."""


def find_measure(threat: Threat, metric: str) -> Measure:
    """Wording of a threat's metric."""
    known = next((found for found in MEASURES[threat] if found.metric == metric), None)
    if known is not None:
        return known
    name, phrase = metric_title(metric), f"reaches {metric_title(metric)} {{found}}"
    what = name
    if metric in RANKINGS:
        name, phrase = "AUC", "ranks secrets above the rest with an AUC of {found}"
        what = f"AUC on {THREAT_WORDS[threat].exposed_on}"
    return Measure(metric, f"{THREAT_WORDS[threat].title} ({name})", phrase, what)


@find_once
def choose_measure(results: pd.DataFrame, threat: Threat) -> Measure | None:
    """The measure of a threat on all releases: of those computed, the one by which an attack is
    furthest above its baseline attackers on the original; else its ranking."""
    measures = [m for m in MEASURES[threat] if not attack_rows(results, m.metric, threat).empty]
    if not measures:
        ranking = main_metric(results, threat)
        return None if ranking is None else find_measure(threat, ranking)
    if len(measures) == 1:
        return measures[0]
    found = [find_strongest(results, threat, ORIGINAL, measure.metric) for measure in measures]
    excess = [float("-inf") if one is None else one.excess for one in found]
    return measures[excess.index(max(excess))]


@dataclass(frozen=True)
class Strongest:
    """The strongest attack on a kind of secret of one release, and the best baseline attacker.

    best      a baseline attacker's figure if no other attack has finished
    baseline  None if no other baseline attacker was run
    second    the second best attack, or None
    """

    threat: Threat
    best: Figure
    baseline: Figure | None = None
    second: Figure | None = None

    @property
    def metric(self) -> str:
        return self.best.metric

    @property
    def made(self) -> ReleaseInfo:
        """The release attacked."""
        assert self.best.made is not None
        return self.best.made

    @property
    def attack(self) -> Attack:
        """Who reached it."""
        assert self.best.attack is not None
        return self.best.attack

    @property
    def is_by_baseline(self) -> bool:
        """Whether a baseline attacker reached the figure, as no other attack was run."""
        return self.attack.is_baseline

    @property
    def reached(self) -> float:
        """The larger of both figures."""
        return self.best.value if self.baseline is None or self.gap >= 0 else self.baseline.value

    @property
    def gap(self) -> float:
        """Difference between the best attack and the baseline; NaN without one."""
        return float("nan") if self.baseline is None else self.best.value - self.baseline.value

    @property
    def excess(self) -> float:
        """`gap`, or the figure itself if no baseline was run."""
        if self.is_by_baseline:
            return 0.0
        return self.best.value if self.baseline is None else self.gap

    @property
    def beats(self) -> bool:
        """Whether the difference exceeds the noise of both."""
        return self.baseline is not None and self.gap > 0 and is_clear(self.best, self.baseline)

    @property
    def compared(self) -> Comparison | None:
        """The best attack against the baseline."""
        return None if self.baseline is None else compare_results(self.baseline, self.best)


def find_strongest(
    results: pd.DataFrame,
    threat: Threat,
    release: str,
    metric: str | None = None,
    attacks: Collection[str] | None = None,
) -> Strongest | None:
    """The strongest attack on a release; None if none has finished.

    With several secrets or several kinds of knowledge, attacks are compared with the baselines of
    their own kind, and the one furthest above them is the strongest.

    metric   None: that of `choose_measure`
    attacks  ids of those compared; None: all
    """
    measure = choose_measure(results, threat) if metric is None else None
    metric = metric if measure is None else measure.metric
    found = list_strongest(results, threat, release, metric, attacks)
    real = [one for one in found if not one.is_by_baseline]
    compared = [one for one in real if one.baseline is not None]
    if compared:
        return max(compared, key=lambda one: one.gap)
    return max(real or found, key=lambda one: one.best.value, default=None)


def list_strongest(
    results: pd.DataFrame,
    threat: Threat,
    release: str,
    metric: str | None,
    attacks: Collection[str] | None = None,
) -> list[Strongest]:
    """The strongest attack on each secret and with each kind of knowledge; empty if none has
    finished."""
    by_stake: dict[tuple[str, str], list[Any]] = {}
    for row in _list_rows(results, threat, release, metric or ""):
        if attacks is None or row.method in attacks:
            by_stake.setdefault(_find_stake(row.attack), []).append(row)
    return [_choose(threat, rows) for rows in by_stake.values()]


@find_once
def _list_rows(results: pd.DataFrame, threat: Threat, release: str, metric: str) -> list[Any]:
    rows = attack_rows(results, metric, threat)
    return list(invert_scores(rows[rows.release == release]).itertuples())


def _choose(threat: Threat, rows: Iterable[Any]) -> Strongest:
    rows = sorted(rows, key=lambda row: -row.value)
    real, baselines = (
        [build_figure(row) for row in rows if row.is_baseline == of][:2] for of in (False, True)
    )
    if not real:
        return Strongest(threat, baselines[0])
    return Strongest(threat, real[0], next(iter(baselines), None), next(iter(real[1:]), None))


def _find_stake(attack: Attack) -> tuple[str, str]:
    """The private column that an attack targets, and its knowledge of the other columns."""
    known = attack.knowledge
    return attack.target, known.text if isinstance(known, Joint) else ""


def answer_attack(results: pd.DataFrame, threat: Threat) -> str:
    """Whether the strongest attack on the original beats the best baseline attacker, with exact
    figures; then by the AUC if another measure came first."""
    found = find_strongest(results, threat, ORIGINAL)
    if found is None or found.is_by_baseline:
        return f"No attack that could {THREAT_WORDS[threat].aim} has finished yet."
    ranked = find_strongest(results, threat, ORIGINAL, main_metric(results, threat))
    text = f"{_describe_best(found)}{_explain_gap(found)}"
    if ranked is None or ranked.metric == found.metric:
        return text
    return f"{text} Overall, {_describe_best(ranked, alone=True)}{_explain_gap(ranked)}"


def _describe_best(found: Strongest, alone: bool = False) -> str:
    """alone: without the second best attack."""
    best, second = found.best, found.second
    if best.is_inverted:
        text = f"{found.attack.title} reaches {explain_inverted(best)}"
    else:
        text = f"{found.attack.title} {describe_strength(best.metric, format_row(best))}"
    if alone or second is None or second.attack is None or is_clear(best, second):
        return text
    return f"{text}, within noise of {second.attack.title}"


def _explain_gap(found: Strongest) -> str:
    baseline = found.baseline
    if baseline is None or baseline.attack is None:
        return ". No baseline attacker was run."
    other = f"the best baseline attacker, {baseline.attack.title} at {format_strength(baseline)}"
    if found.gap <= 0:
        return f". It did not beat {other}."
    if found.beats and (found.best.told or baseline.told):
        return f". That is clearly above {other}."  # the difference would tell the figure
    if found.beats:
        gap = format_estimate(estimate_difference(baseline, found.best))
        return f". That is {gap} above {other}."
    return f". It is not clearly above {other}."


def describe_strongest(found: Strongest) -> str:
    """The same in one sentence for a headline, without intervals."""
    measure, best, compared = find_measure(found.threat, found.metric), found.best, found.compared
    phrase = measure.phrase.format(found=best.format())
    if found.is_by_baseline:
        return f"A baseline attacker {phrase}; no other attack has finished."
    if compared is None:
        return f"An attacker {phrase}."
    if compared.first.value > best.value:
        phrase = measure.phrase.format(found=compared.first.format())
        return f"A baseline attacker {phrase}; no attack does better."
    if compared.outcome == "higher":
        texts = format_both(best, compared.first)
        phrase = measure.phrase.format(found=texts[0])
        return f"An attacker {phrase}; a baseline attacker reaches {texts[1]}."
    return f"An attacker {phrase}, not clearly more than a baseline attacker."


def describe_false_alarms(view: AuditView, release: str = ORIGINAL) -> str:
    """The odds of the strongest attack on withheld links at a low FPR; "" without such a figure."""
    found = find_strongest(view.results, "link", release)
    if found is None or found.metric != LOW_FPR:
        return ""
    return describe_accused(view, found.reached)


def summarize_attacks(
    view: AuditView, release: str = ORIGINAL, policy: Policy | None = None
) -> PageSummary:
    """The strongest attack on each secret of a release, beside the best baseline attacker.

    The sentence reports the worst threat whose figure noise does not explain: the most severe
    against its limits or, if the policy has none, the one furthest above its baseline attackers.
    """
    checks = list_checks(view, release, policy)
    found = [find_strongest(view.results, threat, release) for threat in THREAT_TITLES]
    reached = [one for one in found if one is not None]
    exact = [
        describe_figure(figure)
        for one in reached
        for figure in (one.best, one.baseline)
        if figure is not None
    ]
    worst = max(reached, key=lambda one: _rank(one, checks), default=None)
    sentence = UNTESTED if worst is None else describe_strongest(worst)
    cards = [
        build_threat_card(view, one.threat, title, one.best, one.compared, checks)
        for one in reached
        for title in [find_measure(one.threat, one.metric).title]
    ]
    odds = describe_false_alarms(view, release)
    return PageSummary(tuple(cards[:MAX_CARDS]), sentence, tuple(exact), odds)


def _rank(found: Strongest, checks: Iterable[Check]) -> tuple[bool, float, float]:
    """Whether noise does not explain the figure, as far as is known, or a baseline attacker reached
    it; the severity against its limits; the excess over the baseline."""
    compared = found.compared
    is_told = compared is None or compared.outcome in ("higher", "not_tested") or found.gap < 0
    severity = max((c.severity for c in checks if c.limit.threat == found.threat), default=0.0)
    return is_told, severity, found.excess


def answer_inverted(results: pd.DataFrame, releases: Sequence[str]) -> str:
    """Attacks clearly below chance on these releases, and why this is no protection."""
    rows = attack_rows(results, "auc")
    return describe_inverted(invert_scores(rows[rows.release.isin(list(releases))]))
