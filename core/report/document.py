"""The report as a PDF: sections as JSON, set by the template, compiled by typst."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import typst

from core.audit.results.view import AuditSummary, AuditView
from core.audit.store.states import State
from core.findings.decisions import format_day
from core.report.appendix import (
    build_limits,
    build_methods,
    build_provenance,
    build_record,
    build_sources,
)
from core.report.blocks import Block
from core.report.data import ReportData
from core.report.decision_page import build_decision, build_limit_tables, build_verdict
from core.report.dpia import build_dpia, write_dpia
from core.report.glossary import build_glossary
from core.report.graph import build_graph
from core.report.guarantee_cards import build_guarantees
from core.report.leaving import build_leaving
from core.report.mechanisms import build_mechanisms
from core.report.options import ANNEX_TITLES, FILES, SECTION_TITLES, SECTIONS, ReportOptions
from core.report.people import build_risk, build_risk_tables
from core.report.results import (
    build_attack_tables,
    build_attacks,
    build_releases,
    build_tradeoff,
    build_transfer,
)
from core.report.standards import build_standards
from core.report.text import clean_text, escape_uncovered
from core.report.threats import build_threats

TEMPLATE = Path(__file__).parents[2] / "assets" / "report" / "report.typ"
PDF_STANDARD = "ua-1"

Builder = Callable[[ReportData], list[Block]]

MAIN: dict[str, Builder] = {
    "verdict": build_verdict,
    "attacks": build_attacks,
    "risk": build_risk,
    "releases": build_releases,
    "tradeoff": build_tradeoff,
    "leaving": build_leaving,
    "methods": build_methods,
}
ANNEX: dict[str, Builder] = {
    "verdict": build_limit_tables,
    "attacks": build_attack_tables,
    "risk": build_risk_tables,
    "tradeoff": build_transfer,
    "methods": build_sources,
    "threats": build_threats,
    "graph": build_graph,
    "homophily": build_mechanisms,
    "guarantees": build_guarantees,
    "standards": build_standards,
    "limits": build_limits,
    "dpia": build_dpia,
    "glossary": build_glossary,
    "provenance": build_provenance,
    "signoff": build_record,
}
"""What an officer looks up: figures in full, clauses, costs, terms."""


def write_report(view: AuditView, path: str | Path, options: ReportOptions | None = None) -> Path:
    """Write the PDF (tagged, PDF/UA-1) and return its path.

    Deterministic for the same audit and options. Raises InputError for an unknown release.
    """
    return _write_pdf(ReportData(view, (options or ReportOptions()).fit_edition()), Path(path))


def write_editions(
    view: AuditView, folder: Path, options: ReportOptions | None = None
) -> list[Path]:
    """Write report.pdf, report-external.pdf, summary.pdf, dpia.md and dpia.json to `folder`."""
    base, paths = options or ReportOptions(), []
    for edition, name in FILES.items():
        data = ReportData(view, replace(base, edition=edition).fit_edition())
        paths.append(_write_pdf(data, folder / name))
        if edition == "internal":
            paths += write_dpia(data, folder)
    return paths


def render_preview(
    view: AuditView, options: ReportOptions | None = None, ppi: float = 80
) -> list[bytes]:
    """The pages as PNG images."""
    return _compile(ReportData(view, (options or ReportOptions()).fit_edition()), "png", ppi)


def build_content(view: AuditView, options: ReportOptions) -> tuple[dict[str, Any], dict[str, str]]:
    """Content of the template as JSON, and the figures: file name → SVG."""
    data = ReportData(view, options.fit_edition())
    return _build(data), data.images


def _build(data: ReportData) -> dict[str, Any]:
    view, options = data.view, data.options
    spec = view.spec
    chosen = [section for section in SECTIONS if section in options.sections]
    if spec.threats.private is None and not spec.threats.has_links:
        chosen = [section for section in chosen if section != "homophily"]
    sections = [
        {"title": titles[key], "key": key, "annex": builders is ANNEX, "blocks": found}
        for builders, titles in ((MAIN, SECTION_TITLES), (ANNEX, SECTION_TITLES | ANNEX_TITLES))
        for key in chosen
        if key in builders and (found := builders[key](data))
    ]
    return {
        "title": clean_text(options.title, 120) or "Privacy audit",
        "subtitle": _format_audit(view.summary),
        "organisation": clean_text(options.organisation, 120),
        "reviewer": clean_text(options.reviewer, 120),
        "date": format_day(view.summary.created),
        "audit": clean_text(view.summary.id, 40),
        "state": _describe_state(view.summary.state),
        "mark": _describe_edition(options),
        "summary": build_decision(data),
        "sections": sections,
    }


def _format_audit(summary: AuditSummary) -> str:
    """The audit's name and, unless it begins with it, its graph."""
    graph, name = clean_text(summary.graph_name, 120), clean_text(summary.name, 120)
    return (name or graph) if name.startswith(graph) or not name else f"{name} ({graph})"


def _describe_state(state: State) -> str:
    if state == State.DONE:
        return ""
    return (
        f"This audit is {state}: these are the results so far. A release that not every attack "
        "was tried on may look safer than it is."
    )


def _describe_edition(options: ReportOptions) -> str:
    if options.edition == "external":
        return "External edition"
    if options.edition == "summary":
        return "Summary on one page"
    return "Nodes appear under pseudonyms" if options.pseudonyms else "Contains personal data"


def _write_pdf(data: ReportData, path: Path) -> Path:
    path.write_bytes(_compile(data, "pdf")[0])
    return path


def _compile(data: ReportData, format: str, ppi: float = 0) -> list[bytes]:
    content = _build(data)
    settings: dict[str, Any] = {"format": format, "timestamp": int(data.created.timestamp())}
    if format == "pdf":
        settings["pdf_standards"] = [PDF_STANDARD]
    else:
        settings["ppi"] = ppi
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "report.typ").write_bytes(TEMPLATE.read_bytes())
        for name, svg in data.images.items():
            (root / name).write_text(svg, encoding="utf-8")

        def run(content: dict[str, Any], with_system_fonts: bool) -> list[bytes]:
            text = json.dumps(content, ensure_ascii=False)
            (root / "content.json").write_text(text, encoding="utf-8")
            made = typst.compile(
                str(root / "report.typ"),
                root=str(root),
                ignore_system_fonts=not with_system_fonts,
                **settings,
            )
            return made if isinstance(made, list) else [made]

        escaped = escape_uncovered(content)
        if escaped == content:
            return run(content, False)
        # Names in other scripts: the system's fonts may have them; else show code points.
        try:
            return run(content, True)
        except typst.TypstError:
            return run(escaped, False)
