"""What an audit is asked to do: one frozen, serialisable record."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.data.release_columns import Rule
from core.data.splits import Evaluation
from core.errors import InputError
from core.methods import ATTACK_KINDS, Kind, Method
from core.registry import make_method, parse_method


class MethodChoice(BaseModel):
    """A method by key with all its settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    config: dict[str, Any] = Field(default_factory=dict)

    @staticmethod
    def parse(text: str, *kinds: Kind) -> MethodChoice:
        """The choice that `KEY:field=value,…` on the command line names."""
        return MethodChoice.of(parse_method(text, *kinds))

    @staticmethod
    def of(method: Method) -> MethodChoice:
        """The choice that makes this method again."""
        return MethodChoice(key=method.info.key, config=method.config)

    def make(self, *kinds: Kind) -> Method:
        """The configured method, of one of these kinds; raises InputError."""
        return make_method(self.key, self.config, *kinds)

    @property
    def id(self) -> str:
        """`key`, or `key:name=value,…` with the settings that differ from their defaults."""
        method = self.make()
        changed = [
            f"{name}={value}"
            for name, value in method.config.items()
            if value != type(method).model_fields[name].get_default(call_default_factory=True)
        ]
        return f"{self.key}:{','.join(changed)}" if changed else self.key


class IdentityChoice(BaseModel):
    """What an attacker on identities holds: a second graph of the same people, and seeds."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    overlap: float = Field(
        0.9, gt=0, le=1, description="Share of the links in the simulated second graph."
    )
    noise: float = Field(
        0.0, ge=0, le=1, description="Links added to it at random, as a share of the links."
    )
    seeds_known: int = Field(20, ge=0, description="People whom the attacker has found already.")
    auxiliary_graph: str | None = Field(
        None, description="SHA-256 of a second graph that is used instead of a simulated one."
    )


PLACES = r"^(degree|community):0?\.[0-9]+$"

Joint = Literal["inferred", "known"]
"""What an attacker has of the other private columns: what it infers, or all of them."""

PublisherKnows = Literal["none", "public", "column"]
"""What of the private values a defense may use: nothing, what the assumed attacker knows, all."""


class AuditSpec(BaseModel):
    """Names the graph by its content, the threats, the methods and the repeats.

    The original graph is always audited, as release "original"; it is not listed as a defense.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    graph_name: str = Field("graph", description="How the graph is called in the report.")
    graph_hash: str = Field(description="SHA-256 of the graph's content.")
    private: str | None = Field(None, description="Column that must stay private.")
    more_private: tuple[str, ...] = Field(
        (), description="Further private columns, attacked on the same releases."
    )
    utility: str | None = Field(None, description="Column that the recipient wants to predict.")
    known: float = Field(
        0.1, gt=0, lt=1, description="Share of the nodes whose private value the adversary knows."
    )
    attacker_known: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = Field(
        (),
        description="Shares of the values that further attackers know, of people of their own.",
    )
    attacker_places: tuple[Annotated[str, Field(pattern=PLACES)], ...] = Field(
        (),
        description="Further attackers who know people of some places: degree:SHARE, those with "
        "many links rather, or community:SHARE, everybody of some communities.",
    )
    publisher_knows: PublisherKnows = Field(
        "public",
        description="What of the private values a defense uses: none, those that the assumed "
        "attacker knows too, or the whole column.",
    )
    groups: tuple[str, ...] = Field(
        (), description="Columns by whose groups the attackers' gain is compared."
    )
    joint: tuple[Joint, ...] = Field(
        (),
        description="With several private columns: attack each also by one who infers, or knows, "
        "the others.",
    )
    shadow_graph: str | None = Field(
        None,
        description="SHA-256 of another graph with private columns of the same names, of which an "
        "attacker knows everybody's values and learns.",
    )
    attacker_columns: tuple[str, ...] | None = Field(
        None,
        description="Private columns that it teaches; none named: when an audit starts, all that "
        "it has.",
    )
    hide_links: float | None = Field(
        None, gt=0, lt=1, description="Share of the links drawn as sensitive and withheld."
    )
    sensitive_links: tuple[tuple[str, str], ...] | None = Field(
        None, description="Sensitive links chosen by the analyst, as pairs of node ids."
    )
    test_links: float = Field(
        0.1, ge=0, lt=0.5, description="Share of the links held back to measure usefulness."
    )
    evaluation: Evaluation = Field(
        "uniform",
        description="Non-links that attacks on links must tell from withheld links: any, such "
        "whose ends have as many links, or, both sides alike, at distance two.",
    )
    utility_train: float = Field(
        0.3, gt=0, lt=1, description="Share of the nodes with a known utility label."
    )
    identity: IdentityChoice | None = Field(
        None, description="What an attacker on identities holds; none: not audited."
    )
    publish_columns: tuple[str, ...] | None = Field(
        None, description="Columns that leave with the graph; none named: as each format has it."
    )
    generalize: tuple[str, ...] = Field(
        (), description="How columns are made coarser: COLUMN:RULE each, such as age:bin=10."
    )
    leave_out: tuple[str, ...] = Field((), description="Ids of people who are left out.")
    adaptive: bool = Field(
        False,
        description="Run each attack on links and columns also by one who knows the defense.",
    )
    released_links: bool = Field(
        False, description="Attack what went into a release: which of its links are real?"
    )
    releases_held: int | None = Field(
        None, ge=2, le=100, description="Releases of the same graph that an attacker holds at once."
    )
    hold_every_defense: bool = Field(
        False,
        description="An attacker on released links holds a release of each defense of the audit.",
    )
    attacks: tuple[MethodChoice, ...] = ()
    defenses: tuple[MethodChoice, ...] = ()
    num_repeats: int = Field(
        5, ge=1, le=100, description="Repeats; each draws new splits and noise."
    )
    root_seed: int = Field(0, ge=0, description="Repeats with the same root seed are identical.")
    policy: dict[str, Any] | None = Field(
        None, description="Release policy that the verdict goes by; it changes no result."
    )
    purpose: dict[str, str] = Field(
        default_factory=dict,
        description="What was said of the release: recipient, knowledge, use, legal basis.",
    )

    @staticmethod
    def check_spec(fields: dict[str, Any]) -> AuditSpec:
        """An AuditSpec of a JSON object, all methods checked, or InputError."""
        try:
            spec = AuditSpec.model_validate(fields)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            raise InputError(
                f"spec field '{name}'", first["msg"].lower(), first.get("input")
            ) from None
        for text in spec.generalize:
            Rule.parse(text)
        for choice in spec.attacks:
            choice.make(*ATTACK_KINDS)
        for choice in spec.defenses:
            choice.make("defense")
        has_columns = spec.private is not None or spec.identity is not None
        if not (spec.has_link_threat or has_columns or spec.has_released_threat):
            raise InputError(
                "audit", "must have a threat", remedy="name a private column or hide some links"
            )
        if spec.joint and not (spec.private and spec.more_private):
            raise InputError(
                "joint inference",
                "needs at least two private columns",
                remedy="name --private twice",
            )
        if spec.shadow_graph is not None and spec.private is None:
            raise InputError("attacker's graph", "needs a private column", remedy="name --private")
        for column in spec.attacker_columns or ():
            if column not in (spec.private, *spec.more_private):
                raise InputError(
                    "column taught by the attacker's graph",
                    "must be a private one",
                    column,
                    "leave attacker_columns out of the spec to teach what the graph has",
                )
        return spec.normalized()

    def normalized(self) -> AuditSpec:
        """The same audit with all settings written out and methods named once each."""
        return self.model_copy(
            update={
                "attacks": _normalize(self.attacks, *ATTACK_KINDS),
                "defenses": _normalize(self.defenses, "defense"),
            }
        )

    @property
    def taught(self) -> tuple[str, ...]:
        """Private columns that the attacker's graph teaches, in the order of the private ones;
        the first where none are named, as specs had it that name none."""
        if self.shadow_graph is None or self.private is None:
            return ()
        if self.attacker_columns is None:
            return (self.private,)
        named = (self.private, *self.more_private)
        return tuple(column for column in named if column in self.attacker_columns)

    @property
    def has_released_threat(self) -> bool:
        """Whether the released links the releases are attacked."""
        return self.released_links or self.releases_held is not None or self.hold_every_defense

    @property
    def has_link_threat(self) -> bool:
        return self.hide_links is not None or self.sensitive_links is not None


def _normalize(choices: tuple[MethodChoice, ...], *kinds: Kind) -> tuple[MethodChoice, ...]:
    full = [MethodChoice.of(choice.make(*kinds)) for choice in choices]
    return tuple({choice.id: choice for choice in full}.values())
