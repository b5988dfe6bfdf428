"""Evidence of an audit on one limit and release, and what was not tested there."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.confidence import compute_level
from core.audit.asked.release_info import ReleaseInfo
from core.audit.asked.scenarios import list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.results.provenance import is_outdated
from core.audit.results.view import AuditView
from core.audit.store.states import NOT_TESTED, State
from core.data.warnings import warn_of_several
from core.defenses.external import EXTERNAL, ONE_RELEASE, list_not_tested
from core.findings.inverted_scores import find_mirrored_ends, invert_scores
from core.findings.policy import Limit, Policy
from core.findings.published_before import list_open_runs
from core.findings.required_attacks import list_lacking
from core.findings.required_knowledge import list_less_known
from core.findings.tables import find_doubles, find_threats, select_results
from core.measures.intervals import LEVEL, share_interval
from core.measures.node_risk import ADVANTAGE_LIMIT
from core.methods import THIS_SIZE, Defense
from core.once import find_once
from core.partitioned.links import ONE_PROCESS
from core.release import ORIGINAL
from core.results import RELEASE
from core.words import count_noun

UNENDED = "The audit did not run to its end; resume it, or audit again with fewer repeats"
OUTDATED = "The figures are of an earlier version of the methods; resume the audit"


@dataclass(frozen=True)
class Evidence:
    """The worst value over all attacks; all None if nothing was measured.

    high    largest upper end over the attacks, of an AUC in either direction; own_high: that of the
            worst attack; is_by_inversion: whether the largest is that of inverted scores
    attack  the one that reached `value`; None for a measure of the release
    n       pairs or nodes counted
    is_unresolved  attacks ran, but on too few pairs or nodes for this measure
    untested  private columns without a figure, where the limit requires one
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    attack: Attack | None = None
    n: int = 0
    own_high: float | None = None
    is_unresolved: bool = False
    is_by_inversion: bool = False
    untested: tuple[str, ...] = ()

    @property
    def shown_high(self) -> float | None:
        """Upper end of the figure's own interval, as it is printed beside it."""
        return self.high if self.own_high is None else self.own_high


TRIAL = (
    "It is a trial of a search, whose figures flatter what is chosen by them: only the "
    "confirmation, on new splits, decides"
)

GUESSED = (
    "It was made by the private values that attackers are assumed to know, and those to come know "
    "others; let the defense use the whole column, or name the people"
)
"""Of a defense that reads the values of people drawn at random."""


def list_asked(spec: AuditSpec) -> set[str]:
    """Threats that the audit covers; "release" always is."""
    asked = {
        "link": spec.threats.has_links,
        "included": spec.attacks_released_links,
        "attribute": spec.threats.private is not None,
        "identity": spec.threats.identity is not None,
    }
    return {"release", *(threat for threat, is_asked in asked.items() if is_asked)}


def find_evidence(view: AuditView, release: str, limit: Limit) -> Evidence:
    """The worst value over all attacks on the release, baseline attackers included."""
    if limit.threat == "release":
        return _find_release_figure(view, release, limit.metric)
    rows = invert_scores(select_results(view.results, limit.metric, [release]))
    rows = rows[find_threats(rows) == limit.threat]
    if limit.methods:
        rows = rows[rows.method.isin(limit.methods)]
    if rows.empty and _is_unresolved(view.results, release, limit):
        return Evidence(is_unresolved=True)
    if rows.empty:
        is_counted = limit.metric == "advantage_share"
        return _count_advantages(view, release, limit) if is_counted else Evidence()
    highest = rows[rows.value == rows.value.max()]
    is_double = highest.method.isin(find_doubles(view.results))  # charts have the other name
    worst = highest.loc[is_double.idxmin()]
    unsure = bool(rows.high.isna().any())
    low = None if pd.isna(worst.low) else float(worst.low)
    high = None if unsure else float(rows.high.max())
    mirrored = None if high is None else float(find_mirrored_ends(rows).max())
    by_inversion = high is not None and mirrored is not None and mirrored > high
    high = mirrored if by_inversion else high
    own = None if pd.isna(worst.high) else float(worst.high)
    return Evidence(
        float(worst.value),
        low,
        high,
        worst.attack,
        int(worst.n),
        own,
        is_by_inversion=by_inversion,
        untested=_list_untested(view.spec, limit, {attack.target for attack in rows.attack}),
    )


