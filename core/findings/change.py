"""What a release changes of the risk: the worst case over all attackers, against the original's.

The figures of original and release are compared over the attackers that ran on both; one that can
learn nothing of how a release was made counts there in its standard form.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo, list_phrases
from core.audit.asked.scenarios import THREAT_TITLES, Threat
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.findings.differences import compare_rows
from core.findings.facts import (
    Comparison,
    Figure,
    Outcome,
    build_figure,
    compare_results,
    format_both,
)
from core.findings.inverted_scores import (
    INVERTIBLE,
    describe_inverted,
    describe_strength,
    format_strength,
    invert_scores,
)
from core.findings.labels import THREAT_WORDS, describe_attacker
from core.findings.numbers import format_estimate
from core.findings.page_summary import (
    MAX_CARDS,
    PageSummary,
    build_card,
    build_usefulness_card,
    describe_figure,
    find_check,
    format_compared,
    list_checks,
)
from core.findings.policy import Policy
from core.findings.strongest import MEASURES, UNTESTED, Measure, choose_measure, find_measure
from core.findings.tables import attack_rows, compute_worst_attacks, list_made, main_metric
from core.findings.usefulness import find_usefulness
from core.release import ORIGINAL
from core.words import begin_sentence, join_words


@dataclass(frozen=True)
class Change:
    """The worst case of a threat on a release, and over attackers that ran on the original too.

    worst   over all attackers, baseline attackers included
    shared  original and release over the attackers of both; None without any
    alone   attackers that ran on one of the two only
    """

    measure: Measure
    made: ReleaseInfo
    worst: Figure
    shared: Comparison | None
    alone: tuple[Attack, ...]

    @property
    def outcome(self) -> Outcome:
        """Whether the release lowers the risk; not by who met the release alone."""
        if self.shared is None:
            return "not_tested"
        outcome, before = self.shared.outcome, self.shared.first
        is_worse_alone = outcome == "lower" and self.worst.value >= before.value
        return "within_noise" if is_worse_alone else outcome


def find_change(
    results: pd.DataFrame, threat: Threat, release: str, metric: str | None = None
) -> Change | None:
    """Change of a threat by a release; None if no attack has finished on it.

    metric  None: that of `choose_measure`
    """
    measure = choose_measure(results, threat) if metric is None else find_measure(threat, metric)
    if measure is None:
        return None
    rows = invert_scores(attack_rows(results, measure.metric, threat))
    sides = {where: rows[rows.release == where] for where in (ORIGINAL, release)}
    if sides[release].empty:
        return None
    made = {where: own.made.iloc[0] for where, own in sides.items() if len(own)}
    everyone = dict.fromkeys(itertools.chain(*(own.attack for own in sides.values())))
    forms = {a: {where: a.find_form(made[where]) for where in made} for a in everyone}
    ran = {where: set(own.attack) for where, own in sides.items()}
    shared = [a for a in everyone if all(forms[a].get(where) in ran[where] for where in sides)]
    compared = None
    if shared:
        worst = {
            where: _find_worst(own[own.attack.isin([forms[a][where] for a in shared])])
            for where, own in sides.items()
        }
        compared = compare_results(worst[ORIGINAL], worst[release])
    alone = tuple(attack for attack in everyone if attack not in shared)
    return Change(measure, made[release], _find_worst(sides[release]), compared, alone)


def _find_worst(rows: pd.DataFrame) -> Figure:
    return build_figure(rows.loc[rows.value.idxmax()])


def find_rise(results: pd.DataFrame, threat: Threat, release: str) -> Change | None:
    """A change that clearly raises the risk by another measure than that of `find_change`, which
    does not show it; None without any. Those of a headline come first, then the ranking."""
    metrics = [measure.metric for measure in MEASURES[threat]]
    metrics += filter(None, [main_metric(results, threat)])
    found = (find_change(results, threat, release, metric) for metric in dict.fromkeys(metrics))
    return next((one for one in found if one is not None and one.outcome == "higher"), None)


def summarize_release(view: AuditView, release: str, policy: Policy | None = None) -> PageSummary:
    """Change of risk against the original, over attackers run on both, and usefulness kept.

    The words follow what is worst by any measure: a risk that clearly rises by one is told by it.
    """
    checks = list_checks(view, release, policy)
    found = {threat: find_change(view.results, threat, release) for threat in THREAT_TITLES}
    cards, exact, changes = [], [], []
    for threat, change in found.items():
        if change is None:
            continue
        worst, shared = change.worst, change.shared
        value, compared = worst.format(), "not compared with the original"
        rise = None if change.outcome == "higher" else find_rise(view.results, threat, release)
        if shared is not None:
            value, compared = format_compared(worst, shared.first, change.outcome)
            exact.append(describe_figure(shared.first))
        if rise is not None and rise.shared is not None:
            exact += [describe_figure(rise.shared.first), describe_figure(rise.worst)]
        if shared is not None or rise is not None:
            changes.append(rise or change)
        check = find_check(checks, threat, worst.metric)
        cards.append(build_card(change.measure.title, worst, value, compared, check))
        exact.append(cards[-1].detail)
        if change.alone:
            titles = ", ".join(attack.title for attack in change.alone)
            exact.append(f"On one of the two only: {titles}.")
    useful = find_usefulness(view.results, release)
    if useful is not None:
        cards = [*cards[: MAX_CARDS - 1], build_usefulness_card(useful)]
        exact += [describe_figure(useful.second), describe_figure(useful.first)]
    made = view.get_release(release)
    names = list_phrases([made, *(summary.info for summary in view.releases)])
    sentence = begin_sentence(_describe_changes(names[made.id], changes))
    return PageSummary(tuple(cards[:MAX_CARDS]), sentence, tuple(exact))


def answer_defense(results: pd.DataFrame, threat: Threat) -> str:
    """The release that lowers the worst case most, with exact figures; then by the AUC if another
    measure came first. The two need not be the same release."""
    measure = choose_measure(results, threat)
    first = None if measure is None else measure.metric
    sentences: list[str] = []
    for metric in filter(None, dict.fromkeys((first, main_metric(results, threat)))):
        tried = _list_tried(results, threat, metric)
        found = [find_change(results, threat, release, metric) for release in tried]
        changes = [change for change in found if change is not None and change.shared is not None]
        if changes:
            start = "Overall, the" if sentences else f"{THREAT_WORDS[threat].title}: the"
            lowest = min(changes, key=lambda change: change.worst.value)
            sentences += [f"{start} strongest attack {_describe_lowest(lowest)}"]
        if changes and metric in INVERTIBLE:
            sentences += [describe_inverted(compute_worst_attacks(results, metric, threat))]
    return " ".join(filter(None, sentences))


def _list_tried(results: pd.DataFrame, threat: Threat, metric: str) -> list[str]:
    """Defended releases on which the original's strongest attack ran, or on which it cannot run."""
    rows = invert_scores(attack_rows(results, metric, threat))
    rows = rows[rows.release == ORIGINAL]
    ended = results.status.isin([State.DONE, State.SKIPPED])
    strongest = None if rows.empty else _find_worst(rows).attack
    tried = set(results[ended & (results.attack == strongest)].release)
    return [r for r, made in list_made(results).items() if made.is_defended and r in tried]


