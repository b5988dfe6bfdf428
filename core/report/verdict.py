"""First of all: may it leave, which limits, what was not tried, what remains."""

from __future__ import annotations

from datetime import datetime

from core.findings.labels import release_title
from core.findings.numbers import format_number
from core.findings.page_summary import describe_decision, find_subject
from core.findings.verdict import ReleaseVerdict, Verdict
from core.findings.verdict_words import (
    DECISION_MEANINGS,
    DECISION_TITLES,
    compute_limit_table,
    explain_check,
    explain_others,
)
from core.release import ORIGINAL
from core.report import blocks
from core.report.blocks import Block
from core.report.material import SMALL, Material
from core.report.text import clean_text

MAX_LIMIT_TABLES = 3
MAX_UNTRIED = 8
MAX_ROWS = 8
"""Releases on the summary page."""

PEOPLE = ("advantage_share", "expected_found", "share_unique", "share_below_5", "hits_at_1")
"""Metrics that are shares of the people."""

PURPOSES = {
    "recipient": "Who receives it",
    "knowledge": "What they know already",
    "secrets": "What must not be learned",
    "use": "What they need it for",
    "legal_basis": "Legal basis",
    "conditions": "Conditions",
}
"""Questions of the guided audit, as `AuditSpec.purpose` answers them."""

TO_FILL = "to be filled in"
NO_POLICY = (
    "No release policy was named, so there is no verdict: the numbers below are not held against "
    "any limit. Name one with “--policy” or on the Verdict page."
)


def build_headline(material: Material) -> list[str]:
    """The verdict in a sentence, for “In short”."""
    return [] if material.verdict is None else [describe_decision(material.verdict)]


def build_verdict(material: Material) -> list[Block]:
    """Decision and limits of every release, the reasons, and what was not tried."""
    verdict = material.verdict
    if verdict is None:
        return [blocks.warning(NO_POLICY), *build_purpose(material)]
    policy = verdict.policy
    result = [
        blocks.paragraph(describe_decision(verdict)),
        build_decisions(material, verdict),
        blocks.note(
            f"Policy “{clean_text(policy.title, 80)}”, version {policy.version}. "
            f"{clean_text(policy.summary, 400)} "
            + "; ".join(f"{DECISION_TITLES[d]}: {DECISION_MEANINGS[d]}" for d in DECISION_TITLES)
            + "."
        ),
    ]
    for release in choose_detailed(verdict)[:MAX_LIMIT_TABLES]:
        result.append(build_limit_table(release, material.is_external))
    result += _build_untried(verdict)
    return [*result, *build_purpose(material), *build_residual(material, verdict)]


def build_decisions(material: Material, verdict: Verdict, most: int | None = None) -> Block:
    """A row a release: the decision and what it rests on; the first `most` of them."""
    reasons = dict(explain_others(verdict, material.view.results))
    rows = []
    for release in _list_shown(material, verdict)[:most]:
        best = release.release == verdict.recommended
        why = "recommended: meets every limit, first of those by usefulness" if best else ""
        rows.append(
            [
                release_title(release.release),
                DECISION_TITLES[release.decision],
                why or reasons.get(release.release, ""),
            ]
        )
    return blocks.table(
        ["Release", "Verdict", "Why"],
        rows,
        "Every release under the policy, all threats together.",
        widths=[1.2, 0.8, 2.6],
        inline=True,
    )


def build_page(material: Material) -> list[Block]:
    """All on one page: the verdict, every release, the limits, the next review."""
    verdict = material.verdict
    if verdict is None:
        return [blocks.warning(NO_POLICY)]
    chosen = choose_detailed(verdict)[:1]
    untried = list(dict.fromkeys(text for r in chosen for text in r.untried))
    result = [
        blocks.paragraph(describe_decision(verdict)),
        build_decisions(material, verdict, MAX_ROWS),
        *(build_limit_table(release, material.is_external) for release in chosen),
    ]
    if untried:
        result.append(blocks.note(clean_text(". ".join(untried) + ".", 500)))
    return [
        *result,
        blocks.note(f"Review by {find_review_date(material.created)}. Details: the full report."),
    ]


def build_limit_table(release: ReleaseVerdict, is_external: bool = False) -> Block:
    """The limits of one release with what was measured; outside, shares of fewer than ten people
    are given as a bound."""
    table = compute_limit_table(release).drop(columns=["By"])
    if is_external:
        for row, check in enumerate(release.checks):
            found = check.evidence
            is_share = check.limit.metric in PEOPLE and found.value is not None and found.n > 0
            if is_share and (found.value or 0.0) * found.n < SMALL:
                table.loc[row, "Measured"] = f"below {format_number(SMALL / found.n)}"
    return blocks.table(
        ["Limit on", "Measured", "At most", "State", "n", "Source"],
        table.to_numpy().tolist(),
        f"{release_title(release.release)}: every limit of the policy with the worst value over "
        "all attacks; the interval ends at the highest upper end.",
        numeric=(1, 2, 4),
        widths=[1.8, 0.8, 0.6, 0.7, 0.5, 1.8],
    )


def choose_detailed(verdict: Verdict) -> list[ReleaseVerdict]:
    """The release that the decision is about, then the original."""
    found = (find_subject(verdict), verdict.find(ORIGINAL))
    return list({r.release: r for r in found if r is not None}.values())


def build_purpose(material: Material) -> list[Block]:
    """What was said of the release; what was not asked is left to be filled in."""
    said = material.view.spec.purpose
    rows = [
        (title, clean_text(said.get(key, ""), 300) or TO_FILL) for key, title in PURPOSES.items()
    ]
    return [blocks.heading("Purpose and recipient"), blocks.facts(rows)]


def build_residual(material: Material, verdict: Verdict) -> list[Block]:
    """What stays after the decision, and when it has to be looked at again."""
    chosen = verdict.find(verdict.recommended) if verdict.recommended else None
    sentences = []
    if chosen is not None:
        sentences += [
            f"What remains on {release_title(chosen.release)}: {explain_check(check)}."
            for check in chosen.checks
            if check.evidence.value is not None and check.decision == "publish"
        ][:4]
    sentences += [
        "The verdict holds for this graph, these releases and the attacks that ran. A new attack, "
        "a second release of the same people, or data that others publish can change it.",
        f"Review by **{find_review_date(material.created)}**, and before any further release of "
        "these people.",
    ]
    return [blocks.heading("Residual risk and review"), blocks.bullets(sentences)]


def find_review_date(created: datetime) -> str:
    """One year after the audit; the last day of February for a leap day."""
    day = 28 if (created.month, created.day) == (2, 29) else created.day
    return f"{created.replace(year=created.year + 1, day=day):%d %B %Y}".lstrip("0")


def _list_shown(material: Material, verdict: Verdict) -> list[ReleaseVerdict]:
    shown = set(material.ids)
    found = [r for r in verdict.releases if r.release in shown]
    return sorted(found, key=lambda r: r.release != verdict.recommended)


def _build_untried(verdict: Verdict) -> list[Block]:
    """What has to be tried before anything is cleared, once each."""
    found = list(dict.fromkeys(text for r in verdict.releases for text in r.untried))
    if not found:
        return []
    shown = [clean_text(text, 300) for text in found[:MAX_UNTRIED]]
    if len(found) > MAX_UNTRIED:
        shown.append(f"{len(found) - MAX_UNTRIED} more")
    return [blocks.heading("What was not tried"), blocks.bullets(shown)]
