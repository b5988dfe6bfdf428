"""The assessment by clauses: a section of the report, dpia.md and dpia.json.

Built once as JSON-like data from the guidance files (`core.report.guidance`) and the audit's
evidence; Markdown and the PDF's section are rendered from it. It uses pseudonyms only but contains
small counts: for internal use.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.audit.results.view import AuditView
from core.findings.guarantees import TRUST_TITLES, UNIT_TITLES
from core.findings.labels import THREAT_WORDS
from core.findings.numbers import format_number
from core.findings.verdict_words import describe_decision
from core.report import blocks
from core.report.actors import describe_best, format_best, list_costs, list_subjects, measure_actor
from core.report.blocks import Block
from core.report.data import ReportData
from core.report.decision_page import TO_FILL, find_review_date
from core.report.evidence import describe_evidence
from core.report.gate import escape_markdown
from core.report.guidance import Actor, Clause, load_guidance
from core.report.options import ReportOptions
from core.report.text import clean_text
from core.words import format_value

LONGEST, CELL = 900, 2700
"""Characters per piece of evidence, and per cell of several."""
LONG = 60
"""Length of evidence above which later clauses refer to it instead of repeating it."""
COLUMNS = ("Clause", "Evidence in this audit", "To be filled in")
COST_COLUMNS = ("Attack", "Release", "CPU s", "Elapsed s", "Lines of knowledge", "Technology")


def build_assessment(data: ReportData) -> dict[str, Any]:
    """Contents of dpia.json: printable text and numbers."""
    return data.remember("assessment", lambda: _assess(data))


def _assess(data: ReportData) -> dict[str, Any]:
    subjects, verdict = list_subjects(data), data.verdict
    guidance = load_guidance()
    left, _ = describe_evidence(data, "open_points")
    return {
        "audit": data.view.summary.id,
        "graph": clean_text(data.view.spec.graph_name),
        "created": data.created.isoformat(),
        "decision": None if verdict is None else clean_text(describe_decision(verdict)),
        "releases": subjects,
        "guidance": [
            {
                **{name: getattr(found, name) for name in ("key", "title", "about", "source")},
                "clauses": [_build_clause(data, clause) for clause in found.clauses],
            }
            for found in guidance
        ],
        "actors": [_build_actor(data, a, subjects) for found in guidance for a in found.actors],
        "costs": [
            {**cost.describe(), "knowledge": clean_text(cost.knowledge)}
            for cost in list_costs(data, subjects)
        ],
        "privacy_guarantees": [
            {
                "release": summary.id,
                "unit": UNIT_TITLES[summary.guarantee.unit],
                "trust_model": TRUST_TITLES[summary.guarantee.trust],
                "relation": summary.guarantee.relation,
                "epsilon": summary.guarantee.epsilon_received,
                "delta": summary.guarantee.delta_received,
                "accountant": summary.guarantee.accountant,
                "justification": TO_FILL,
            }
            for summary in data.releases
            if summary.guarantee.is_private
        ],
        "residual_risk": {
            "remains": clean_text(left) or TO_FILL,
            "accepted_by": TO_FILL,
            "review_by": find_review_date(data.created),
            "triggers": [text for found in guidance for text in found.triggers],
        },
    }


def _build_clause(data: ReportData, clause: Clause) -> dict[str, Any]:
    """A clause's evidence in this audit, and what has to be filled in by hand."""
    found = [describe_evidence(data, name) for name in clause.evidence]
    gaps = [clause.gap, *(gap for _, gap in found)]
    return {
        "number": clause.number,
        "title": clause.title,
        "evidence": [clean_text(text, LONGEST) for text, _ in found if text],
        "gaps": [clean_text(gap, LONGEST) for gap in dict.fromkeys(gaps) if gap],
    }


