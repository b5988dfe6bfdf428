"""Three papers of one audit: the internal report, the external one, a summary on one page.

The external edition is checked for disclosure: it has no row on a person, no hash of the
original, no seed, no settings that repeat the noise, and counts as `core.report.disclosure` has
them.
"""

from __future__ import annotations

from dataclasses import replace

from core.report.options import Edition, ReportOptions, Section

EXTERNAL_SECTIONS: tuple[Section, ...] = (
    "verdict",
    "threats",
    "graph",
    "attacks",
    "releases",
    "tradeoff",
    "guarantees",
    "standards",
    "limits",
    "sources",
    "glossary",
    "signoff",
)
FILES: dict[Edition, str] = {
    "internal": "report.pdf",
    "external": "report-external.pdf",
    "summary": "summary.pdf",
}


def fit_options(options: ReportOptions) -> ReportOptions:
    """The options as their edition allows them."""
    if options.edition == "external":
        kept = tuple(s for s in options.sections if s in EXTERNAL_SECTIONS)
        return replace(options, sections=kept, pseudonyms=True)
    if options.edition == "summary":
        return replace(options, sections=(), pseudonyms=True)
    return options
