"""The verdict for pipelines: SARIF 2.1.0, JUnit XML, JSON, Markdown and HTML beside audit.json.

There is one case per release and limit, one per release for its decision, and one for the run. They
fail closed: a case passes only if it was measured and its whole interval meets the limit. Open
points and refuted claims fail the release's decision; failed or missing cells, and requested claim
checks that did not run, fail the run.
"""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from core.audit.asked.release_info import ReleaseInfo
from core.audit.results.view import AuditView
from core.defenses.external import EXTERNAL
from core.errors import InputError
from core.findings.policy import check_policy
from core.findings.verdict import Check, Decision, Verdict, judge
from core.findings.verdict_words import (
    DECISION_MEANINGS,
    DECISION_TITLES,
    describe_decision,
    explain_check,
)
from core.report.text import clean_text

Outcome = Literal["passed", "failed", "error", "skipped"]
"""failed: exceeded or refuted; error: not shown to be met; skipped: neither, and not a pass."""

DECISION_OUTCOMES: dict[Decision, Outcome] = {
    "publish": "passed",
    "review": "error",
    "do_not_publish": "failed",
}
LONGEST = 4000
"""Maximum length of a message."""


@dataclass(frozen=True)
class Case:
    """One check of the gate, in printable text.

    release  its id; "" for the run as a whole
    subject  display name of what is checked
    rule     "limit/NAME", "decision" or "run"
    """

    release: str
    subject: str
    rule: str
    title: str
    outcome: Outcome
    message: str


@dataclass(frozen=True)
class Gate:
    """A verdict and its cases, the run's last; exit_code: that of the command."""

    verdict: Verdict
    cases: list[Case]
    exit_code: int

    @property
    def is_complete(self) -> bool:
        """Whether every part of the audit finished."""
        return self.cases[-1].outcome == "passed"

    @property
    def passed(self) -> bool:
        """Whether a release may be published after a complete run."""
        is_there = EXTERNAL not in self.verdict.not_made
        return self.exit_code == 0 and self.is_complete and is_there and self.verdict.may_leave


def build_gate(view: AuditView, exit_code: int) -> Gate:
    """The cases of an audit; raises InputError without a policy."""
    verdict = judge(view, check_policy(view.spec.policy))
    title, cases = "Decision on the release", []
    for release in verdict.offered:
        for check in release.checks:
            rule, text = f"limit/{check.limit.name}", explain_check(check)
            outcome = _find_outcome(check)
            cases.append(_make_case(release.made, rule, check.limit.title, outcome, text))
        decision, points = release.decision, (*release.refuted, *release.open_points)
        text = f"{DECISION_TITLES[decision]}: {'; '.join(points) or DECISION_MEANINGS[decision]}"
        outcome = DECISION_OUTCOMES[decision]
        cases.append(_make_case(release.made, "decision", title, outcome, text))
    for name, reason in verdict.not_made.items():
        outcome = "error" if name == EXTERNAL else "skipped"
        made = view.get_release(name)
        cases.append(_make_case(made, "decision", title, outcome, f"not made: {reason}"))
    missing = list_unfinished(view)
    text = "; ".join(missing) or f"{view.summary.cells_total} parts finished"
    outcome = "error" if missing else "passed"
    cases.append(_make_case(None, "run", "Every part of the audit finished", outcome, text))
    return Gate(verdict, cases, exit_code)


def _make_case(
    made: ReleaseInfo | None, rule: str, title: str, outcome: Outcome, message: str
) -> Case:
    """Control characters in user-supplied names, invalid in XML, become code points."""
    release, subject = ("", "Audit") if made is None else (made.id, made.title)
    release, subject, rule, title, message = (
        clean_text(text, LONGEST) for text in (release, subject, rule, title, message)
    )
    return Case(release, subject, rule, title or rule, outcome, message)


def _find_outcome(check: Check) -> Outcome:
    if check.state == "met":
        return "passed"
    if check.state == "exceeded":
        return "failed"
    return "skipped" if check.state == "not_tested" and check.limit.optional else "error"


def list_unfinished(view: AuditView) -> list[str]:
    """Failed and missing parts of the run."""
    run, found = view.summary, []
    if run.cells_failed:
        found.append(f"{run.cells_failed} of {run.cells_total} parts failed")
    if not 0 < run.cells_total <= run.cells_done:
        found.append(f"{run.cells_done} of {run.cells_total} parts came to an end")
    newest = {claim.release: claim for claim in view.claims}
    missing = [claim for claim in newest.values() if not claim.state.is_kept]
    return found + [f"{c.release}: claim not checked: {c.reason or c.state}" for c in missing]


