"""Methods: what every attack and defense is, and the lists of those that exist.

A method is a frozen, keyword-only pydantic model with a class-level `info` and one verb. Its
fields' bounds, units and help texts are declared once and give the check, the error message,
the form in the app and the option on the command line.

To add one: write `core/<group>/<key>.py`, its test, and one line in the list of that group's
`__init__.py`. Method files import torch inside functions only: the app's server lists methods
without loading it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from core.context import Context
from core.errors import InputError
from core.graph import Graph
from core.release import Release
from core.results import ClassProbabilities, PairScores
from core.threats import AttributeThreat, LinkThreat, Threats

Kind = Literal["link_attack", "attribute_attack", "defense"]


@dataclass(frozen=True)
class MethodInfo:
    """key: file name, test name, name in scripts.

    summary   one line: what the attacker or defense does
    source    citation: authors, title, venue, year, and the equation where it matters
    cost      how time grows: "instant", "seconds", "minutes"
    group     heading in the app: "heuristics", "embeddings", … / a defense's promise:
              "empirical", "edge DP", "link-local DP", "node DP"
    is_null   a null attacker: the baseline that a real attack must beat
    uses_gpu  trains something; gets a GPU worker where there is one
    version   raise it when results change, so that stored cells are not reused
    claim_blind_spot  what a check of the promise cannot see in this method's releases
    """

    key: str
    title: str
    summary: str
    source: str
    group: str
    cost: Literal["instant", "seconds", "minutes"] = "instant"
    is_null: bool = False
    uses_gpu: bool = False
    version: int = 1
    claim_blind_spot: str = ""


class Method(BaseModel, ABC):
    """Base of all methods: validated settings, no state."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    info: ClassVar[MethodInfo]
    kind: ClassVar[Kind]

    @property
    def config(self) -> dict[str, Any]:
        """All settings, as JSON holds them."""
        return self.model_dump(mode="json")

    @property
    def label(self) -> str:
        """The title with the settings that differ from their defaults."""
        changed = {
            name: value
            for name, value in self.config.items()
            if value != type(self).model_fields[name].get_default(call_default_factory=True)
        }
        settings = ", ".join(f"{name} = {value}" for name, value in changed.items())
        return f"{self.info.title} ({settings})" if settings else self.info.title

    @property
    def remark(self) -> str:
        """What is worth knowing about just these settings; shown below their form."""
        return ""


class LinkAttack(Method):
    """Scores pairs by how likely they are hidden links of a release."""

    kind: ClassVar[Kind] = "link_attack"

    def supports(self, release: Release, threat: LinkThreat) -> str | None:
        """None if the attack can run, else the reason, shown to the user."""
        return None

    @abstractmethod
    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        """Scores of `threat.pairs`; uses nothing of the threat but the pairs' ends."""


class AttributeAttack(Method):
    """Infers the private attribute of the hidden nodes."""

    kind: ClassVar[Kind] = "attribute_attack"

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        return None

    @abstractmethod
    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        """Probabilities for all nodes; reads values through `threat.observed` only."""


class Defense(Method):
    """Makes a release of a graph."""

    kind: ClassVar[Kind] = "defense"

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        return None

    @abstractmethod
    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        """A release of `graph` (= `threats.visible`); never mutates it."""


def list_methods(kind: Kind | None = None) -> list[type[Method]]:
    """All methods in the order of their lists."""
    from core.attacks.attribute import ATTRIBUTE_ATTACKS
    from core.attacks.link import LINK_ATTACKS
    from core.defenses import DEFENSES

    methods: list[type[Method]] = [*LINK_ATTACKS, *ATTRIBUTE_ATTACKS, *DEFENSES]
    return [m for m in methods if kind is None or m.kind == kind]


def find_method(key: str, *kinds: Kind) -> type[Method]:
    methods = [m for m in list_methods() if not kinds or m.kind in kinds]
    for method in methods:
        if method.info.key == key:
            return method
    noun = " or ".join(kind.replace("_", " ") for kind in kinds) or "method"
    raise InputError(
        noun, "must be a known key", key, "known: " + ", ".join(m.info.key for m in methods)
    )


def make_method(key: str, config: dict[str, Any] | None = None, *kinds: Kind) -> Method:
    """The method `key` with the given settings; InputError names setting, rule and value."""
    method = find_method(key, *kinds)
    try:
        return method.model_validate(config or {})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        fields = ", ".join(method.model_fields) or "none"
        raise InputError(
            f"{key}: parameter '{name}'",
            first["msg"].lower(),
            first.get("input"),
            f"parameters: {fields}",
        ) from None


def parse_method(text: str, *kinds: Kind) -> Method:
    """A method from its text on the command line, `KEY[:name=value,…]`."""
    key, _, rest = text.partition(":")
    config: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        name, sign, value = item.partition("=")
        if not sign:
            raise InputError(f"{key}: parameter", "must be written name=value", item)
        config[name.strip()] = value.strip()
    return make_method(key.strip(), config, *kinds)


def describe_methods() -> list[dict[str, Any]]:
    """Every method with its parameters as JSON schema, for `core methods --json`."""
    return [
        {
            "kind": method.kind,
            "key": method.info.key,
            "title": method.info.title,
            "summary": method.info.summary,
            "source": method.info.source,
            "group": method.info.group,
            "cost": method.info.cost,
            "is_null": method.info.is_null,
            "parameters": method.model_json_schema(),
        }
        for method in list_methods()
    ]
