"""Base classes of attacks and defenses; `core.registry` lists the methods.

A method is a frozen, keyword-only pydantic model with a class-level `info` and one verb. Its
fields' bounds, units and help texts are declared once and give the check, the error message, the
form in the app and the option on the command line.

To add one: write `core/<group>/<key>.py`, its test, and one line in the list of that group's
`__init__.py`. Method files import torch inside functions only, since the app's server lists methods
without loading it.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from core.context import Context
from core.errors import validate
from core.graph import Graph
from core.release import EMPIRICAL, Guarantee, Release
from core.results import AnonymitySets, ClassProbabilities, Matches, PairScores
from core.threats import AttributeThreat, IdentityThreat, LinkThreat, Threats
from core.words import format_value

Cost = Literal["instant", "seconds", "minutes"]
"""Growth of a method's time with the graph."""

Kind = Literal["link_attack", "attribute_attack", "identity_attack", "defense"]

UnitInterval = Annotated[float, Field(ge=0, le=1)]
OpenUnitInterval = Annotated[float, Field(gt=0, lt=1)]

NEEDS_LINKS = "needs withheld links to protect; choose which on the Data page, or with --hide-links"
NEEDS_PRIVATE = "needs a private column to protect; choose one on the Data page, or with --private"
NEEDS_SEEDS = "needs nodes already identified; set how many on the Data page, or with --seeds-known"
NEEDS_FEATURES = "needs features, and the release has none"
THIS_SIZE = "on a graph of this size"
"""Reasons of `supports`; the last one is part of those that end where the graph is smaller."""

EMPIRICAL_GROUP = "empirical"
"""Group of the defenses without a privacy guarantee."""

ATTACK_KINDS: tuple[Kind, ...] = ("link_attack", "attribute_attack", "identity_attack")
KINDS: tuple[Kind, ...] = (*ATTACK_KINDS, "defense")


@dataclass(frozen=True)
class MethodInfo:
    """key: file name, test name, name in scripts.

    summary   one line: what the attack or defense does
    source    citation: authors, title, venue, year, and the equation if relevant
    group     heading in the app: "heuristics", "embeddings", … / guarantee of a defense:
    "empirical", "edge DP", "link-local DP", "node DP"
    is_baseline  a baseline attacker
    is_blind  a baseline that uses neither links nor columns, so that it exposes nobody
    uses_gpu  trains a model; preferably runs on a GPU worker
    version   increase when results change, so that stored cells are not reused
    claim_blind_spot  what a claim check cannot observe in this method's releases
    """

    key: str
    title: str
    summary: str
    source: str
    group: str
    cost: Cost = "instant"
    is_baseline: bool = False
    is_blind: bool = False
    uses_gpu: bool = False
    version: int = 1
    claim_blind_spot: str = ""


@dataclass(frozen=True)
class Strength:
    """The setting that states how strongly a defense acts, and the range worth trying.

    setting            name of the field
    weakest, strongest values at the ends of the range; the weakest one changes the graph least
    is_log             whether even steps are ratios, as for ε
    in_title           whether titles state it at its default too
    """

    setting: str
    weakest: float
    strongest: float
    is_log: bool = False
    in_title: bool = True

    def list_values(self, count: int) -> list[float]:
        """Values from the weakest to the strongest, in even steps, of three significant digits."""
        space = np.geomspace if self.is_log else np.linspace
        return [float(f"{value:.3g}") for value in space(self.weakest, self.strongest, count)]


@dataclass(frozen=True)
class Suggestion:
    """When the guide proposes a defense.

    place       among equally suitable ones, the lower first
    secrets     it protects: "links", "attribute", "identity"
    uses        it preserves: "links", "column", "statistics"
    reason      what it does, to follow its title
    recipients  "public", "partner", "internal"
    limit       name of the policy's limit on its ε; "" without one
    is_learned  trained on this graph for its threat; one such is proposed per secret if possible
    """

    place: int
    secrets: tuple[str, ...]
    uses: tuple[str, ...]
    reason: str
    recipients: tuple[str, ...] = ("public", "partner", "internal")
    limit: str = ""
    is_learned: bool = False


