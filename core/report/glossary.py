"""The glossary, restricted to terms that this audit uses."""

from __future__ import annotations

from core.findings.glossary import load_glossary
from core.findings.labels import is_data_independent
from core.report import blocks
from core.report.blocks import Block
from core.report.data import ReportData

LINKS = ("Link inference",)
ATTRIBUTE = ("Attribute inference", "GHRatio", "Homophily", "Private column", "Role peers")
IDENTITY = ("Re-identification",)
GUARANTEED = ("Differential privacy", "Edge-DP", "Epsilon", "Link-local DP", "Node-DP")
CONTROL = ("Control nodes",)
COMPARED = ("Data-independent baseline",)
UTILITY = ("Utility column",)
KNOWLEDGE = {
    "Adaptive attacker": "adaptive",
    "Auxiliary knowledge": "auxiliary",
    "Composition": "composition",
    "Shadow graph": "transfer",
}
"""Term → parts of the attack ids that it explains."""


def build_glossary(data: ReportData) -> list[Block]:
    """Terms in alphabetical order, without those that do not occur in this audit."""
    spec, ran = data.view.spec, " ".join(data.results.method.unique())
    is_used: dict[tuple[str, ...], bool] = {
        LINKS: spec.threats.has_links,
        ATTRIBUTE: spec.threats.private is not None,
        IDENTITY: spec.threats.identity is not None,
        GUARANTEED: any(release.guarantee.is_private for release in data.releases),
        CONTROL: spec.control is not None,
        COMPARED: any(map(is_data_independent, data.ids)),
        UTILITY: spec.disclosure.utility is not None,
        **{(term,): mark in ran for term, mark in KNOWLEDGE.items()},
    }
    left_out = {term for terms, used in is_used.items() if not used for term in terms}
    terms = [item for item in load_glossary().items() if item[0] not in left_out]
    return [blocks.facts(sorted(terms, key=lambda item: item[0].casefold()))]
