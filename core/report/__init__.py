"""The PDF report and the other documents of an audit.

options    the reader's choices and the editions    data      the selected part of the audit
decision_page, page_one, results, people, leaving, threats, graph, mechanisms, guarantee_cards,
standards, dpia, glossary, appendix   the sections  blocks    their building blocks
guidance, evidence, actors                          the assessment by clauses
charts     figures for print                        document  JSON + SVG + template → PDF
gate       the verdict for pipelines
"""

from core.report.document import render_preview, write_editions, write_report
from core.report.dpia import format_dpia
from core.report.options import FILES, SECTION_TITLES, SECTIONS, Edition, ReportOptions

__all__ = [
    "FILES",
    "SECTIONS",
    "SECTION_TITLES",
    "Edition",
    "ReportOptions",
    "format_dpia",
    "render_preview",
    "write_editions",
    "write_report",
]