def _list_untested(spec: AuditSpec, limit: Limit, measured: set[str]) -> tuple[str, ...]:
    """Private columns on which no attack has a figure; those of the others do not stand for
    theirs."""
    if limit.optional:
        return ()
    asked = dict.fromkeys(
        scenario.target
        for _, _, scenario in list_scenarios(spec)
        if scenario.threat == limit.threat and (not limit.methods or scenario.id in limit.methods)
    )
    return tuple(target or str(spec.threats.private) for target in asked if target not in measured)


def _is_unresolved(results: pd.DataFrame, release: str, limit: Limit) -> bool:
    """Whether an attack finished on too few cases for this measure."""
    rows = results[(results.metric == limit.metric) & (results.release == release)]
    rows = rows[rows.status.isin([State.SKIPPED, NOT_TESTED]) & (rows.n > 0)]
    return bool((find_threats(rows) == limit.threat).any())


def _count_advantages(view: AuditView, release: str, limit: Limit) -> Evidence:
    """Share of the people at stake exposed by the strongest attack, of an audit whose attacks have
    no figure for it; its interval is at the level of the audit's."""
    level = LEVEL if view.spec.confirmation_error is None else compute_level(view.spec)
    found = []
    for (where, attack), risk in view.nodes.parts.items():
        if (where, attack.threat) != (release, limit.threat):
            continue
        if limit.methods and attack.id not in limit.methods:
            continue
        hits = risk.advantage > ADVANTAGE_LIMIT
        low, high = share_interval(int(hits.sum()), len(hits), level)
        found.append(Evidence(float(hits.mean()), low, high, attack, len(hits), high))
    if not found:
        return Evidence()
    worst = max(found, key=lambda evidence: evidence.value or 0.0)
    return replace(worst, high=max(evidence.high or 0.0 for evidence in found))


def _find_release_figure(view: AuditView, release: str, metric: str) -> Evidence:
    name, _, unit = metric.partition("_")
    if name == "epsilon" and unit:
        summary = next((summary for summary in view.releases if summary.id == release), None)
        if summary is None or summary.guarantee.unit != unit:
            return Evidence()
        if summary.guarantee.promises_nothing(view.summary.num_nodes):
            return Evidence()
        spent = summary.guarantee.epsilon_received
        return Evidence() if spent is None else Evidence(spent, spent, spent)
    estimate = view.estimate(release, RELEASE, metric)
    return Evidence(estimate.value, estimate.low, estimate.high, None, estimate.n)


def find_not_made(view: AuditView) -> dict[str, str]:
    """Releases whose defense could not run on this graph, with the reason.

    All rows of such a release were skipped or failed.
    """
    found = {}
    for summary in view.releases:
        rows = view.results[view.results.release == summary.id]
        ended = rows.status.isin([State.SKIPPED, State.FAILED])
        if summary.id != ORIGINAL and len(rows) and ended.all():
            found[summary.id] = str(rows.reason.iloc[0]) or "it could not be made"
    return found


def find_obstacle(view: AuditView, release: str) -> str:
    """Reason why this release cannot be published, or "".

    Sensitive links that an audit draws at random are not withheld in a publishing run.
    """
    choice = next((c for c in view.spec.defenses if c.id == release), None)
    if choice is None or view.spec.threats.sensitive_links:
        return ""
    defense = choice.make("defense")
    if isinstance(defense, Defense) and defense.needs_links:
        return "cannot be published before its sensitive links are named on the Data page"
    return ""