def _describe_lowest(change: Change) -> str:
    """ "finds 0.43 … on the original. With X it falls to 0.05 by Y."."""
    assert change.shared is not None
    before, best = change.shared.first, change.worst
    verb = "rises to" if change.outcome == "higher" else "does not fall:"
    text = f"{verb} {format_strength(best)}"
    if best.value < before.value:
        verb = "falls to" if change.outcome == "lower" else "is not clearly lower:"
        text = f"{verb} {format_strength(best)}{describe_attacker(best.attack)}"
        paired = compare_rows(before, best)
        if paired is not None and not (before.told or best.told):
            text += f", a change of {format_estimate(paired)} on the same splits"
    strength = describe_strength(before.metric, format_strength(before))
    return f"{strength} on the original. With {change.made.title} it {text}."


def _describe_changes(name: str, changes: list[Change]) -> str:
    """Sentence on which figures rise, fall or do not clearly change; with numbers for one
    change."""
    if not changes:
        return UNTESTED
    found: dict[str, list[str]] = {}
    for change in changes:
        found.setdefault(change.outcome, []).append(change.measure.what)
    more, fewer = (join_words(found.pop(side, [])) for side in ("higher", "lower"))
    same = join_words([*itertools.chain(*found.values())], "or")
    # The AUC does not join with counts: then the worst figure alone is named.
    if len(changes) == 1 or any(change.measure.is_ranking for change in changes):
        order = {"higher": 0, "lower": 2}
        return _describe_change(name, min(changes, key=lambda change: order.get(change.outcome, 1)))
    if more:
        less = f", fewer {fewer}" if fewer else ""
        return f"With {name}, an attacker finds more {more}{less}."
    if fewer:
        but = f", but not clearly fewer {same}" if same else ""
        return f"With {name}, an attacker finds fewer {fewer}{but}."
    if set(found) == {"not_tested"}:
        return f"Too few splits to decide whether {name} lowers the {same} that are found."
    return f"{name} does not clearly change how many {same} an attacker finds."


def _describe_change(name: str, change: Change) -> str:
    found, measure = change.shared, change.measure
    if found is not None and change.outcome in ("lower", "higher"):
        texts = format_both(found.second, found.first)
        if texts[0] != texts[1]:
            return (
                f"With {name}, an attacker reaches {texts[0]} {measure.what}, "
                f"against {texts[1]} on the original."
            )
    reached, is_ranking = f"the {measure.what} that an attacker reaches", measure.is_ranking
    if change.outcome == "not_tested":
        what = reached if is_ranking else f"the {measure.what} that are found"
        return f"Too few splits to decide whether {name} lowers {what}."
    what = reached if is_ranking else f"how many {measure.what} an attacker finds"
    return f"{name} does not clearly change {what}."
