"""What the reader of a report chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from core.errors import InputError

Section = Literal[
    "threats",
    "graph",
    "attacks",
    "releases",
    "risk",
    "homophily",
    "tradeoff",
    "guarantees",
    "limits",
    "sources",
    "provenance",
    "signoff",
]
SECTIONS: tuple[Section, ...] = get_args(Section)

SECTION_TITLES: dict[Section, str] = {
    "threats": "Purpose and threats",
    "graph": "The graph",
    "attacks": "What an adversary could learn",
    "releases": "Before and after",
    "risk": "Who is exposed",
    "homophily": "Why structure gives people away",
    "tradeoff": "Usefulness against risk",
    "guarantees": "What each release promises",
    "limits": "What is missing, and limits",
    "sources": "Methods and their sources",
    "provenance": "Provenance",
    "signoff": "Decision and sign-off",
}


@dataclass(frozen=True)
class ReportOptions:
    """releases: ids to report (None: all; the original always stays); sections in their order.

    pseudonyms   people appear as N-001, N-002, … by rank; the per-node table of the same audit
                 tells who is who
    """

    releases: tuple[str, ...] | None = None
    sections: tuple[Section, ...] = SECTIONS
    title: str = "Privacy audit"
    organisation: str = ""
    reviewer: str = ""
    pseudonyms: bool = True

    def __post_init__(self) -> None:
        unknown = [section for section in self.sections if section not in SECTIONS]
        if unknown:
            raise InputError(
                "report section", "must be a known one", unknown[0], "known: " + ", ".join(SECTIONS)
            )
