"""Specification of an audit: one frozen, serialisable record.

Each option is a field of one part, declared once: type and bounds give the check, the message, the
option on the command line and the control in the app, its description the help. Names are unique
over the parts, so that fields may also be given flat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo

from core.audit.asked.declared import declare
from core.audit.asked.knowledge import KnowledgeSpec, PublisherKnows
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec_parts import (
    PARTS,
    DisclosureSpec,
    IdentityChoice,
    Measured,
    ThreatSpec,
    nest_fields,
)
from core.data.loaded import ColumnUse
from core.data.release_columns import Rule
from core.defenses.external import EXTERNAL
from core.errors import InputError, validate
from core.methods import ATTACK_KINDS, Kind
from core.nouns import NOUNS, Noun, NounKey, propose_noun

TitleField = Callable[[str], str]
"""Path of a field, such as `threats.known`, → how a message names it."""


def title_field(path: str) -> str:
    """A field of a file; options and controls have names of their own."""
    names = ".".join(name for name in path.split(".") if name not in PARTS)
    return f"spec field '{names}'" if names else "spec:"


def list_models() -> list[type[BaseModel]]:
    """Models whose fields are options of an audit."""
    return [*PARTS.values(), IdentityChoice, AuditSpec]


def list_spec_fields() -> dict[str, FieldInfo]:
    """Name → declaration of every field, those of parts included; their names are unique."""
    listed = (model.model_fields.items() for model in list_models())
    return {name: field for fields in listed for name, field in fields if name not in PARTS}


def find_field(path: str) -> tuple[str, FieldInfo] | None:
    """Name and declaration of the field at a path, of the innermost part; None for no field."""
    fields = list_spec_fields()
    names = [name for name in path.split(".") if name in fields]
    return (names[-1], fields[names[-1]]) if names else None


MAX_REPEATS = 100

SET_BY_SEARCH = ("confirmation_error", "must_keep", "original_repeats")
"""Fields that only a search sets: an audit with the settings of a confirmation confirms nothing."""


class PartedSpec(BaseModel):
    """Parts shared by audits and publishing runs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    graph_hash: str = Field(
        description="SHA-256 of the graph's content.",
        json_schema_extra=declare(entry="graph", option=False, no_control="the open graph"),
    )
    threats: ThreatSpec = Field(default_factory=lambda: ThreatSpec.model_validate({}))
    disclosure: DisclosureSpec = Field(default_factory=lambda: DisclosureSpec.model_validate({}))

    @model_validator(mode="before")
    @classmethod
    def _nest(cls, fields: Any) -> Any:
        return nest_fields(fields) if isinstance(fields, Mapping) else fields

    @classmethod
    def check_fields(cls, fields: Mapping[str, Any], title: TitleField = title_field) -> Self:
        """Spec of nested or flat fields; raises InputError.

        title  names the field at a path in the message
        """
        return validate(cls, fields, title)

    def update(self, **fields: Any) -> Self:
        """The spec with some fields replaced, given flat; validated."""
        return self.check_fields({**nest_fields({**self.model_dump(), **fields})})


