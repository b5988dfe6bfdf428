"""Three papers of one audit: the internal report, the external one, a summary on one page.

The external edition is checked for disclosure: it has no row on a person, no hash of the
original, no seed, no settings that repeat the noise, and no exact count below ten.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from core.report.material import FEW
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

_NOUNS = (
    "people|persons?|nodes?|links?|pairs?|cases?|classes|members?|neighbou?rs?|components?|"
    "negative|positive|hidden|sensitive|others|isolated"
)
_COUNT = re.compile(rf"(?<![\w.,=−-])[0-9](?![\d.,]*\d)(?= (?:of [\d,]+ |more )?(?:{_NOUNS})\b)")

_ONE = re.compile(rf"{FEW} (person|node|link|pair|case|class|member|neighbou?r|component)\b")
_MANY = {"person": "people", "class": "classes"}
"""What was one and is fewer than ten is told in the plural."""


def blur_counts(content: Any) -> Any:
    """The same JSON content; a count below ten of people or links is no longer told."""
    if isinstance(content, str):
        blurred = _COUNT.sub(FEW, content)
        return _ONE.sub(lambda found: f"{FEW} {_MANY.get(found[1], f'{found[1]}s')}", blurred)
    if isinstance(content, dict):
        return {key: blur_counts(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [blur_counts(value) for value in content]
    return content


def fit_options(options: ReportOptions) -> ReportOptions:
    """The options as their edition allows them."""
    if options.edition == "external":
        kept = tuple(s for s in options.sections if s in EXTERNAL_SECTIONS)
        return replace(options, sections=kept, pseudonyms=True)
    if options.edition == "summary":
        return replace(options, sections=(), pseudonyms=True)
    return options
