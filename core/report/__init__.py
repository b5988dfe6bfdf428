"""Results → a PDF that a data-protection officer can sign.

options    what the reader chose          material   the chosen part of the audit
opening, findings, closing  the sections  blocks     what they are made of
charts     figures for print              document   JSON + SVG + template → PDF
"""

from core.report.document import render_preview, write_report
from core.report.options import SECTION_TITLES, SECTIONS, ReportOptions, Section

__all__ = [
    "SECTIONS",
    "SECTION_TITLES",
    "ReportOptions",
    "Section",
    "render_preview",
    "write_report",
]
