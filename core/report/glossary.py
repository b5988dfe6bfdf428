"""The glossary, restricted to terms that this audit uses."""

from __future__ import annotations

from core.audit.asked.knowledge import Adaptive, Auxiliary, Composition, Shadow
from core.findings.glossary import load_glossary
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
KNOWLEDGE: dict[str, type] = {
    "Adaptive attacker": Adaptive,
    "Auxiliary knowledge": Auxiliary,
    "Composition": Composition,
    "Shadow graph": Shadow,
}
"""Term → knowledge of attackers that it explains."""


def build_glossary(data: ReportData) -> list[Block]:
    """Terms in alphabetical order, without those that do not occur in this audit."""
    spec = data.view.spec
    known = {type(attack.knowledge) for attack in data.results.attack if attack is not None}
    is_used: dict[tuple[str, ...], bool] = {
        LINKS: spec.threats.has_links,
        ATTRIBUTE: spec.threats.private is not None,
        IDENTITY: spec.threats.identity is not None,
        GUARANTEED: any(release.guarantee.is_private for release in data.releases),
        CONTROL: spec.control is not None,
        COMPARED: any(summary.info.is_data_independent for summary in data.releases),
        UTILITY: spec.disclosure.utility is not None,
        **{(term,): kind in known for term, kind in KNOWLEDGE.items()},
    }
    left_out = {term for terms, used in is_used.items() if not used for term in terms}
    terms = [item for item in load_glossary().items() if item[0] not in left_out]
    return [blocks.facts(sorted(terms, key=lambda item: item[0].casefold()))]
