"""What came of a search: search.json, and its sentences for command and page."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from core.audit.asked.release_info import ReleaseInfo
from core.data.release_columns import Rule
from core.findings.evidence import list_asked
from core.findings.guide import describe_answers, read_answers
from core.findings.kept import USEFUL
from core.findings.labels import THREAT_WORDS
from core.findings.numbers import format_limited
from core.findings.policy import Policy, list_policies
from core.findings.recipient import explain_lax_policy
from core.findings.verdict import Check
from core.findings.verdict_words import explain_check
from core.release import ORIGINAL
from core.search.measured import Measured
from core.search.run import MAX_REPEATS, SearchProgress, SearchRequest, share_error
from core.search.strategy import EXCEEDS, Candidate, Search, Stage
from core.words import begin_sentence, count_noun, format_error, format_percent

SCHEMA = 1
"""Raised when a reader of earlier files could fail."""

STATES = {
    "confirmed": "A release may leave",
    "none_passes": "No release passes",
    "undecided": "Not decided",
}
ORDER: tuple[Stage, ...] = ("screening", "race", "confirmation")


def describe_outcome(progress: SearchProgress) -> dict[str, Any]:
    """Contents of search.json; its schema: assets/schemas/search.json."""
    search, best = progress.search, find_recommended(progress)
    binding = find_binding(progress)
    verdicts = [m for (stage, _), m in search.measured.items() if stage == "confirmation"]
    return {
        "schema": SCHEMA,
        "state": search.state,
        "recommended": None if best is None else best.made.id,
        "confirmed": {one.made.id: _describe_verdict(one) for one in verdicts},
        "candidates": [
            _describe_candidate(one, stage, progress) for stage, one in _list_last(search)
        ],
        "ladders": [_describe_ladder(one) for one in search.candidates],
        "binding": None if binding is None else {"release": binding[0].id, **binding[1].describe()},
        "nearest": {name: made.id for name, made in find_nearest(progress).items()},
        "recipients": find_recipients(progress),
        "policy": progress.request.policy.key,
        "useful": progress.request.useful,
        "search": progress.request.id,
        "number": progress.number,
        "error": sum(map(share_error, progress.confirmations)),
        "audits": progress.audits,
        "cpu_seconds": round(progress.cpu_seconds, 1),
        "stopped": progress.stopped,
    }


def find_recommended(progress: SearchProgress) -> Measured | None:
    """The most useful release whose verdict on new splits is to publish."""
    return next(iter(progress.search.list_confirmed()), None)


def find_binding(progress: SearchProgress) -> tuple[ReleaseInfo, Check] | None:
    """The release that keeps enough and comes nearest to passing, with the limit that it comes
    nearest to or exceeds most; None if nothing was measured."""
    known = [one for _, one in _list_last(progress.search) if one.binding is not None]
    enough = [one for one in known if one.keeps(progress.request.useful)] or known
    best = min(enough, key=_get_severity, default=None)
    return None if best is None or best.binding is None else (best.made, best.binding)


def find_nearest(progress: SearchProgress) -> dict[str, ReleaseInfo]:
    """Limit → the release with its smallest figure, of those that keep enough."""
    found: dict[str, tuple[float, ReleaseInfo]] = {}
    for _, one in _list_last(progress.search):
        if not one.keeps(progress.request.useful):
            continue
        for check in one.tested:
            severity, name = check.severity, check.limit.name
            if name not in found or severity < found[name][0]:
                found[name] = severity, one.made
    return {name: made for name, (_, made) in found.items()}


def find_recipients(progress: SearchProgress) -> dict[str, str | None]:
    """Shipped policy → a release whose figures of this search are within its limits, the most
    useful one, or None. Not a verdict: its attacks may not have run."""
    found: dict[str, str | None] = {}
    asked = list_asked(progress.request.spec)
    for policy in list_policies():
        within = [
            one
            for _, one in _list_last(progress.search)
            if one.keeps(progress.request.useful) and _is_within(one, policy, asked)
        ]
        best = max(within, key=lambda one: one.score, default=None)
        found[policy.key] = None if best is None else best.made.id
    return found


def _is_within(one: Measured, policy: Policy, asked: set[str]) -> bool:
    """Whether each limit on an audited threat has a figure within it; an optional one may have
    none. A figure of some attacks alone tells nothing of the others."""
    worst: dict[tuple[str, str], float] = {}
    for check in one.tested:
        limit, value = check.limit, check.evidence.value
        if value is not None and not limit.methods:
            worst[limit.threat, limit.metric] = value
    for limit in policy.limits:
        missing = 0.0 if limit.optional else math.inf
        value = worst.get((limit.threat, limit.metric), missing)
        if limit.threat in asked and value > limit.limit:
            return False
    return bool(worst)


def describe_headline(progress: SearchProgress) -> str:
    """One sentence: what may leave and what it keeps, or what stands in the way."""
    search, best = progress.search, find_recommended(progress)
    if best is not None:
        kept = _describe_kept(best.kept)
        under = f"may leave under the policy {progress.request.policy.title}"
        return f"{best.made.title} {under}: confirmed on new splits; it keeps {kept}."
    binding = find_binding(progress)
    left_out = _title_left_out(search)
    told = ""
    if search.state == "undecided":
        if not search.is_over:
            return f"Not decided, since {progress.stopped or 'it is not over'}."
        told = "Not decided: "
        told += f"{left_out} would take longer than the time to spend. " if left_out else ""
        if search.list_unproven():
            return f"{told}{_explain_unproven(progress)}."
    tried = count_noun(len({one.made.id for _, one in _list_last(search)}), "release")
    if binding is None:
        return f"{told}No release passes: nothing could be measured on {tried}."
    made, check = binding
    return f"{told}None of {tried} passes; {made.title} comes nearest. {explain_check(check)}."


def describe_request(request: SearchRequest) -> str:
    """What a search is for; an audit beside it may be for another recipient or other secrets."""
    policy = request.policy
    secrets = describe_answers(read_answers(request.spec, policy))["secrets"]
    return (
        f"Policy: {policy.title}. Secret: {secrets[:1].lower()}{secrets[1:]}. To keep: at least "
        f"{_describe_kept(request.useful)}."
    )


def list_facts(progress: SearchProgress) -> list[str]:
    """Sentences that follow the headline: what would have to be given up, which attackers stand in
    the way, who could get a release, and what is left; of a search that is not over, what is within
    the limits so far."""
    search, asked = progress.search, progress.request.useful
    if not search.is_over:
        unproven = f"{_explain_unproven(progress)}." if search.list_unproven() else ""
        return list(filter(None, [_describe_within(progress), unproven]))
    facts = []
    best = find_recommended(progress)
    if best is not None and best.binding is not None:
        facts.append(f"Nearest to its limit: {explain_check(best.binding)}.")
    if best is None and (search.state == "none_passes" or search.list_left_out()):
        within = [one for _, one in _list_last(search) if one.is_within and not one.keeps(asked)]
        most = max(within, key=lambda one: one.score, default=None)
        if most is not None:
            facts.append(
                f"The most useful release within the limits, {most.made.title}, keeps "
                f"{_describe_kept(most.kept)}; {_describe_kept(asked)} was asked for."
            )
        binding = find_binding(progress)
        if binding is not None and binding[1].limit.threat != "release":
            aim = THREAT_WORDS[binding[1].limit.threat].aim
            facts.append(
                f"In the way stand attackers who {aim}. Where that is acceptable, a policy without "
                "this limit may be chosen."
            )
        for key, release in find_recipients(progress).items():
            if release is not None and key != progress.request.policy.key:
                facts.append(
                    f"The figures of {release} are within the limits of the policy {key}: run the "
                    "search for that recipient to confirm it."
                )
        facts.append(
            "What remains is a table of statistics with node-level privacy: publish --statistics."
        )
    if best is not None:
        warning = explain_lax_policy(progress.request.spec.purpose, progress.request.policy)
        facts += filter(None, [warning])
    if hint := _suggest_coarser_columns(progress):
        facts.append(hint)
    last = max(progress.confirmations, default=0)
    if last > 1:
        facts.append(
            f"Its confirmation is number {last} on this graph and draws splits of its own; its "
            f"share of the error is {format_error(share_error(last))}."
        )
    if best is not None:
        facts.append(
            "The strength was chosen by looking at the data: no guarantee covers this choice."
        )
        if left_out := _title_left_out(search):
            facts.append(
                f"Not tried, since it would take longer than the time to spend: {left_out}. With "
                "more time the search goes on with it, and may find a release that keeps more."
            )
    return facts


def _describe_within(progress: SearchProgress) -> str:
    """Releases within the limits of a search that is not over, the most useful first; "" without
    any."""
    found = [
        (stage, one)
        for stage, one in _list_last(progress.search)
        if one.is_within and one.keeps(progress.request.useful)
    ]
    if not found:
        return ""
    last = max((stage for stage, _ in found), key=ORDER.index)
    names = [
        f"{one.made.title} keeps {_describe_kept(one.kept)}"
        for stage, one in sorted(found, key=lambda pair: -pair[1].score)
        if stage == last
    ]
    whose = "the attackers that the policy requires" if last != "screening" else "quick attackers"
    return f"Within the limits so far, by {whose} and not confirmed: {'; '.join(names)}."


def _suggest_coarser_columns(progress: SearchProgress) -> str:
    """What to try where the columns alone are too much; "" where they are not, or are coarse."""
    rules = map(Rule.parse, progress.request.spec.disclosure.generalize)
    alone = [one for one in progress.search.candidates if not one.ladder.has_links]
    is_over = any(one.dropped.startswith(EXCEEDS) for one in alone)
    if not is_over or any(rule.kind == "shared" for rule in rules):
        return ""
    return (
        "The columns alone exceed a limit, whatever becomes of the links. Coarser ones may not: "
        "under “Published columns” on the Data page choose “shared by enough people” for them "
        "(--generalize COLUMN:shared=20), and search again."
    )


def _title_left_out(search: Search) -> str:
    """Defenses that take longer than the time to spend; "" without any."""
    return ", ".join(sorted({(each.base or each).title for each in search.list_left_out()}))


def _explain_unproven(progress: SearchProgress) -> str:
    """The release that came nearest on new splits, and what could not be proven of it."""
    asked, measured = progress.request.useful, progress.search.measured
    confirmed = [m for (stage, _), m in measured.items() if stage == "confirmation"]
    known = [one for one in confirmed if one.made.is_defended and one.keeps(asked)]
    best = min(known, key=_get_severity)
    open_ = [check for check in best.checks if check.decision != "publish"]
    if not open_:
        return f"{best.made.title} came nearest, but {'; '.join(best.open_points)}"
    gravest = max(open_, key=lambda check: check.severity)
    how = f"as many as {MAX_REPEATS} splits would not prove it"
    if any(m.decision == "publish" and m.made.is_defended for m in confirmed):
        how = "it was not proven before a release that keeps too little was cleared"
    return f"{best.made.title} came nearest, and {how}. {explain_check(gravest)}"


def tabulate_tried(progress: SearchProgress) -> pd.DataFrame:
    """A row a release that was audited, by defense and strength.

    Columns defense, has_columns, release, title, stage, risk (its largest figure as a multiple of
    the limit), limit (what is limited), kept (share of the original's usefulness), is_confirmed.
    """
    search = progress.search
    confirmed = {one.made.id for one in search.list_confirmed()}
    latest = {one.made.id: (stage, one) for stage, one in _list_last(search)}
    rows = []
    for candidate in search.candidates:
        for choice in candidate.ladder.rungs:
            stage, one = latest.get(choice.id, (None, None))
            if one is None or one.binding is None or math.isnan(one.score):
                continue
            limit, check = one.binding.limit.title, one.binding
            ladder = candidate.ladder
            defense = (ladder.base or ladder).title
            head = (defense, ladder.has_columns, choice.id, one.made.title, stage)
            rows.append((*head, check.severity, limit, one.score, choice.id in confirmed))
    columns = ["defense", "has_columns", "release", "title", "stage", "risk", "limit", "kept"]
    return pd.DataFrame(rows, columns=[*columns, "is_confirmed"])


def list_rows(progress: SearchProgress) -> list[dict[str, str]]:
    """A row a ladder: defense, stage, setting found, what it keeps, and why it is out."""
    return [
        {
            "Defense": one.ladder.title,
            "Stage": one.stage.capitalize(),
            "Weakest within the limits": _title_passed(one),
            "Keeps": "" if math.isnan(one.best) else format_percent(one.best),
            "State": begin_sentence(one.dropped)
            or ("open" if one.is_open else "within the limits"),
        }
        for one in progress.search.candidates
    ]


def _title_passed(one: Candidate) -> str:
    if one.passed == len(one.ladder.rungs):
        return ""
    return one.ladder.rungs[one.passed].make_defense().title


def _list_last(search: Search) -> list[tuple[Stage, Measured]]:
    """The latest figures of each release but the original, by stage."""
    latest: dict[str, tuple[Stage, Measured]] = {}
    for stage in ORDER:
        for (where, release), one in search.measured.items():
            if where == stage and release != ORIGINAL:
                latest[release] = stage, one
    return list(latest.values())


def _get_severity(one: Measured) -> float:
    return math.inf if one.binding is None else one.binding.severity


def _describe_kept(kept: dict[str, float]) -> str:
    """ "62 % of the links (F1)"."""
    return " and ".join(f"{format_percent(x)} of {USEFUL[name]}" for name, x in kept.items())


def _describe_verdict(one: Measured) -> dict[str, Any]:
    return {
        "decision": one.decision,
        "limits": [check.describe() for check in one.checks],
        "kept": _describe_shares(one.kept),
        "open_points": list(one.open_points),
    }


def _describe_candidate(one: Measured, stage: Stage, progress: SearchProgress) -> dict[str, Any]:
    """dropped_because: what stands in its way at its last stage; "" where nothing does."""
    reason = one.not_made
    over = [check for check in one.tested if check.state == "exceeded"]
    if over:
        gravest = max(over, key=lambda check: check.severity)
        limit = gravest.limit
        value, most = format_limited(gravest.evidence.value, limit.limit, metric=limit.metric)
        reason = f"{limit.title}: {value}, limit {most}"
    elif not reason and not one.keeps(progress.request.useful):
        reason = "keeps too little"
    return {
        "id": one.made.id,
        "stage": stage,
        "risks": {check.limit.name: check.evidence.value for check in one.tested},
        "usefulness": _describe_shares(one.kept),
        "dropped_because": reason,
    }


def _describe_ladder(one: Candidate) -> dict[str, Any]:
    place = one.passed
    return {
        "defense": one.ladder.title,
        "stage": one.stage,
        "weakest_within": None if place == len(one.ladder.rungs) else one.ladder.rungs[place].id,
        "keeps": None if math.isnan(one.best) else round(one.best, 6),
        "dropped_because": one.dropped,
    }


def _describe_shares(kept: dict[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(share) else round(share, 6) for name, share in kept.items()}