SYMBOLS: Mapping[str, str] = {"epsilon": "ε", "delta": "δ", "alpha": "α"}
"""How settings are written in titles."""


class Method(BaseModel, ABC):
    """Base of all methods: validated settings, no state.

    whole_text: name of the single setting that takes the whole text after the key; "" if settings
    are written name=value. acts_by: the setting that is its strength; None without one. rehearses:
    whether an attack gains by a rule that changes links. partitioned: whether it takes a graph
    whose links are kept in partitions (core.partitioned.graph), and never asks for all of them.
    symbols: setting → how titles write it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    info: ClassVar[MethodInfo]
    kind: ClassVar[Kind]
    whole_text: ClassVar[str] = ""
    acts_by: ClassVar[Strength | None] = None
    rehearses: ClassVar[bool] = True
    partitioned: ClassVar[bool] = False
    symbols: ClassVar[Mapping[str, str]] = SYMBOLS

    def __new__(cls, **fields: Any) -> Self:
        """Raises InputError, as all of a user's mistakes do, for settings that are not valid."""
        if fields:
            names = f"parameters: {', '.join(cls.model_fields) or 'none'}"
            validate(cls, fields, cls.title_setting, names)
        return super().__new__(cls)

    @classmethod
    def title_setting(cls, path: str) -> str:
        """What messages call a setting, or all of them."""
        return f"{cls.info.key}: parameter '{path or 'settings'}'"

    @property
    def reads_partitions(self) -> bool:
        """`partitioned`, with these settings."""
        return self.partitioned

    @property
    def inner_methods(self) -> tuple[Method, ...]:
        """Methods that it runs itself: a new version of one is a new version of it."""
        return ()

    @property
    def config(self) -> dict[str, Any]:
        """All settings as JSON."""
        return self.model_dump(mode="json")

    @property
    def changed(self) -> dict[str, Any]:
        """Settings that differ from their defaults, as JSON."""
        usual = {
            name: field.get_default(call_default_factory=True)
            for name, field in type(self).model_fields.items()
        }
        return {name: value for name, value in self.config.items() if value != usual[name]}

    @property
    def work_key(self) -> tuple[str, str]:
        """The method with its settings, in keys of `Context.share`."""
        return self.info.key, json.dumps(self.config, sort_keys=True)

    @property
    def finds_strength(self) -> bool:
        """Whether it finds its strength itself, by trying several."""
        return False

    def vary(self, count: int) -> list[Self]:
        """This method at up to `count` strengths, the weakest first; itself without a setting that
        is its strength, or where it finds it."""
        if self.acts_by is None or self.finds_strength:
            return [self]
        name = self.acts_by.setting
        is_whole = type(self).model_fields[name].annotation is int
        values = [round(v) if is_whole else v for v in self.acts_by.list_values(count)]
        return [type(self).model_validate({**self.config, name: v}) for v in dict.fromkeys(values)]

    @property
    def label(self) -> str:
        """The title with the settings that differ from their defaults."""
        settings = ", ".join(f"{name} = {value}" for name, value in self.changed.items())
        return f"{self.info.title} ({settings})" if settings else self.info.title

    @property
    def title(self) -> str:
        """The title with the strength, as the recipient gets it, and changed settings:
        "EdgeRand (ε = 6)"; "Blink (2ε = 12)" if both ends report a link."""
        return self._write_title(self.changed)

    @property
    def short_title(self) -> str:
        """`title` with the strength and switches that are on alone."""
        return self._write_title([name for name, value in self.changed.items() if value is True])

    @property
    def phrase(self) -> str:
        """`title` in a sentence: "EdgeRand at ε = 6", "Random deletion at strength 0.5"."""
        settings = " and ".join(self._list_settings(self.changed))
        settings = re.sub(r"\b([a-z_]{2,}) = ", r"\1 ", settings)
        return f"{self.info.title} at {settings}" if settings else self.info.title

    def _write_title(self, shown: Collection[str]) -> str:
        settings = ", ".join(self._list_settings(shown))
        return f"{self.info.title} ({settings})" if settings else self.info.title

    def _list_settings(self, shown: Collection[str]) -> list[str]:
        names = [name for name in self.config if name == self._titled or name in shown]
        return [self._describe_setting(name) for name in names]

    @property
    def _titled(self) -> str:
        """The setting that titles always state; "" without one."""
        strength = self.acts_by
        return strength.setting if strength is not None and strength.in_title else ""

    def _describe_setting(self, name: str) -> str:
        """ "ε = 6"; a switch that is on is shown by its title alone."""
        value = self.config[name]
        if value is True:
            title = type(self).model_fields[name].title or name.replace("_", " ")
            return title[0].lower() + title[1:]
        symbol, times = self.describe_sign(name)
        text = format_value(times * value) if isinstance(value, float) else str(value)
        return f"{symbol} = {text}"

    def describe_sign(self, name: str) -> tuple[str, float]:
        """How titles write a setting, and the multiple of its value that they state."""
        return self.symbols.get(name, name.replace("_", " ")), 1.0


