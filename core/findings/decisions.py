"""Recorded decisions for display: the evidence stored with each, and the history as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from core.audit.store.decisions import Decision, find_superseded
from core.findings.numbers import format_limited
from core.findings.verdict import Verdict
from core.findings.verdict_words import DECISION_TITLES

COLUMNS = ("When", "Who", "What", "Evidence", "Why", "State")

_VERBS = {"chosen": "Chose", "withdrawn": "Withdrew", "published": "Handed out"}
MAX_LIMITS = 3


def make_evidence(verdict: Verdict, release: str) -> dict[str, Any]:
    """Evidence of a decision as JSON: policy, verdict on the release and its limits."""
    found = verdict.find(release)
    evidence: dict[str, Any] = {"policy": verdict.policy.key, "version": verdict.policy.version}
    if found is None:
        return evidence
    limits = [{"title": check.limit.title, **check.describe()} for check in found.checks]
    return {**evidence, "decision": found.decision, "limits": limits}


def list_decision_rows(decisions: Sequence[Decision]) -> list[dict[str, str]]:
    """`COLUMNS` of every decision, newest first. Names and reasons are user data."""
    superseded = find_superseded(decisions)
    rows = []
    for decision in reversed(decisions):
        what = f"{_VERBS[decision.kind]} {decision.released.title}"
        if decision.file_hash:
            what += f", SHA-256 {decision.file_hash}"
        state = "superseded" if decision.id in superseded else ""
        if not state and decision.kind == "chosen":
            state = "holds"
        rows.append(
            {
                "When": format_moment(decision.made),
                "Who": decision.person,
                "What": what,
                "Evidence": describe_evidence(decision),
                "Why": decision.reason,
                "State": state,
            }
        )
    return rows


def describe_evidence(decision: Decision) -> str:
    """ "Audit d392f6a551, policy public 1: review; Withheld links found …: 0.43, at most 0.05"."""
    found = decision.evidence
    text = f"Audit {decision.audit_id}"
    if "policy" in found:
        text += f", policy {found['policy']} {found.get('version', '')}".rstrip()
    title = DECISION_TITLES.get(found.get("decision", ""))
    if title:
        text += f": {title.lower()}"
    known = [limit for limit in found.get("limits", []) if limit["value"] is not None]
    known.sort(key=lambda limit: limit["state"] == "met")
    for limit in known[:MAX_LIMITS]:
        value, most = format_limited(*(limit[key] for key in ("value", "limit", "low", "high")))
        text += f"; {limit['title']}: {value}, at most {most}"
    if len(known) > MAX_LIMITS:
        text += f"; {len(known) - MAX_LIMITS} more limits"
    return text


def format_moment(made: str) -> str:
    """ "3 March 2027, 14:05 UTC"."""
    return f"{datetime.fromisoformat(made):%d %B %Y, %H:%M} UTC".lstrip("0")


def format_day(made: str) -> str:
    """ "3 March 2027"."""
    return f"{datetime.fromisoformat(made):%d %B %Y}".lstrip("0")