class AuditSpec(PartedSpec):
    """Graph by content hash, threats, methods and repeats.

    The original graph is always audited, as release "original"; it is not listed as a defense.

    >>> from core.audit.asked.spec import AuditSpec
    >>> fields = {"graph_hash": "0" * 64, "hide_links": 0.1, "attacks": [{"key": "katz"}]}
    >>> spec = AuditSpec.check_spec(fields)
    >>> spec.threats.hide_links, spec.num_repeats, spec.attacks[0].id
    (0.1, 5, 'katz')
    """

    graph_name: str = Field(
        "graph",
        description="How the graph is called in the report.",
        json_schema_extra=declare(affects=(), option=False, no_control="the open graph's"),
    )
    noun: NounKey = Field(
        "people",
        description="What the nodes are called in sentences; by default by the graph's name. It "
        "changes no result.",
        json_schema_extra=declare(affects=(), no_control="chosen for the graph, not for an audit"),
    )
    knowledge: KnowledgeSpec = Field(default_factory=lambda: KnowledgeSpec.model_validate({}))
    publisher_knows: PublisherKnows = Field(
        "column",
        title="Private values that a defense uses",
        description="What of the private values a defense uses: none, those that the assumed "
        "attacker knows too (public), or the whole column. A publishing run gives it the same; of "
        "whom attackers know must then be named, or a release made with public is for review.",
        json_schema_extra=declare(
            affects=("release",),
            entry="publisher_knows",
            form="threat_form",
            titles={
                "public": "the values known to the attacker",
                "column": "the whole column",
                "none": "nothing",
            },
        ),
    )
    groups: tuple[str, ...] = Field(
        (),
        title="Compare groups by",
        description="Columns by whose groups the attackers' advantage is compared.",
        json_schema_extra=declare(
            affects=(), option="--group", metavar="COLUMN", form="threat_form"
        ),
    )
    control: float | None = Field(
        None,
        gt=0,
        le=0.5,
        description="Share of the nodes of whom no link and no private value goes into a release; "
        "the same attackers are tried on them, to show what being in it adds.",
        json_schema_extra=declare(
            metavar="SHARE", no_control="an expert's setting of the command line"
        ),
    )
    test_links: float = Field(
        0.1,
        ge=0,
        lt=0.5,
        description="Share of the links held back to measure usefulness.",
        json_schema_extra=declare(entry="links", no_control="a detail of usefulness"),
    )
    held_back_links: tuple[tuple[str, str], ...] | None = Field(
        None,
        description="Links held back to measure usefulness, as pairs of node ids; instead of a "
        "share.",
        json_schema_extra=declare(
            entry="held_back",
            option=False,
            no_control="a list of pairs is a file on the command line",
        ),
    )
    external_release: str | None = Field(
        None,
        title="Links of the anonymised file",
        description="SHA-256 of a release that was made elsewhere, the one that is judged.",
        json_schema_extra=declare(
            affects=("release",), entry="external", option=False, form="external_form"
        ),
    )
    held_releases: tuple[str, ...] = Field(
        (),
        description="SHA-256 of further releases of the graph, which the attacker holds beside "
        "that one.",
        json_schema_extra=declare(
            affects=("release",),
            entry="external",
            option=False,
            no_control="further files on the command line",
        ),
    )
    external_match: str = Field(
        "",
        max_length=600,
        description="How nodes were matched with it where pseudonyms are unknown.",
        json_schema_extra=declare(
            affects=(), option=False, no_control="written by the matching of nodes"
        ),
    )
    measures: tuple[Measured, ...] | None = Field(
        None,
        description="What is measured on releases; none named: all but the queries of PGB.",
        json_schema_extra=declare(
            affects=(), option=False, no_control="the usual ones are measured"
        ),
    )
    attacks: tuple[MethodChoice, ...] = Field(
        (),
        description="An attack, those of a preset (quick, standard, thorough), or 'all'; may be "
        "repeated.",
        json_schema_extra=declare(
            affects=(), option="--attack", is_generated=False, no_control="forms of the methods"
        ),
    )
    defenses: tuple[MethodChoice, ...] = Field(
        (),
        description="A defense, its setting of strength as one value or as 'sweep' for five, "
        "'all', or a command of your own, 'command:./anonymise {in} {out}'; may be repeated.",
        json_schema_extra=declare(
            affects=(), option="--defense", is_generated=False, no_control="forms of the methods"
        ),
    )
    num_repeats: int = Field(
        5,
        ge=1,
        le=MAX_REPEATS,
        title="Repeats",
        description="Repeats; each draws new splits and noise.",
        json_schema_extra=declare(affects=(), option="--repeats", form="run_form"),
    )
    stop_early: bool = Field(
        False,
        title="Stop early once the decision is clear",
        description="End the audit before its last repeat once more repeats could not change the "
        "policy's decision on any release; the error of stopping too early is at most 5 %.",
        json_schema_extra=declare(affects=(), form="guide_form"),
    )
    confirmation_error: float | None = Field(
        None,
        gt=0,
        le=0.05,
        description="For the confirmation of what a search chose: largest probability of a wrong "
        "“publish”, instead of 5 %; the audit then also ends where no number of its repeats would "
        "prove a limit.",
        json_schema_extra=declare(affects=(), option=False, no_control="set by a search"),
    )
    must_keep: dict[str, float] = Field(
        default_factory=dict,
        description="For the confirmation of what a search chose: measure of usefulness and the "
        "share of the original's that a release must keep; others do not end it.",
        json_schema_extra=declare(affects=(), option=False, no_control="set by a search"),
    )
    original_repeats: int | None = Field(
        None,
        ge=0,
        description="For a search, which judges defended releases: repeats in which the original "
        "is attacked too; otherwise all.",
        json_schema_extra=declare(affects=(), option=False, no_control="set by a search"),
    )
    root_seed: int = Field(
        0,
        ge=0,
        description="Seed of the whole audit; repeats with the same one are identical.",
        json_schema_extra=declare(
            entry="root_seed", no_control="an expert's setting of the command line"
        ),
    )
    policy: dict[str, Any] | None = Field(
        None,
        description="Release policy that the decision goes by; it changes no result, and exit code "
        "3 tells that none may be published.",
        json_schema_extra=declare(
            affects=(), option="--policy", is_generated=False, no_control="chosen as a whole"
        ),
    )
    purpose: dict[str, str] = Field(
        default_factory=dict,
        description="Answers on the release: recipient, knowledge, use, legal basis.",
        json_schema_extra=declare(affects=(), option=False, no_control="answers of the guide"),
    )
    input_columns: tuple[ColumnUse, ...] = Field(
        (),
        description="Every column of the files that the graph was read from, and its use; empty "
        "for a graph of the catalogue or of a script.",
        json_schema_extra=declare(affects=(), option=False, no_control="found by reading"),
    )
    note: str = Field(
        "",
        max_length=500,
        description="A note that is kept in audit.json and printed in the report.",
        json_schema_extra=declare(affects=(), no_control="a text of the command line"),
    )

    @model_validator(mode="before")
    @classmethod
    def _propose_noun(cls, fields: Any) -> Any:
        if not isinstance(fields, Mapping) or fields.get("noun") is not None:
            return fields
        return {**fields, "noun": propose_noun(str(fields.get("graph_name", "")))}

    @staticmethod
    def check_spec(fields: Mapping[str, Any], title: TitleField = title_field) -> AuditSpec:
        """AuditSpec of a JSON object with all methods validated; raises InputError."""
        spec = AuditSpec.check_fields(fields, title)
        threats, knowledge = spec.threats, spec.knowledge
        for text in spec.disclosure.generalize:
            Rule.parse(text)
        for choice in spec.attacks:
            choice.make(*ATTACK_KINDS)
        for choice in spec.defenses:
            choice.make("defense")
        has_columns = threats.private is not None or threats.identity is not None
        if not (threats.has_links or has_columns or spec.attacks_released_links):
            raise InputError(
                "audit", "must have a threat", remedy="name a private column or hide some links"
            )
        _check_external(spec)
        if spec.control is not None and threats.evaluation != "uniform":
            raise InputError(
                "control people",
                "need non-links of any kind",
                threats.evaluation,
                "leave out --control or choose --evaluation uniform",
            )
        if (spec.stop_early or spec.confirmation_error) and spec.policy is None:
            raise InputError("stop_early", "needs a policy", remedy="choose a policy")
        if knowledge.joint and len(threats.columns) < 2:
            raise InputError(
                "joint inference",
                "needs at least two private columns",
                remedy="name --private twice",
            )
        if knowledge.shadow_graph is not None and threats.private is None:
            raise InputError("shadow graph", "needs a private column", remedy="name --private")
        for column in knowledge.shadow_columns or ():
            if column not in threats.columns:
                raise InputError(
                    "column of the shadow graph",
                    "must be a private one",
                    column,
                    "leave shadow_columns out of the spec to teach what the graph has",
                )
        return spec.normalized()

    def normalized(self) -> AuditSpec:
        """The same audit with all settings explicit and no duplicate methods."""
        return self.model_copy(
            update={
                "attacks": _normalize(self.attacks, *ATTACK_KINDS),
                "defenses": _normalize(self.defenses, "defense"),
            }
        )

    @property
    def nodes(self) -> Noun:
        """The nodes in a sentence."""
        return NOUNS[self.noun]

    @property
    def shadow_targets(self) -> tuple[str, ...]:
        """Private columns for which the shadow graph is used, in order; by default the first."""
        columns, named = self.threats.columns, self.knowledge.shadow_columns
        if self.knowledge.shadow_graph is None:
            return ()
        return columns[:1] if named is None else tuple(c for c in columns if c in named)

    @property
    def external_releases(self) -> tuple[str, ...]:
        """The external release under judgement and those held beside it; empty without one."""
        return (self.external_release, *self.held_releases) if self.external_release else ()

    @property
    def attacks_released_links(self) -> bool:
        """Whether released links are attacked, in one release or in a composition."""
        known = self.knowledge
        several = known.composition is not None or known.hold_every_defense
        return self.threats.released_links or several