def list_untried(view: AuditView, release: str, policy: Policy) -> list[str]:
    """Tests still missing before a release may be cleared, one sentence each.

    Planned attacks that did not finish, in some repeats or all, or measured nothing, attacks
    required by the policy but not planned, or only with weaker settings, attackers who know too
    little, too few repeats of an attack or of a limit's figure, results of earlier versions,
    earlier releases of the graph, the confirmation of what a search tried, and what cannot be
    tested on a release made elsewhere. Attacks that do not apply to a release are not required;
    those that links in partitions do not allow are.
    """
    asked = list_asked(view.spec)
    made = view.get_release(release)
    planned = _list_planned(view, made)
    rows = _group_rows(view.results).get(release, {})
    judged = view.spec.external_release
    found: list[str] = [] if judged is None else [ONE_RELEASE]
    if view.summary.state.is_active:
        found.append("The audit still runs")
    elif view.summary.state is not State.DONE:  # to stop at a wanted figure is to choose it
        found.append(UNENDED)
    if _is_outdated(view):
        found.append(OUTDATED)
    if view.summary.is_trial:
        found.append(TRIAL)
    if release == EXTERNAL:
        found += list_not_tested(view.spec.external_match)
    if made.defense is not None and made.defense.untried:
        found.append(made.defense.untried)
    if made.defense is not None and made.defense.reads_values and _is_guess(view.spec):
        found.append(GUESSED)
    few: dict[int, list[str]] = {}
    sparse: dict[str, int] = {}
    left: list[str] = []
    failed = _count_failed(view, release)
    for attack in planned:
        known = rows.get(attack.id)
        done = [row for row in known or () if row.status == State.DONE]
        if known is None:
            found.append(f"{attack.title} has no result yet")
        elif not done and not all(row.status == State.SKIPPED for row in known):
            is_empty = any(row.status == NOT_TESTED for row in known)
            what = "measured nothing" if is_empty else "did not finish"
            found.append(f"{attack.title} {what}: {known[0].reason}")
        elif not done and all(row.reason.endswith(ONE_PROCESS) for row in known):
            if attack.method is None or attack.method.info.cost in policy.allowed_costs:
                left.append(attack.title)
        elif done and attack.id in failed:  # what fails need not fail at random
            repeats = count_noun(failed[attack.id], "repeat")
            found.append(f"{attack.title} did not finish in {repeats}; resume the audit")
        elif judged is None and done and max(row.seeds for row in done) < policy.repeats:
            few.setdefault(max(row.seeds for row in done), []).append(attack.title)
        elif judged is None and done:
            for limit in _list_required(policy, attack):
                seeds = [row.seeds for row in done if row.metric == limit.metric]
                if seeds and min(seeds) < policy.repeats:
                    sparse[limit.title] = min(*seeds, sparse.get(limit.title, sys.maxsize))
    for column in view.spec.threats.columns:
        found += warn_of_several(view.load_graph().column(column))
    for splits, titles in few.items():
        who = titles[0] if len(titles) == 1 else f"{len(titles)} attacks"
        found.append(
            f"{who} ran on {count_noun(splits, 'split')}; the policy requires {policy.repeats}"
        )
    for title, splits in sparse.items():
        found.append(
            f"“{title}” was measured on {count_noun(splits, 'split')}; the policy requires "
            f"{policy.repeats}"
        )
    if left:
        count = count_noun(len(left), "required attack")
        found.append(f"{count} did not run, for each {ONE_PROCESS}: {', '.join(left)}")
    found += list_lacking(view, release, policy, asked - {"release"}, planned)
    found += list_less_known(view, policy.attackers, made.defense)
    return found + list_open_runs(view, release, policy)


@find_once
def _is_outdated(view: AuditView) -> bool:
    return is_outdated(view.spec, view.provenance)


def _count_failed(view: AuditView, release: str) -> dict[str, int]:
    """Id of each attack that failed on a release → in how many repeats."""
    cells = view.cells
    is_lost = (cells.kind == "attack") & (cells.release == release) & (cells.state == State.FAILED)
    return dict(cells[is_lost].method.value_counts())


def list_oversized(view: AuditView, release: str) -> list[str]:
    """Titles of the planned attacks that the size of the graph keeps from running.

    None is held against a release, since no large graph could ever be cleared; each is named.
    """
    rows = _group_rows(view.results).get(release, {})
    return [
        attack.title
        for attack in _list_planned(view, view.get_release(release))
        if attack.id in rows
        and all(row.status == State.SKIPPED and THIS_SIZE in row.reason for row in rows[attack.id])
    ]


@find_once
def _group_rows(results: pd.DataFrame) -> dict[str, dict[str, list[Any]]]:
    """Release → id of an attack → its rows, with the columns of the table as attributes."""
    found: dict[str, dict[str, list[Any]]] = {}
    columns = results[["release", "method", "metric", "status", "reason", "seeds"]]
    for row in columns.itertuples(index=False):
        found.setdefault(row.release, {}).setdefault(row.method, []).append(row)
    return found


def _is_guess(spec: AuditSpec) -> bool:
    """Whether a defense read the values that attackers know, of whom nobody is named."""
    threats = spec.threats
    is_drawn = threats.private is not None and threats.known_people is None
    return is_drawn and spec.publisher_knows == "public"


def _list_planned(view: AuditView, made: ReleaseInfo) -> list[Attack]:
    """Attacks on the audited threats, in the forms that have results on a release."""
    asked = list_asked(view.spec)
    forms = (
        view.get_attack(scenario.id).find_form(made)
        for _, _, scenario in list_scenarios(view.spec)
        if scenario.threat in asked
    )
    return list(dict.fromkeys(forms))


def _list_required(policy: Policy, attack: Attack) -> list[Limit]:
    """Limits that need a figure, and that one of this attack counts for."""
    return [
        limit
        for limit in policy.limits
        if limit.threat == attack.threat
        and not limit.optional
        and (not limit.methods or attack.id in limit.methods)
    ]