def format_sarif(gate: Gate) -> str:
    """SARIF 2.1.0: one rule per limit; every case is a result, passed ones of kind "pass"."""
    titles = {case.rule: case.title for case in gate.cases}
    place = {"artifactLocation": {"uri": "audit.json"}, "region": {"startLine": 1}}
    results = []
    for case in gate.cases:
        kind = {"passed": "pass", "skipped": "open"}.get(case.outcome, "fail")
        names = [{"fullyQualifiedName": case.release or "run"}]
        result = {
            "ruleId": case.rule,
            "ruleIndex": list(titles).index(case.rule),
            "kind": kind,
            "level": "error" if kind == "fail" else "none",
            "message": {"text": f"{case.subject}: {case.message}"},
            "locations": [{"physicalLocation": place, "logicalLocations": names}],
            "partialFingerprints": {"releaseRule/v1": f"{case.release}/{case.rule}"},
        }
        results.append(result)
    rules = [{"id": rule, "shortDescription": {"text": title}} for rule, title in titles.items()]
    run = {
        "tool": {"driver": {"name": "Graph Privacy Audit", "rules": rules}},
        "invocations": [{"executionSuccessful": gate.is_complete, "exitCode": gate.exit_code}],
        "results": results,
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return _format_json({"$schema": schema, "version": "2.1.0", "runs": [run]})


def format_junit(gate: Gate) -> str:
    """JUnit XML as Jenkins reads it: one suite per release; exceeded limits are failures, limits
    not proven or not tested are errors."""
    root = ET.Element("testsuites", _count(gate.cases))
    del root.attrib["skipped"]  # an attribute of suites only
    for release in dict.fromkeys(case.release for case in gate.cases):
        cases = [case for case in gate.cases if case.release == release]
        suite = ET.SubElement(root, "testsuite", _count(cases), name=cases[0].subject)
        for case in cases:
            item = ET.SubElement(suite, "testcase", classname=case.subject, name=case.title)
            if case.outcome != "passed":
                tag = {"failed": "failure", "skipped": "skipped"}.get(case.outcome, "error")
                ET.SubElement(item, tag, message=case.message)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _count(cases: list[Case]) -> dict[str, str]:
    """Attributes of a suite."""
    names = {"failures": "failed", "errors": "error", "skipped": "skipped"}
    counts = {key: sum(c.outcome == name for c in cases) for key, name in names.items()}
    return {key: str(count) for key, count in {"tests": len(cases), **counts}.items()}


def format_json(gate: Gate) -> str:
    """The outcome, the cases, and `verdict` as in audit.json."""
    content = {"passed": gate.passed, "exit_code": gate.exit_code}
    cases = [asdict(case) for case in gate.cases]
    return _format_json({**content, "cases": cases, "verdict": gate.verdict.describe()})


def _format_json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def format_markdown(gate: Gate) -> str:
    """A table of the cases for a pipeline's summary."""
    lines = [
        f"# Gate {'passed' if gate.passed else 'not passed'}",
        "",
        escape_markdown(_describe_verdict(gate)),
        "",
        "| release | what is checked | outcome | finding |",
        "|---|---|---|---|",
    ]
    for case in gate.cases:
        cells = map(escape_markdown, (case.subject, case.title, case.outcome, case.message))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _describe_verdict(gate: Gate) -> str:
    """The decision, and that its policy is laxer than the recipient's."""
    found = [describe_decision(gate.verdict), gate.verdict.policy_warning]
    return clean_text(" ".join(filter(None, found)), LONGEST)


def escape_markdown(line: str) -> str:
    """Escape a line for a table: no markup, HTML, cell border or automatic link."""
    line = re.sub(r"[\\`*_\[\]#!~@$^]|:(?=\S)|(?<=www)\.", r"\\\g<0>", line)
    return re.sub(r"[&<>|]", lambda found: f"&#{ord(found[0])};", line)


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; }}
th, td {{ border-bottom: 1px solid #bbb; padding: 0.3em 0.8em; text-align: left; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{decision}</p>
<table>
<tr><th>Release</th><th>What is checked</th><th>Outcome</th><th>Finding</th></tr>
{rows}
</table>
</body>
</html>
"""
MARKS: dict[Outcome, str] = {"passed": "✓", "failed": "✗", "error": "!", "skipped": "–"}


def format_html(gate: Gate) -> str:
    """One self-contained HTML page without scripts; names are escaped."""
    rows = [
        (case.subject, case.title, f"{MARKS[case.outcome]} {case.outcome}", case.message)
        for case in gate.cases
    ]
    cells = ("".join(f"<td>{html.escape(text)}</td>" for text in row) for row in rows)
    return PAGE.format(
        title=f"Gate {'passed' if gate.passed else 'not passed'}",
        decision=html.escape(_describe_verdict(gate)),
        rows="\n".join(f"<tr>{row}</tr>" for row in cells),
    )


FORMATS: dict[str, tuple[str, Callable[[Gate], str]]] = {
    "sarif": ("verdict.sarif", format_sarif),
    "junit": ("verdict.xml", format_junit),
    "json": ("verdict.json", format_json),
    "markdown": ("verdict.md", format_markdown),
    "html": ("verdict.html", format_html),
}
"""Value of `--format` → file name and formatter."""


def check_formats(formats: list[str]) -> None:
    """Raise InputError for an unknown format."""
    for name in formats:
        if name not in FORMATS:
            raise InputError("--format", f"must be one of {', '.join(FORMATS)}", name)


def list_verdicts(folder: Path) -> list[Path]:
    """Files of all formats."""
    return [folder / file for file, _ in FORMATS.values()]


def remove_verdicts(folder: Path) -> None:
    """Remove files of an earlier run, of whichever format, so that none outlives a failure of this
    one or contradicts it."""
    for path in list_verdicts(folder):
        path.unlink(missing_ok=True)


def write_gate(view: AuditView, folder: Path, formats: list[str], exit_code: int) -> None:
    """Write one file per format to `folder`."""
    gate = build_gate(view, exit_code)
    for name in formats:
        file, write = FORMATS[name]
        (folder / file).write_text(write(gate), encoding="utf-8")
