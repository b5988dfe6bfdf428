"""Results → a PDF that a data-protection officer can sign.

options    what the reader chose, and editions    data      the chosen part of the audit
decision_page, threats, graph, results, mechanisms, promises, standards, dpia, glossary, appendix
           the sections                           blocks    what they are made of
guidance, evidence, actors                        what officers file, clause by clause
charts     figures for print                      document  JSON + SVG + template → PDF
gate       the verdict for pipelines
"""

from core.report.document import render_preview, write_editions, write_report
from core.report.dpia import format_dpia, write_dpia
from core.report.options import FILES, SECTION_TITLES, SECTIONS, Edition, ReportOptions

__all__ = [
    "FILES",
    "SECTIONS",
    "SECTION_TITLES",
    "Edition",
    "ReportOptions",
    "format_dpia",
    "render_preview",
    "write_dpia",
    "write_editions",
    "write_report",
]