def _check_external(spec: AuditSpec) -> None:
    """Raise InputError if an external release is missing or combined with options that need a
    defense."""
    is_named = any(choice.key == EXTERNAL for choice in spec.defenses)
    if is_named != (spec.external_release is not None):
        raise InputError(
            "release made elsewhere",
            "must be given together with its file",
            remedy="use the command judge",
        )
    if is_named and spec.num_repeats != 1:
        raise InputError("repeats", "must be 1 for a release made elsewhere", spec.num_repeats)
    if is_named and spec.control is not None:
        raise InputError(
            "control people",
            "cannot be left out of a release made elsewhere",
            spec.control,
            "leave out --control",
        )
    if is_named and spec.knowledge.adaptive:
        raise InputError(
            "adaptive attackers",
            "need a defense that can be run again",
            remedy="leave them out for a release made elsewhere",
        )
    held = len(spec.external_releases) if spec.held_releases else None
    if (is_named or spec.held_releases) and spec.knowledge.composition != held:
        raise InputError(
            "composition",
            "must be the number of releases made elsewhere that the attacker holds",
            spec.knowledge.composition,
            "name each release by --held-release",
        )


def _normalize(choices: tuple[MethodChoice, ...], *kinds: Kind) -> tuple[MethodChoice, ...]:
    full = [MethodChoice.of(choice.make(*kinds)) for choice in choices]
    return tuple({choice.id: choice for choice in full}.values())
