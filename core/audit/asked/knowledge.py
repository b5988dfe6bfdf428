"""Attacker knowledge beyond a release: one frozen type per kind, parsed from text once.

standard              the release and the known values or links of the threat
adaptive              the defense and its settings: trains on a shadow release
auxiliary:0.1         private values of a tenth of the nodes, other than the publisher assumed
auxiliary:degree:0.1  the same, preferring high degrees; community: whole communities
composition:3         three releases of the graph; or one of each of several defenses
joint:inferred        infers the other private columns as well; joint:known: knows them
transfer              another graph of the same kind, used for training
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote, unquote

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from core.audit.asked.declared import declare
from core.data.splits import Spread
from core.errors import InputError

JointHow = Literal["inferred", "known"]
PublisherKnows = Literal["none", "public", "column"]
"""Private values a defense may use: none, those known to the assumed attacker, all."""


class _Knowledge(BaseModel):
    """`text` names the knowledge in results and options; `stream` names its random stream, which
    determines results and is therefore never renamed."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: ClassVar[str]

    @property
    def text(self) -> str:
        return self.kind

    @property
    def stream(self) -> str:
        return self.text


class Standard(_Knowledge):
    """The release, and the known values or the share of links that the threat names."""

    kind: ClassVar[str] = "standard"

    @property
    def stream(self) -> str:
        return ""


class Adaptive(_Knowledge):
    """The defense with its settings, rehearsed on shadow releases."""

    kind: ClassVar[str] = "adaptive"

    @property
    def stream(self) -> str:
        return "aware"


class Auxiliary(_Knowledge):
    """Private values of an own set of nodes, selected by `spread`."""

    kind: ClassVar[str] = "auxiliary"
    share: float = Field(gt=0, lt=1)
    spread: Spread = "stratified"

    _STREAMS: ClassVar[dict[Spread, str]] = {
        "stratified": "others",
        "degree": "others_degree",
        "community": "others_community",
    }

    @property
    def place(self) -> str:
        """`0.1` or `degree:0.1`, as in the option."""
        return f"{self.share:g}" if self.spread == "stratified" else f"{self.spread}:{self.share:g}"

    @property
    def text(self) -> str:
        return f"auxiliary:{self.place}"

    @property
    def source(self) -> str:
        """Name of the random stream of the known nodes, equal for all attacks and releases."""
        return self._STREAMS[self.spread]

    @property
    def stream(self) -> str:
        return f"{self.source}:{self.share:g}"


class Composition(_Knowledge):
    """Several releases: `releases` of one defense, or one of each of the `defenses` (ids)."""

    kind: ClassVar[str] = "composition"
    releases: int | None = Field(None, ge=2, le=100)
    defenses: tuple[str, ...] = ()

    @property
    def _value(self) -> str:
        return str(self.releases) if self.releases else quote("|".join(self.defenses), safe="")

    @property
    def text(self) -> str:
        return f"composition:{self._value}"

    @property
    def stream(self) -> str:
        return f"held:{self._value}"


class Joint(_Knowledge):
    """The other private columns, inferred by the same attack or known for all nodes."""

    kind: ClassVar[str] = "joint"
    how: JointHow

    @property
    def text(self) -> str:
        return f"joint:{self.how}"


class Shadow(_Knowledge):
    """Another graph with the private column, used for training."""

    kind: ClassVar[str] = "shadow"

    @property
    def text(self) -> str:
        return "transfer"


Knowledge = Standard | Adaptive | Auxiliary | Composition | Joint | Shadow
STANDARD = Standard()
ADAPTIVE = Adaptive()


def parse_knowledge(text: str) -> Knowledge:
    """Knowledge from its text in results or ids; raises InputError."""
    kind, _, value = text.partition(":")
    if kind in ("", "standard"):
        return STANDARD
    if kind == "adaptive":
        return ADAPTIVE
    if kind == "auxiliary":
        found: Auxiliary = parse_auxiliary(value)
        return found
    if kind == "composition" and value:
        if value.isdecimal():
            return Composition(releases=int(value))
        return Composition(releases=None, defenses=tuple(unquote(value).split("|")))
    if kind == "joint" and value in ("inferred", "known"):
        return Joint.model_validate({"how": value})
    if kind == "transfer":
        return Shadow()
    raise InputError("knowledge of an attacker", "must be a known one", text)


def parse_auxiliary(value: Any) -> Any:
    """`0.1` or `degree:0.1` as Auxiliary; other types are left to pydantic's validation."""
    if not isinstance(value, str | int | float):
        return value
    spread, _, share = str(value).rpartition(":")
    try:
        return Auxiliary.model_validate({"share": float(share), "spread": spread or "stratified"})
    except ValueError:
        raise ValueError(
            "must be shares between 0 and 1, alone or after degree: or community:"
        ) from None


class KnowledgeSpec(BaseModel):
    """Knowledge of further attackers beside the standard one, each a scenario of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    adaptive: bool = Field(
        False,
        title="Adaptive attackers",
        description="Run each attack also by one who knows the defense.",
        json_schema_extra=declare(affects=(), form="attack_form"),
    )
    auxiliary_known: tuple[Annotated[Auxiliary, BeforeValidator(parse_auxiliary)], ...] = Field(
        (),
        title="Further attackers: share of nodes they know",
        description="Further attackers, each knowing such a share of the values, of people of "
        "their own: 0.1, or degree:0.1 for mostly people with many links, community:0.1 for "
        "everybody of some communities.",
        json_schema_extra=declare(affects=(), metavar="SHARE,…", form="threat_form"),
    )
    joint: tuple[JointHow, ...] = Field(
        (),
        title="Attackers who combine the private columns",
        description="With several private columns, attack each also by one who infers, or knows, "
        "the others.",
        json_schema_extra=declare(
            affects=(),
            form="threat_form",
            titles={
                "inferred": "infer all columns together",
                "known": "know the other columns of all nodes",
            },
        ),
    )
    composition: int | None = Field(
        None,
        ge=2,
        le=100,
        title="Composition",
        description="Released links, attacked by one who holds K releases of the same graph.",
        json_schema_extra=declare(affects=(), metavar="K", form="attack_form"),
    )
    hold_every_defense: bool = Field(
        False,
        title="One release of every defense",
        description="Released links, attacked by one who holds a release of each defense.",
        json_schema_extra=declare(affects=(), form="attack_form"),
    )
    shadow_graph: str | None = Field(
        None,
        title="Links of the shadow graph and, if separate, its node table",
        description="Another graph of such nodes, on which an attacker learns the private columns "
        "that it has: its links and, if they are not in that file, its node table.",
        json_schema_extra=declare(
            affects=("transfer",),
            entry="shadow_graph",
            option="--shadow-graph",
            is_generated=False,
            form="second_graph_form",
        ),
    )
    shadow_columns: tuple[str, ...] | None = Field(
        None,
        description="Private columns that it teaches; none named: when an audit starts, all that "
        "it has.",
        json_schema_extra=declare(
            affects=(), option=False, no_control="found from the shadow graph"
        ),
    )

    @property
    def auxiliary(self) -> tuple[Auxiliary, ...]:
        """Distinct attackers with auxiliary values."""
        return tuple(dict.fromkeys(self.auxiliary_known))

    def list_compositions(self, defenses: tuple[str, ...]) -> list[Composition]:
        """Composition attackers if the audit has these defenses (ids)."""
        found = [Composition(releases=self.composition)] if self.composition else []
        if self.hold_every_defense and len(defenses) > 1:
            found.append(Composition(releases=None, defenses=defenses))
        return found
