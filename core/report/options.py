"""Options of a report, and the restrictions of its editions.

The external edition is checked for disclosure: no row on a single person, no hash of the original,
no seed, no settings that reproduce the noise, and counts as in `core.report.disclosure`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from core.errors import InputError
from core.findings.policy import Policy
from core.findings.risk import Scale

Edition = Literal["internal", "external", "summary"]

SECTION_TITLES: dict[str, str] = {
    "verdict": "Limits of the policy",
    "attacks": "Attacks on the original",
    "risk": "Exposed nodes",
    "releases": "Releases against the original",
    "tradeoff": "Usefulness against risk",
    "leaving": "What leaves",
    "methods": "Methods",
    "threats": "Threat model",
    "graph": "The graph",
    "homophily": "Homophily (GHRatio)",
    "guarantees": "Formal guarantees",
    "standards": "Singling out, linkability and inference",
    "limits": "Missing results and limitations",
    "dpia": "Assessment by clause",
    "glossary": "Glossary",
    "provenance": "Provenance",
    "signoff": "Record of decisions",
}
"""In their order: those of the main part, then those of the annex."""
ANNEX_TITLES: dict[str, str] = {
    "verdict": "Limits of the original, and sources of the limits",
    "attacks": "Every attack on the original",
    "risk": "Exposed nodes by group",
    "tradeoff": "Every attack on every release",
    "methods": "Sources of the methods",
}
"""Of the sections of the main part that go on in the annex."""
SECTIONS = tuple(SECTION_TITLES)
INTERNAL_SECTIONS = ("risk", "homophily", "dpia", "provenance")
"""Not in the external edition."""

FILES: dict[Edition, str] = {
    "internal": "report.pdf",
    "external": "report-external.pdf",
    "summary": "summary.pdf",
}


@dataclass(frozen=True)
class ReportOptions:
    """releases: ids to report (None: all; the original is always included); sections in their
    order.

    edition      full (internal), external, or one page
    policy       policy of the verdict; None: the audit's own
    scale        advantage over the base rate, or the risk itself, in curves and groups
    chosen       the release that was decided for; None: the recommended one

    pseudonyms   nodes appear as N-001, N-002, … by rank; the per-node table of the audit resolves
    them
    """

    releases: tuple[str, ...] | None = None
    sections: tuple[str, ...] = SECTIONS
    title: str = "Privacy audit"
    organisation: str = ""
    reviewer: str = ""
    pseudonyms: bool = True
    edition: Edition = "internal"
    policy: Policy | None = None
    chosen: str | None = None
    scale: Scale = "advantage"

    def __post_init__(self) -> None:
        unknown = [section for section in self.sections if section not in SECTIONS]
        if unknown:
            raise InputError(
                "report section", "must be a known one", unknown[0], "known: " + ", ".join(SECTIONS)
            )

    def fit_edition(self) -> ReportOptions:
        """The options restricted to what their edition allows."""
        if self.edition == "internal":
            return self
        kept = [s for s in self.sections if s not in INTERNAL_SECTIONS]
        kept = kept if self.edition == "external" else []
        return replace(self, sections=tuple(kept), pseudonyms=True)
