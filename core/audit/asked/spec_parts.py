"""Parts of a specification: what is secret and who knows what of it, and what is published.

Names are unique over the parts, so that fields may also be given flat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.audit.asked.declared import PRIVATE_COLUMN, declare
from core.audit.asked.knowledge import KnowledgeSpec
from core.data.release_columns import LINK_PREFIX, Rule
from core.data.splits import Evaluation, Spread
from core.words import list_names

Measured = Literal["homophily", "structure", "utility", "pairs", "queries"]
"""Names of `core.audit.asked.parts.PARTS`."""


class IdentityChoice(BaseModel):
    """Knowledge of a re-identification attacker: an auxiliary graph and seeds."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    overlap: float = Field(
        0.9,
        gt=0,
        le=1,
        title="Links in common",
        description="Share of the links in the simulated second graph.",
        json_schema_extra=declare(
            affects=("identity",), entry="identity", form="second_graph_form"
        ),
    )
    noise: float = Field(
        0.0,
        ge=0,
        le=1,
        title="Wrong links",
        description="Links added to it at random, as a share of the links.",
        json_schema_extra=declare(
            affects=("identity",), entry="identity", form="second_graph_form"
        ),
    )
    seeds_known: int = Field(
        20,
        ge=0,
        title="Nodes already identified",
        description="People whom the attacker has found already.",
        json_schema_extra=declare(
            affects=("identity",), entry="identity", form="second_graph_form"
        ),
    )
    auxiliary_graph: str | None = Field(
        None,
        title="Links of the second graph (same ids)",
        description="A second graph of the same nodes; else one is simulated by sampling.",
        json_schema_extra=declare(
            affects=("identity",),
            entry="identity",
            option="--auxiliary-graph",
            is_generated=False,
            form="second_graph_form",
        ),
    )