def _build_actor(data: ReportData, actor: Actor, subjects: list[str]) -> dict[str, Any]:
    measured = measure_actor(data, actor, subjects)
    is_tested = bool(actor.threats)
    missing = "no attack of this audit stands for this actor" if is_tested else ""
    gaps = [actor.gap] if measured or not missing else [missing, actor.gap]
    return {
        "name": actor.name,
        "capacity": actor.capacity,
        "threats": list(actor.threats),
        "knowledge": list(actor.knowledge),
        "measured": [{**describe_best(m), "text": clean_text(format_best(m))} for m in measured],
        "gaps": gaps,
    }


def build_dpia(data: ReportData) -> list[Block]:
    """The section of the report."""
    found = build_assessment(data)
    result = [
        blocks.paragraph(
            "Clause by clause: what this audit holds, and what the organisation fills in. It is no "
            "certificate. The same is in dpia.md and dpia.json."
        )
    ]
    for guidance in found["guidance"]:
        rows = list_clause_rows(guidance["clauses"], "\n")
        result.append(blocks.heading(guidance["title"]))
        result.append(
            blocks.table(COLUMNS, rows, guidance["about"], widths=[1.1, 2.4, 1.5], limit=CELL)
        )
    return [*result, *_build_rest(data, found)]


def list_clause_rows(clauses: list[dict[str, Any]], separator: str) -> list[list[str]]:
    """One row per clause; evidence given in full earlier is referred to."""
    rows: list[list[str]] = []
    first: dict[str, str] = {}
    for clause in clauses:
        name = clause["number"] or clause["title"]
        repeated = [text for text in clause["evidence"] if text in first and len(text) > LONG]
        texts = [text for text in clause["evidence"] if text not in repeated]
        if repeated:
            texts.append(f"As under {', '.join(dict.fromkeys(first[text] for text in repeated))}.")
        first.update((text, name) for text in clause["evidence"] if text not in first)
        title = f"{clause['number']} {clause['title']}".strip()
        rows.append([title, separator.join(texts) or "–", "; ".join(clause["gaps"]) or "–"])
    return rows


def _build_actors(data: ReportData, found: dict[str, Any]) -> list[Block]:
    """One row per actor and threat, with a column for each release."""
    releases, rows = found["releases"], []
    for actor in found["actors"]:
        first = [f"{actor['name']}: {actor['capacity']}", "; ".join(actor["gaps"])]
        texts = {(m["threat"], m["release"]): m["text"] for m in actor["measured"]}
        for threat in dict.fromkeys(threat for threat, _ in texts) or [""]:
            cells = [texts.get((threat, release), "–") for release in releases]
            title = THREAT_WORDS[threat].title if threat else "–"
            rows.append([first[0], title, *cells, first[1]])
            first = ["", ""]
    return [
        blocks.heading("Identifiability per actor"),
        blocks.table(
            ["Actor", "Threat", *map(data.title, releases), "To be filled in"],
            rows,
            "On each release the attack that stands for the actor and is clearest above the "
            "baseline attackers; 95 % intervals.",
            widths=[1.3, 0.9, *(1.3 for _ in releases), 1.2],
            limit=CELL,
        ),
    ]


def _build_costs(data: ReportData, found: dict[str, Any]) -> list[Block]:
    rows = [_list_cost_row(data, cost) for cost in found["costs"]]
    title = blocks.heading("Cost, time and technology of each successful attack")
    if not rows:
        return [title, blocks.paragraph("No attack clearly beat the baseline attackers.")]
    caption = (
        "Attacks clearly above the baseline attackers. Seconds: of one repeat, mean over repeats. "
        "Lines of knowledge: data needed beside the release. Work that attacks share is counted "
        "with the first."
    )
    return [title, blocks.table(COST_COLUMNS, rows, caption, (2, 3), [1.2, 1.1, 0.5, 0.6, 1.2, 1])]


