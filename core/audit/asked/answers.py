"""The analyst's answers in the guide, and the fields of the audit that they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import Asked, Preset, add_data_independent, choose_attacks
from core.audit.asked.spec_parts import IdentityChoice
from core.graph import Graph

Recipient = Literal["public", "partner", "internal"]
Secret = Literal["links", "attribute", "identity"]
Knowledge = Literal["values", "method", "links", "network"]
Use = Literal["links", "column", "statistics"]

SEEDS_KNOWN: int = IdentityChoice.model_fields["seeds_known"].default


@dataclass(frozen=True)
class Answers:
    """The analyst's answers in the guide.

    named_links  pairs of ids named on Data
    seeds_known  people whom a re-identification attacker has found already, by `choose_seeds`
    """

    recipient: Recipient = "public"
    secrets: tuple[Secret, ...] = ("links",)
    knowledge: tuple[Knowledge, ...] = ()
    uses: tuple[Use, ...] = ("statistics",)
    private: str | None = None
    utility: str | None = None
    legal_basis: str = ""
    named_links: tuple[tuple[str, str], ...] = ()
    seeds_known: int = SEEDS_KNOWN


def choose_seeds(graph: Graph) -> int:
    """The usual number, and on a small graph at most half of the nodes with links."""
    return min(SEEDS_KNOWN, int((graph.degrees > 0).sum()) // 2)


HIDDEN_SHARE = 0.1
"""Share of the links that an audit withholds if none are named."""


def find_obstacle(answers: Answers, graph: Graph) -> str:
    """Why no audit of these answers can start on this graph; "" if one can."""
    if not answers.secrets:
        return "Choose what must not be learned."
    is_drawn = "links" in answers.secrets and not answers.named_links
    if is_drawn and not round(HIDDEN_SHARE * graph.num_edges):
        return "The graph has too few links to withhold some."
    if "identity" in answers.secrets and not graph.num_edges:
        return "The graph has no links by which anybody could be recognised."
    if "column" in answers.uses and answers.utility is None:
        return "Choose the column that they predict."
    if "attribute" in answers.secrets:
        if answers.private not in graph.columns:
            return "Choose the private column."
        counts = graph.column(str(answers.private)).counts
        if (counts > 0).sum() < 2 or counts.max() < 2:
            return "The private column needs two values, one of them shared by two nodes."
    return ""


def runs_adaptive(answers: Answers, preset: Preset) -> bool:
    """Whether each attack also runs adaptively."""
    return "method" in answers.knowledge or preset.adaptive


def make_fields(answers: Answers, preset: Preset, defenses: Sequence[str]) -> dict[str, Any]:
    """Fields of an AuditSpec; defenses: the selected ones of `choose_defenses`."""
    has_links = "links" in answers.secrets
    has_column = "attribute" in answers.secrets and answers.private is not None
    included = "links" in answers.knowledge and has_links
    identity = "identity" in answers.secrets
    asked = Asked(has_links, has_column, identity, included)
    return {
        "private": answers.private if has_column else None,
        "utility": answers.utility,
        "hide_links": HIDDEN_SHARE if has_links and not answers.named_links else None,
        "sensitive_links": (answers.named_links or None) if has_links else None,
        "adaptive": runs_adaptive(answers, preset),
        "released_links": included,
        "identity": {"seeds_known": answers.seeds_known} if identity else None,
        "attacks": choose_attacks(asked, [preset.key]),
        "defenses": add_data_independent(
            [MethodChoice.parse(text, "defense") for text in defenses]
        ),
        "num_repeats": preset.num_repeats,
    }