class LinkAttack(Method):
    """Scores pairs by how likely they are withheld links of a release.

    threats: "link", links withheld from the release, or "included", which links of the release are
    real and which real links were released. reads_several: combines several releases of one graph.
    is_local: pairs without a common neighbour rank last and equally. is_slow: time per pair
    matters. describes_score: the first column of `describe` is the score. needs_features: a release
    without features gives it nothing to compare.
    """

    kind: ClassVar[Kind] = "link_attack"
    threats: ClassVar[tuple[str, ...]] = ("link",)
    reads_several: ClassVar[bool] = False
    is_local: ClassVar[bool] = False
    is_slow: ClassVar[bool] = False
    describes_score: ClassVar[bool] = True
    needs_features: ClassVar[bool] = False

    def supports(self, release: Release, threat: LinkThreat) -> str | None:
        """None if the attack applies, else the reason, shown to the user."""
        return NEEDS_FEATURES if self.needs_features and release.graph.features is None else None

    @abstractmethod
    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        """Scores of `threat.pairs`; uses nothing of the threat but the pairs' ends."""

    def describe(self, release: Release, threat: LinkThreat, context: Context) -> np.ndarray:
        """(k, c) features of each of `threat.pairs`, from which an adaptive attacker learns: the
        score, and both degrees."""
        scores = self.score(release, threat, context).scores
        degrees = np.sort(release.graph.degrees[threat.pairs], axis=1)
        return np.column_stack([scores, np.log1p(degrees)])


