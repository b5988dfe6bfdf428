"""Results → a PDF that a data-protection officer can sign.

options    what the reader chose          material   the chosen part of the audit
opening, findings, closing  the sections  blocks     what they are made of
verdict, standards  what comes first, and what the rules ask
editions   internal, external, one page
charts     figures for print              document   JSON + SVG + template → PDF
"""

from core.report.document import render_preview, write_editions, write_report
from core.report.editions import FILES
from core.report.options import SECTION_TITLES, SECTIONS, Edition, ReportOptions, Section

__all__ = [
    "FILES",
    "SECTIONS",
    "SECTION_TITLES",
    "Edition",
    "ReportOptions",
    "Section",
    "render_preview",
    "write_editions",
    "write_report",
]