class ThreatSpec(BaseModel):
    """The secrets, and the attackers' assumed knowledge of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    private: str | None = Field(
        None,
        title="Private column",
        description="Column that must stay private.",
        json_schema_extra=declare(
            affects=PRIVATE_COLUMN,
            entry="attribute",
            option="--private",
            is_generated=False,
            form="threat_form",
        ),
    )
    more_private: tuple[str, ...] = Field(
        (),
        title="Further private columns",
        description="Further private columns, attacked on the same releases.",
        json_schema_extra=declare(
            affects=("joint",), entry="columns", option=False, form="threat_form"
        ),
    )
    known: float = Field(
        0.1,
        gt=0,
        lt=1,
        title="Share of nodes whose value the attacker knows",
        description="Share of the nodes whose private value the attacker knows.",
        json_schema_extra=declare(affects=PRIVATE_COLUMN, entry="attribute", form="threat_form"),
    )
    known_spread: Spread = Field(
        "stratified",
        title="Nodes whose value the attacker knows",
        description="Which nodes make up the share that the attacker knows: drawn within each "
        "class (stratified), with probability rising with their links (degree), or all of some "
        "communities (community).",
        json_schema_extra=declare(
            affects=PRIVATE_COLUMN,
            form="attack_form",
            titles={
                "stratified": "random nodes of each class",
                "degree": "mostly nodes with many links",
                "community": "everybody of some communities",
            },
        ),
    )
    wrong_values: float = Field(
        0.0,
        ge=0,
        lt=1,
        title="Share of known private values that are wrong",
        description="Share of the private values known to attackers that are wrong: another class, "
        "drawn at random.",
        json_schema_extra=declare(affects=("attribute", "joint", "transfer"), form="attack_form"),
    )
    known_people: tuple[str, ...] | None = Field(
        None,
        description="Ids of the people whose private values the attacker knows, "
        "instead of a share.",
        json_schema_extra=declare(
            affects=PRIVATE_COLUMN,
            entry="attribute",
            option=False,
            no_control="a list of ids is a file on the command line",
        ),
    )
    hide_links: float | None = Field(
        None,
        gt=0,
        lt=1,
        title="Share of the links",
        description="Share of the links drawn as sensitive and withheld.",
        json_schema_extra=declare(
            entry="links", option="--hide-links", is_generated=False, form="threat_form"
        ),
    )
    sensitive_links: tuple[tuple[str, str], ...] | None = Field(
        None,
        title="Sensitive links",
        description="Sensitive links chosen by the analyst, as pairs of node ids.",
        json_schema_extra=declare(entry="links", option=False, form="threat_form"),
    )
    evaluation: Evaluation = Field(
        "uniform",
        title="Compare withheld links with",
        description="Non-links that attacks on links must tell from withheld links: random ones "
        "(uniform), those whose ends have the degrees of a withheld link's (degree_matched), or "
        "pairs with a common neighbour, of withheld links too (distance_2).",
        json_schema_extra=declare(
            form="attack_form",
            titles={
                "uniform": "random pairs without a link",
                "degree_matched": "pairs with the same degrees",
                "distance_2": "pairs with a common neighbour",
            },
        ),
    )
    released_links: bool = Field(
        False,
        title="Released links",
        description="Attack the released links: which of them are real?",
        json_schema_extra=declare(affects=(), form="attack_form"),
    )
    identity: IdentityChoice | None = Field(
        None,
        description="Audit re-identification: can nodes be found by their links or columns?",
        json_schema_extra=declare(
            affects=("identity",),
            entry="identity",
            option="--identity",
            is_generated=False,
            no_control="its own fields have controls",
        ),
    )

    @model_validator(mode="after")
    def _check_main(self) -> Self:
        if self.more_private and self.private is None:
            raise ValueError("more_private needs a main private column: name it as private")
        return self

    @property
    def has_links(self) -> bool:
        """Whether links are withheld."""
        return self.hide_links is not None or self.sensitive_links is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """All private columns, the main one first."""
        return () if self.private is None else (self.private, *self.more_private)


class DisclosureSpec(BaseModel):
    """Published columns, and the recipient's use."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    utility: str | None = Field(
        None,
        title="Utility column",
        description="Column that the recipient wants to predict.",
        json_schema_extra=declare(
            affects=("release", "measure"),
            entry="utility",
            option="--utility",
            is_generated=False,
            form="threat_form",
        ),
    )
    utility_train: float = Field(
        0.3,
        gt=0,
        lt=1,
        description="Share of the nodes with a known utility label.",
        json_schema_extra=declare(
            affects=("release", "measure"), entry="utility", no_control="a detail of one measure"
        ),
    )
    publish_columns: tuple[str, ...] | None = Field(
        None,
        title="Columns to publish",
        description="Columns that leave with the graph, and no others; 'none' for none. Not "
        "named: the utility column alone, though attackers are taken to see all features; with "
        "--generalize the generalised columns too, and no others (in a specification without "
        "published columns all features as well). Of "
        "links: link.COLUMN; their weights leave unless others of links are named and link.weight "
        "is not; link.none for none of them.",
        json_schema_extra=declare(entry="graph", metavar="COLUMN[,…]", form="columns_form"),
    )
    generalize: tuple[str, ...] = Field(
        (),
        title="Generalise column",
        description="How columns are made coarser, such as age:bin=10: bin=WIDTH, cap=VALUE, "
        "round=DIGITS, digits=SIGNIFICANT, rare=PEOPLE, shared=PEOPLE (as fine as so many share "
        "each value), year, month, day; times of links: shift.",
        json_schema_extra=declare(entry="graph", metavar="COLUMN:RULE", form="columns_form"),
    )
    leave_out: tuple[str, ...] = Field(
        (),
        title="Ids of excluded nodes, one per line",
        description="Ids of nodes to leave out, one a line, such as people who objected; no "
        "release and no attack includes them.",
        json_schema_extra=declare(
            entry="graph", option="--leave-out", is_generated=False, form="columns_form"
        ),
    )

    @property
    def names_columns(self) -> bool:
        """Whether the published columns are chosen, so that all formats contain exactly those."""
        return bool(self.generalize) or self.publish_columns is not None


def fill_published(fields: Mapping[str, Any], keeps_columns: bool = True) -> dict[str, Any]:
    """The flat fields with the published columns named where columns are made coarser and none is
    chosen: these and the utility column, so that no other leaves beside them.

    keeps_columns  whether the defense publishes any

    Columns of links leave only if they are published by name, their weights as ever.
    """
    rules = list_names(fields.get("generalize") or ())
    if fields.get("publish_columns") is not None or not rules or not keeps_columns:
        return dict(fields)
    columns = [Rule.parse(text).column for text in rules]
    utility = [fields["utility"]] if fields.get("utility") else []
    kept = [name for name in (*columns, *utility) if not name.startswith(LINK_PREFIX)]
    return {**fields, "publish_columns": list(dict.fromkeys(kept))}


PARTS: dict[str, type[BaseModel]] = {
    "threats": ThreatSpec,
    "disclosure": DisclosureSpec,
    "knowledge": KnowledgeSpec,
}


def nest_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields nested into their parts, whether given nested or flat."""
    nested = {name: value for name, value in fields.items() if name not in PARTS}
    for part, model in PARTS.items():
        flat = {name: nested.pop(name) for name in model.model_fields if name in nested}
        given = fields.get(part, {})
        if isinstance(given, BaseModel):
            given = given.model_dump()
        if flat and isinstance(given, Mapping):
            given = {**given, **flat}
        if part in fields or flat:
            nested[part] = given
    return nested
