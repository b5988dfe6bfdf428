"""The release decision: page 1, and the details of every limit and release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from core.audit.asked.release_info import list_short_titles
from core.findings.columns import list_telling_columns
from core.findings.decisions import format_day
from core.findings.evidence import find_not_made, find_obstacle
from core.findings.facts import STATE_TITLES
from core.findings.guide import describe_purpose
from core.findings.numbers import format_limited, format_measure
from core.findings.page_summary import format_checks
from core.findings.verdict import Check, ReleaseVerdict, Verdict
from core.findings.verdict_words import (
    DECISION_MEANINGS,
    DECISION_TITLES,
    describe_decision,
    describe_state,
    find_subject,
    list_deciding,
    title_deciding,
)
from core.release import ORIGINAL
from core.report import blocks
from core.report.blocks import Block
from core.report.data import ReportData
from core.report.disclosure import FEW, SMALL, format_bound, round_count
from core.report.page_one import explain_terms, list_figures
from core.report.text import clean_text
from core.words import begin_sentence, count_noun

MAX_RELEASES = 5
"""Releases in one table of limits."""

MAX_UNTRIED = 8
MAX_CHOICES = 3
"""Releases with a checkbox on page 1; others share a line."""

ROOM = 240
"""Characters for missing tests on page 1."""

COLORS = {"publish": "#1b7f4d", "review": "#b26a00", "do_not_publish": "#a82a57"}

PURPOSES = {
    "recipient": "Recipient",
    "use": "Purpose",
    "knowledge": "What they know already",
    "secrets": "What must not be learned",
    "legal_basis": "Legal basis",
}
"""Keys of `AuditSpec.purpose` → headings."""

TO_FILL = "to be filled in"
NO_POLICY = (
    "No policy was chosen, so there is no decision. Choose one on the Release decision page or "
    "with “--policy”."
)


def build_decision(data: ReportData) -> list[Block]:
    """Page 1: decision, recipient, purpose, people affected, deciding limits, usefulness kept,
    conditions, residual risk and, except in the external edition, the signature."""
    verdict, chosen = data.verdict, data.subject
    result = [_build_banner(data, verdict, chosen)]
    if verdict is not None and verdict.policy_warning:
        result.append(blocks.warning(verdict.policy_warning))
    if chosen is not None:
        result.append(_tabulate_checks(data, chosen, list_deciding(chosen), is_brief=True))
    result.append(blocks.facts([*list_figures(data), *_list_terms(data, chosen)]))
    if not data.is_external:
        result += map(blocks.warning, list_telling_columns(data.view))
    result.append(explain_terms(result))
    if data.options.edition != "external":
        result.append(build_signature(data))
    return result


def _build_banner(
    data: ReportData, verdict: Verdict | None, chosen: ReleaseVerdict | None
) -> Block:
    spec = data.view.spec
    answers = spec.purpose if verdict is None else describe_purpose(spec, verdict.policy)
    rows = [
        (title, clean_text(answers.get(key, ""), 160) or TO_FILL) for key, title in PURPOSES.items()
    ]
    graph = data.graph
    who, nodes = data.noun.many, data.count(graph.num_nodes)
    affected = f"{nodes} {who}, {data.count(graph.num_edges)} links"
    rows.append((f"{begin_sentence(who)} affected", affected))
    if verdict is None or chosen is None:
        return blocks.card("No decision", "no policy", COLORS["review"], rows, NO_POLICY)
    title = DECISION_TITLES[verdict.decision]
    if verdict.recommended is not None:
        title += f": {data.title(verdict.recommended)}"
    policy = f"{clean_text(verdict.policy.title, 60)}, version {verdict.policy.version}"
    reason = describe_decision(verdict).removeprefix(f"{DECISION_TITLES[verdict.decision]}: ")
    return blocks.card(title, policy, COLORS[verdict.decision], rows, begin_sentence(reason))


def _list_terms(data: ReportData, chosen: ReleaseVerdict | None) -> list[tuple[str, str]]:
    """Conditions, open points, residual risk and the next review."""
    conditions = clean_text(data.view.spec.purpose.get("conditions", ""), 240) or TO_FILL
    rows = [("Conditions", conditions)]
    if chosen is not None and chosen.open_points:
        rows.append(
            ("Before any release", _shorten_untried(chosen.open_points, not data.is_external))
        )
    rows.append(
        (
            "Residual risk",
            "The decision holds for this graph, these releases and the attacks that ran. A new "
            "attack, a second release of the same graph, or data that others publish can "
            "change it.",
        )
    )
    rows.append(("Review by", find_review_date(data.created)))
    return rows


def _shorten_untried(untried: Sequence[str], has_names: bool = True) -> str:
    """The reasons that fit on page 1, without lists of names, and a reference to the rest.

    has_names  whether section 1 has the names
    """
    heads = [text.partition(": ")[0] for text in untried]
    kept = [text for end, text in enumerate(heads, 1) if len("; ".join(heads[:end])) <= ROOM]
    more = len(heads) - len(kept)
    if not kept:
        return f"{count_noun(more, 'missing test')}, see section 1"
    rest = f"; {more} more in section 1" if more else ""
    if not more and has_names and heads != list(untried):
        rest = "; names in section 1"
    return clean_text("; ".join(kept) + rest)


def build_signature(data: ReportData) -> Block:
    """Checkboxes and signature; refused releases are not offered."""
    options = data.options
    choices = [clean_text(choice) for choice in list_choices(data)]
    if len(choices) > MAX_CHOICES + 1:
        choices = [*choices[:MAX_CHOICES], "Publish another release: ______", "Do not publish"]
    return {
        "kind": "signoff",
        "lead": "Tick one and strike out the others." if len(choices) > 1 else "Tick to confirm.",
        "choices": list(dict.fromkeys(choices)),
        "roles": [
            {"role": "Prepared by", "name": ""},
            {"role": "Reviewed by", "name": clean_text(options.reviewer, 80)},
            {"role": "Data protection officer", "name": ""},
        ],
        "organisation": clean_text(options.organisation, 80),
    }


def list_choices(data: ReportData) -> list[str]:
    """Offered choices: the recommended release first, the original last."""
    not_made = find_not_made(data.view)
    ids = [
        s.id
        for s in data.releases
        if not s.info.is_data_independent
        and s.id not in not_made
        and not find_obstacle(data.view, s.id)
    ]
    ids.sort(key=lambda release: release == ORIGINAL)
    verdict = data.verdict
    if verdict is None:
        return [*(f"Publish: {data.title(release)}" for release in ids), "Do not publish"]
    first = data.options.chosen or verdict.recommended
    ids.sort(key=lambda release: release != first)
    offered = {release.release: release for release in verdict.offered}
    found = [(release, offered.get(release)) for release in ids]
    open_ = [(r, v.decision) for r, v in found if v is not None and v.decision != "do_not_publish"]
    is_open = any(decision == "publish" for _, decision in open_)
    reviewed = ", after review, because: ______"
    choices = [
        f"Publish: {data.title(r)}{'' if decision == 'publish' else reviewed}"
        for r, decision in open_
    ]
    return [*choices, "Do not publish"] if is_open else ["Do not publish", *choices]


def build_verdict(data: ReportData) -> list[Block]:
    """Decision and limits of every release, the reasons, and missing tests."""
    verdict = data.verdict
    if verdict is None:
        return [blocks.paragraph("No policy was chosen, so no limits apply.")]
    meanings = ". ".join(f"{DECISION_TITLES[d]}: {DECISION_MEANINGS[d]}" for d in DECISION_TITLES)
    summary = clean_text(verdict.policy.summary, 400)
    result = [*_build_decisions(data, verdict), blocks.note(f"{summary} {meanings}.")]
    if data.subject is not None:
        result.append(_tabulate_checks(data, data.subject, list(data.subject.checks)))
    return [*result, *_build_untried(data, verdict)]


def build_limit_tables(data: ReportData) -> list[Block]:
    """Annex of the limits: those of the original, and where each limit comes from."""
    if data.verdict is None:
        return []
    detailed = choose_detailed(data.verdict)
    tables = [_tabulate_checks(data, release, list(release.checks)) for release in detailed[1:]]
    return [*tables, *_list_sources(detailed)]


def _build_decisions(data: ReportData, verdict: Verdict) -> list[Block]:
    """Tables of limits by release, with the decision in the first row; then what else forbids a
    release."""
    shown = _list_shown(data, verdict)
    names = list_short_titles(release.made for release in shown)
    limits = {check.limit.name: check.limit.title for r in shown for check in r.checks}
    result = []
    count = math.ceil(len(shown) / math.ceil(len(shown) / MAX_RELEASES)) if shown else 1
    for start in range(0, len(shown), count):  # none alone in a table of its own
        releases = shown[start : start + count]
        states = [{c.limit.name: STATE_TITLES[c.state] for c in r.checks} for r in releases]
        rows = [["Decision", *(DECISION_TITLES[release.decision] for release in releases)]]
        for name, title in limits.items():  # empty: the limit does not apply
            rows.append([title, *(state.get(name, "") for state in states)])
        result.append(
            blocks.table(
                ["Limit", *(names[release.release] for release in releases)],
                rows,
                "Every release against every limit.",
                widths=[2.2] + [1.0] * len(releases),
                inline=True,
            )
        )
    reasons = [
        f"{release.made.title}: {reason}"
        for release in shown
        for reason in (*release.refuted, release.obstacle, *release.warnings)
        if reason
    ]
    return [*result, blocks.bullets(reasons)] if reasons else result


def _tabulate_checks(
    data: ReportData, release: ReleaseVerdict, checks: list[Check], is_brief: bool = False
) -> Block:
    """Limits of one release with measured values, rounded as the edition requires."""
    rows, shown = [], checks
    if data.is_external:  # neither digits nor a common denominator may tell a share of few people
        shown = [check for check in checks if not _hide_figure(check)]
    texts = dict(zip([c.limit.name for c in shown], format_checks(shown), strict=True))
    for check in checks:
        found, limit = check.evidence, check.limit
        n, ends = found.n, (found.low, found.shown_high)
        exact, most = format_limited(found.value, limit.limit, *ends, limit.metric)
        if data.is_external:
            exact, n = _hide_figure(check) or exact, round_count(n)
        if limit.name not in texts:
            most = format_measure(limit.metric, limit.limit)
        if is_brief:
            measured, most = texts.get(limit.name, (exact, most))
            row = [limit.title, measured, most, describe_state(check)]
            row.append("" if measured == exact else exact)
        else:
            who = "" if found.attack is None else found.attack.title
            row = [limit.title, exact, most, describe_state(check), who, f"{n:,}" if n else ""]
        rows.append(row)
    name = release.made.title
    if is_brief:
        more = len(release.checks) - len(rows)
        where = "the full report" if data.options.edition == "summary" else "section 1"
        rest = f"; {more} more in {where}" if more else ""
        return blocks.table(
            ["Limit", "Measured", "At most", "State", "Exact, 95 % interval"],
            rows,
            f"{title_deciding(release)}{rest}.",
            numeric=(1, 2, 4),
            widths=[2.2, 0.8, 0.8, 0.7, 1.2],
            inline=True,
        )
    return blocks.table(
        ["Limit", "Measured", "At most", "State", "Attack", "n"],
        rows,
        f"{name}: every limit with the highest value over all attacks and its interval. A limit is "
        "met only if the intervals of all attacks end within it.",
        numeric=(1, 2, 5),
        widths=[2.4, 1.2, 0.6, 0.8, 1.3, 0.5],
        inline=True,
    )


def _hide_figure(check: Check) -> str:
    """What outsiders read in the place of a figure that tells of fewer than ten, else ""."""
    found, limit = check.evidence, check.limit
    bound = format_bound(limit.metric, found.value, found.n)
    is_few = limit.threat != "release" and found.value is not None and 0 < found.n < SMALL
    return bound or (f"on {FEW}" if is_few else "")


def _list_sources(releases: list[ReleaseVerdict]) -> list[Block]:
    """Where each limit comes from, limits of one source together."""
    found: dict[str, dict[str, None]] = {}
    for check in (check for release in releases for check in release.checks):
        found.setdefault(check.limit.source, {})[check.limit.title] = None
    texts = [f"{'; '.join(titles)}: {source}." for source, titles in found.items()]
    return [blocks.heading("Sources of the limits"), *map(blocks.note, texts)] if texts else []


def choose_detailed(verdict: Verdict) -> list[ReleaseVerdict]:
    """The release under decision, then the original."""
    found = (find_subject(verdict), verdict.find(ORIGINAL))
    return list({r.release: r for r in found if r is not None}.values())


def find_review_date(created: datetime) -> str:
    """One year after the audit; 28 February for a leap day."""
    day = 28 if (created.month, created.day) == (2, 29) else created.day
    return format_day(created.replace(year=created.year + 1, day=day).isoformat())


def _list_shown(data: ReportData, verdict: Verdict) -> list[ReleaseVerdict]:
    shown = set(data.ids)
    found = [r for r in verdict.releases if r.release in shown]
    return sorted(found, key=lambda r: r.release != verdict.recommended)


def _build_untried(data: ReportData, verdict: Verdict) -> list[Block]:
    """Tests missing before clearance, without repetition; outside without what follows a colon,
    which may be the reason of a failure: free text that tells counts and ids."""
    found = list(dict.fromkeys(text for r in verdict.releases for text in r.untried))
    if data.is_external:
        found = list(dict.fromkeys(text.partition(": ")[0] for text in found))
    if not found:
        return []
    shown = [clean_text(text, 300) for text in found[:MAX_UNTRIED]]
    if len(found) > MAX_UNTRIED:
        shown.append(f"{len(found) - MAX_UNTRIED} more")
    return [blocks.heading("Tests not run"), blocks.bullets(shown)]