class AttributeAttack(Method):
    """Infers the private attribute of the hidden nodes.

    reads_links: whether it uses links, not published columns alone. selects: rank among the attacks
    that select others on known values, the first one preferred; None for all others.
    needs_features: a release without features gives it nothing to learn from.
    reads_all_evidence: combines links and columns on known values without other attacks.
    reads_weights: whether it learns what a link of each weight tells of its ends; others take
            weights as strengths at most, or not at all.
    """

    kind: ClassVar[Kind] = "attribute_attack"
    reads_links: ClassVar[bool] = True
    selects: ClassVar[int | None] = None
    reads_all_evidence: ClassVar[bool] = False
    reads_weights: ClassVar[bool] = False
    needs_features: ClassVar[bool] = False
    holds_out: ClassVar[bool] = False
    """Whether its default settings return `held_out` with the probabilities."""
    transfers: ClassVar[bool] = False
    """Whether it can train on a shadow graph, with `infer_from`."""
    transfer_version: ClassVar[int] = 1
    """Increase when results with a shadow graph change; those without it are kept."""

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        """None if the attack applies; otherwise the reason, shown to the user."""
        return NEEDS_FEATURES if self.needs_features and release.graph.features is None else None

    def list_members(self) -> tuple[AttributeAttack, ...]:
        """Base models of this attack; an audit computes them first."""
        return ()

    @abstractmethod
    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        """Probabilities for all nodes; uses values through `threat.observed` only."""

    def infer_from(
        self, other: Graph, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        """As `infer`, with a shadow graph whose nodes' values are known."""
        raise NotImplementedError(f"{self.info.key} learns from no other graph")


class IdentityAttack(Method):
    """Re-identifies nodes of a pseudonymous release from background knowledge.

    links_networks: whether it finds the nodes of one network in another. needs_seeds: whether it
    starts from nodes already identified. finds_by: the part of a release by which it finds people:
    links, columns of the nodes, or values of the links.
    """

    kind: ClassVar[Kind] = "identity_attack"
    links_networks: ClassVar[bool] = False
    needs_seeds: ClassVar[bool] = False
    finds_by: ClassVar[Literal["links", "columns", "values"]] = "links"

    def reads_column(self, name: str) -> bool:
        """Whether it finds people by this column of the nodes, where it leaves."""
        return self.finds_by == "columns"

    def supports(self, release: Release, threat: IdentityThreat) -> str | None:
        """None if the attack applies; otherwise the reason, shown to the user."""
        return NEEDS_SEEDS if self.needs_seeds and not len(threat.seeds) else None

    @abstractmethod
    def find(
        self, release: Release, threat: IdentityThreat, context: Context
    ) -> AnonymitySets | Matches:
        """Sets for what is known of each person, matches for a second graph of them."""


class Defense(Method):
    """Makes a release of a graph.

    is_reported_twice: both ends of a link report it, so that a recipient gets 2ε of it.
    changes_graph: whether it does anything to links or columns that an attacker could rehearse.
    keeps_columns: whether columns leave with its releases as with the original.
    renames_nodes: whether ids are replaced when a release is written.
    suggestion: when the guide proposes it; None: never.

    >>> from core import find_method, load_graph
    >>> from core.context import Context
    >>> from core.seeding import Seed
    >>> from core.threats import Threats
    >>> graph, defense = load_graph("karate"), find_method("random_deletion")(strength=0.5)
    >>> defense.publish(graph, Threats(graph), Context(Seed(0))).graph
    Graph('karate', nodes=34, links=39)
    """

    kind: ClassVar[Kind] = "defense"
    is_reported_twice: ClassVar[bool] = False
    changes_graph: ClassVar[bool] = True
    keeps_columns: ClassVar[bool] = True
    renames_nodes: ClassVar[bool] = False
    suggestion: ClassVar[Suggestion | None] = None

    def describe_sign(self, name: str) -> tuple[str, float]:
        """ "2ε" and 2 if both ends report a link, as the guarantee of its recipient has it."""
        symbol, times = super().describe_sign(name)
        is_twice = name == "epsilon" and self.is_reported_twice
        return (f"2{symbol}", 2.0) if is_twice else (symbol, times)

    @property
    def keeps_nodes(self) -> bool:
        """Whether node i of a release is node i of the graph, not any of them at random."""
        return True

    @property
    def needs_links(self) -> bool:
        """Whether it protects given links, so that what is published needs them named."""
        return False

    @property
    def reads_values(self) -> bool:
        """Whether its releases depend on the private values that `Threats.attribute` tells. Others'
        defenses are taken to unless they say otherwise."""
        return not type(self).__module__.startswith("core.")

    @property
    def untried(self) -> str:
        """What no attack tries on its releases, which are to be reviewed therefore; or ""."""
        return ""

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        """None if it can run; otherwise the reason, in words for the user."""
        return NEEDS_LINKS if self.needs_links and not threats.link else None

    def expect_links(self, num_nodes: int, num_links: int) -> float:
        """About how many links the release of a graph of this size has: as many, unless pairs
        without a link are randomised too."""
        return float(num_links)

    @abstractmethod
    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        """A release of `graph` (= `threats.visible`); never mutates it."""

    def publish_more(self, threats: Threats, count: int, context: Context) -> list[Release]:
        """Further releases of the graph, for who holds several; each has noise of its own."""
        made = []
        for number in range(count):
            context.progress.check()
            made.append(self.publish(threats.visible, threats, context.child("held", number)))
        return made

    def build_release(
        self, graph: Graph, guarantee: Guarantee = EMPIRICAL, **parts: Any
    ) -> Release:
        """`graph` as this defense with its settings releases it; `parts` as in `Release`."""
        return Release(graph, self.info.key, self.config, guarantee, **parts)
