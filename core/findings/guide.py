"""The analyst's answers → an audit: threats, what attackers know, preset, defenses, policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.audit.data_independent import add_data_independent
from core.audit.presets import PRESETS, Preset, list_released_attacks
from core.audit.spec import MethodChoice
from core.findings.policy import find_policy
from core.registry import list_methods

Recipient = Literal["public", "partner", "internal"]
Secret = Literal["links", "attribute", "identity"]
Knowledge = Literal["values", "method", "links", "network"]
Use = Literal["links", "column", "statistics"]

RECIPIENTS: dict[Recipient, str] = {
    "public": "Anybody: it is published",
    "partner": "A partner under contract",
    "internal": "Colleagues, in a controlled room",
}
SECRETS: dict[Secret, str] = {
    "links": "Who is linked to whom",
    "attribute": "A private column",
    "identity": "Who is who",
}
KNOWLEDGE: dict[Knowledge, str] = {
    "values": "The private value of some people",
    "method": "How I defended the graph",
    "links": "The release, and doubts whether its links are real",
    "network": "Another network of the same people",
}
USES: dict[Use, str] = {
    "links": "Predicting or recommending links",
    "column": "Predicting a column",
    "statistics": "Statistics of the network",
}
MAX_DEFENSES = 3


@dataclass(frozen=True)
class Advice:
    """A defense worth trying; `secrets` that it is against and `uses` that it keeps."""

    defense: str
    secrets: tuple[Secret, ...]
    uses: tuple[Use, ...]
    recipients: tuple[Recipient, ...]
    reason: str


DEFENSES = (
    Advice("edge_rand:epsilon=3", ("links",), ("column", "statistics"), ("public", "partner"),
           "any single link can be denied, with a proof: ε = 3 for one link"),
    Advice("priv_graph:epsilon=3", ("links", "identity"), ("statistics",), ("public",),
           "a synthetic network with the groups and degrees of the true one; ε = 3 for one link"),
    Advice("k_degree_anonymity", ("identity",), ("links", "column", "statistics"),
           ("public", "partner", "internal"),
           "nobody stands out by their number of links any more; adds few links"),
    Advice("random_rewiring", ("attribute", "links"), ("column", "statistics"),
           ("public", "partner", "internal"),
           "breaks the likeness of neighbours that gives values away; takes an instant"),
    Advice("random_deletion", ("links", "attribute"), ("links", "column", "statistics"),
           ("partner", "internal"),
           "keeps only true links and loses a share of them; the least it can cost"),
    Advice("rw_lp", ("links",), ("links", "column"), ("partner", "internal"),
           "replaces links by near pairs, so that groups and predictions survive"),
    Advice("dice", ("attribute",), ("column", "links"), ("partner", "internal"),
           "takes links away at people with something to hide and adds others elsewhere"),
)  # fmt: skip
"""In the order in which they are proposed where several fit equally."""


@dataclass(frozen=True)
class Answers:
    """What the analyst said on the first page."""

    recipient: Recipient = "public"
    secrets: tuple[Secret, ...] = ("links",)
    knowledge: tuple[Knowledge, ...] = ()
    uses: tuple[Use, ...] = ("statistics",)
    private: str | None = None
    utility: str | None = None
    legal_basis: str = ""


def choose_defenses(answers: Answers) -> list[Advice]:
    """At most three, the best fit first: against what is secret, for whom, keeping the use."""
    secrets, uses = set(answers.secrets), set(answers.uses)

    def rank(advice: Advice) -> tuple[int, int, int]:
        fits = answers.recipient in advice.recipients
        return (
            -len(secrets & set(advice.secrets)),
            -int(fits),
            -len(uses & set(advice.uses)),
        )

    against = [advice for advice in DEFENSES if secrets & set(advice.secrets)]
    return sorted(against, key=rank)[:MAX_DEFENSES]


def make_fields(
    answers: Answers, preset: Preset, defenses: Sequence[str] | None = None
) -> dict[str, Any]:
    """Fields of an AuditSpec; defenses: those that were kept, None: all proposed ones."""
    has_links = "links" in answers.secrets
    has_column = "attribute" in answers.secrets and answers.private is not None
    keys = preset.choose_attacks(has_links, has_column)
    included = "links" in answers.knowledge and has_links
    if included:
        keys += [method.info.key for method in list_released_attacks()]
    identity = "identity" in answers.secrets
    if identity:
        keys += [
            method.info.key
            for method in list_methods("identity_attack")
            if method.info.is_baseline or method.info.cost in preset.costs
        ]
    chosen = [a.defense for a in choose_defenses(answers)] if defenses is None else defenses
    return {
        "private": answers.private if has_column else None,
        "utility": answers.utility,
        "hide_links": 0.1 if has_links else None,
        "sensitive_links": None,
        "aware": "method" in answers.knowledge or preset.adaptive,
        "released_links": included,
        "identity": {} if identity else None,
        "attacks": [MethodChoice(key=key) for key in keys],
        "defenses": add_data_independent([MethodChoice.parse(text, "defense") for text in chosen]),
        "num_repeats": preset.num_repeats,
        "policy": find_policy(answers.recipient).model_dump(mode="json"),
        "purpose": describe_answers(answers),
    }


def describe_answers(answers: Answers) -> dict[str, str]:
    """What the report repeats under “Purpose and recipient”."""
    secrets = [SECRETS[s] for s in answers.secrets]
    if "attribute" in answers.secrets and answers.private is not None:
        secrets.append(f"column {answers.private}")
    uses = [USES[u] for u in answers.uses]
    if "column" in answers.uses and answers.utility is not None:
        uses.append(f"column {answers.utility}")
    said = {
        "recipient": RECIPIENTS[answers.recipient],
        "knowledge": ", ".join(KNOWLEDGE[k] for k in answers.knowledge) or "nothing beyond it",
        "secrets": ", ".join(secrets),
        "use": ", ".join(uses),
        "legal_basis": answers.legal_basis,
    }
    return {key: text for key, text in said.items() if text}


def find_preset(key: str) -> Preset:
    """A preset by its key."""
    return next(preset for preset in PRESETS if preset.key == key)


def explain_preset(preset: Preset, recipient: Recipient) -> str:
    """Whether the preset is thorough enough for the policy to clear anything."""
    policy = find_policy(recipient)
    enough = set(policy.allowed_costs) <= set(preset.costs)
    if enough and preset.num_repeats >= policy.repeats:
        return f"Can clear a release for “{policy.title}”."
    return f"Can refuse a release for “{policy.title}”, not clear one."
