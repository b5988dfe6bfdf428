"""Decisions in words, and in the report's sign-off."""

from __future__ import annotations

from dataclasses import replace

from core.audit.store.decisions import Decision
from core.findings.decisions import COLUMNS, describe_evidence, list_decision_rows, make_evidence
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.report import ReportOptions
from core.report.document import build_content
from tests.figures.conftest import RELEASES, make_view


def decide(view, kind: str, day: int, **more) -> Decision:
    verdict = judge(view, find_policy("public"))
    return Decision(
        graph_hash=view.spec.graph_hash,
        audit_id=view.summary.id,
        kind=kind,
        release=RELEASES[1],
        person="Ada Lovelace",
        reason="asked the board",
        evidence=make_evidence(verdict, RELEASES[1]),
        made=f"2026-03-0{day}T09:05:00.000+00:00",
        **more,
    )


def test_the_evidence_is_the_verdict_at_that_time():
    view = make_view()
    verdict = judge(view, find_policy("public"))
    evidence = make_evidence(verdict, RELEASES[1])
    found = verdict.find(RELEASES[1])
    assert evidence["decision"] == found.decision
    assert [limit["value"] for limit in evidence["limits"]] == [
        check.evidence.value for check in found.checks
    ]
    text = describe_evidence(decide(view, "chosen", 1))
    assert text.startswith("Audit a1, policy public")
    assert "do not publish" in text
    assert "at most" in text


def test_history_is_newest_first_and_says_what_is_superseded():
    view = make_view()
    decisions = (
        decide(view, "chosen", 1),
        decide(view, "chosen", 2),
        decide(view, "published", 3, file_hash="f" * 64),
    )
    rows = list_decision_rows(decisions)
    assert tuple(rows[0]) == COLUMNS
    assert [row["State"] for row in rows] == ["", "holds", "superseded"]
    assert "SHA-256 " + "f" * 64 in rows[0]["What"]
    assert rows[2]["When"] == "1 March 2026, 09:05 UTC"


def test_the_signoff_has_decisions_and_hash_and_names_nobody_outside():
    view = make_view()
    decisions = (decide(view, "chosen", 1), decide(view, "published", 2, file_hash="f" * 64))
    view = replace(view, decisions=decisions)
    for edition in ("internal", "external"):
        options = ReportOptions(
            sections=("signoff",), policy=find_policy("public"), edition=edition
        )
        text = str(build_content(view, options)[0])
        assert "f" * 64 in text
        assert "Chose Random deletion" in text
        assert ("Ada Lovelace" in text) == (edition == "internal")