def _list_cost_row(data: ReportData, cost: dict[str, Any]) -> list[str]:
    lines = "not known" if cost["lines"] is None else f"{cost['lines']:,}"
    return [
        data.view.get_attack(cost["attack"]).title,
        data.title(cost["release"]),
        _format_seconds(cost["cpu_seconds"]),
        _format_seconds(cost["seconds"]),
        f"{lines}: {cost['knowledge']}",
        "; ".join(filter(None, [cost["technology"], cost["device"]])),
    ]


def _format_seconds(seconds: float | None) -> str:
    """ "under 0.1" where two decimals would leave nothing."""
    return "under 0.1" if seconds is not None and seconds < 0.1 else format_number(seconds)


def _build_rest(data: ReportData, found: dict[str, Any]) -> list[Block]:
    """What follows the clauses: actors, costs, guarantees with a justification to fill in,
    residual risk, and the next review."""
    result = [*_build_actors(data, found), *_build_costs(data, found)]
    if found["privacy_guarantees"]:
        rows = [
            [data.title(p["release"]), p["unit"], p["trust_model"], f"{p['epsilon']:g}",
             format_value(p["delta"]), p["justification"]]
            for p in found["privacy_guarantees"]
        ]  # fmt: skip
        heads = ["Release", "Unit", "Trust model", "ε", "δ", "Justification"]
        caption = "Formal guarantees, with the reason why they suffice."
        result.append(blocks.table(heads, rows, caption, (3, 4), [1, 1.3, 1.5, 0.4, 0.4, 1]))
    rest = found["residual_risk"]
    facts = [("Remains", rest["remains"]), ("Accepted by", rest["accepted_by"])]
    facts += [("Review by", rest["review_by"]), ("Sooner where", "; ".join(rest["triggers"]))]
    return [*result, blocks.heading("Residual risk and next review"), blocks.facts(facts)]


def format_markdown(data: ReportData, found: dict[str, Any]) -> str:
    """The assessment as Markdown; user-supplied names are escaped."""
    lines = [f"# Assessment of {escape_markdown(found['graph'])}", ""]
    lines += [escape_markdown(found["decision"] or "No decision: no policy was named."), ""]
    for guidance in found["guidance"]:
        lines += [f"## {guidance['title']}", "", f"{guidance['about']}. {guidance['source']}", ""]
        lines += _format_table(COLUMNS, list_clause_rows(guidance["clauses"], " "))
    for block in _build_rest(data, found):
        if block["kind"] == "heading":
            lines += [f"## {block['text']}", ""]
        elif block["kind"] == "table":
            lines += _format_table(block["columns"], block["rows"])
        elif block["kind"] == "facts":
            pairs = [[row["name"], row["value"]] for row in block["rows"]]
            lines += _format_table(["", ""], pairs)
        else:
            lines += ["".join(span["text"] for span in block["spans"]), ""]
    return "\n".join(lines)


def _format_table(columns: Sequence[str], rows: list[list[str]]) -> list[str]:
    cells = [[escape_markdown(cell) for cell in row] for row in (columns, *rows)]
    head, *body = [f"| {' | '.join(row)} |" for row in cells]
    return [head, "|" + "---|" * len(columns), *body, ""]


def format_dpia(view: AuditView, options: ReportOptions) -> dict[str, str]:
    """File name → text of dpia.md and dpia.json, for internal use in any edition; raises
    InputError for an unknown release."""
    return _format(ReportData(view, replace(options, edition="internal")))


FILES = ("dpia.md", "dpia.json")
"""Files of `write_dpia`."""


def write_dpia(data: ReportData, folder: Path) -> list[Path]:
    """Write dpia.md and dpia.json to `folder`."""
    paths = []
    for name, text in _format(data).items():
        (folder / name).write_text(text, encoding="utf-8")
        paths.append(folder / name)
    return paths


def _format(data: ReportData) -> dict[str, str]:
    found = build_assessment(data)
    text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
    return {"dpia.md": format_markdown(data, found), "dpia.json": text + "\n"}
