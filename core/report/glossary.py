"""The glossary of the field, with the terms that this audit uses."""

from __future__ import annotations

from core.findings.glossary import load_glossary
from core.report import blocks
from core.report.blocks import Block
from core.report.data import ReportData

LINKS = ("Link inference",)
ATTRIBUTE = ("Attribute inference", "GHRatio", "Homophily", "Private column", "Role peers")
IDENTITY = ("Re-identification",)
PROMISED = ("Differential privacy", "Edge-DP", "Epsilon", "Link-local DP", "Node-DP")


def build_glossary(data: ReportData) -> list[Block]:
    """Terms in the alphabet's order, but for those of threats and promises that are not here."""
    threats = data.view.spec.threats
    is_used = {
        LINKS: threats.has_links,
        ATTRIBUTE: threats.private is not None,
        IDENTITY: threats.identity is not None,
        PROMISED: any(release.guarantee.is_private for release in data.releases),
    }
    left_out = {term for terms, used in is_used.items() if not used for term in terms}
    terms = [item for item in load_glossary().items() if item[0] not in left_out]
    return [blocks.facts(sorted(terms, key=lambda item: item[0].casefold()))]
